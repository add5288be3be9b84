/** The facts about one task, and whether the tree of its stream holds them. */

import {
  assemble,
  factLeaf,
  type IntegrityError,
  nodesOf,
  type OpenedFact,
  planInclusion,
  verifyInclusion,
} from '../../ledger/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import { allFacts } from './facts.ts'

export async function findTask(
  ledger: LedgerReader,
  stream: string,
  task: string,
): Promise<OpenedFact | null> {
  const [found] = await allFacts(ledger, { stream, type: 'ao_act_task_v0', task })
  return found ?? null
}

/** An error for each fact that the newest checkpoint of its stream does not cover. */
export async function treeErrors(
  ledger: LedgerReader,
  stream: string,
  facts: readonly OpenedFact[],
): Promise<readonly IntegrityError[]> {
  const head = await ledger.store.head(stream)
  const errors: IntegrityError[] = []
  for (const { seq } of facts) {
    const [stored] = await ledger.store.read(stream, seq, 1)
    if (stored?.seq === seq && head !== null && seq < head.size) {
      const plan = planInclusion(seq, head.size)
      const path = assemble(plan, await ledger.store.nodes(stream, nodesOf(plan)))
      const leaf = factLeaf(stored.text)
      const { size, root } = head
      if (verifyInclusion({ index: seq, size, leaf, path, root })) continue
    }
    const message = 'the tree of the newest checkpoint does not hold this fact'
    errors.push({ code: 'ledger.tampered', seq, message })
  }
  return errors
}
