/**
 * Facts as readers see them: with their payload, also when it is kept by reference. A body that is no
 * longer kept leaves the fact as it was written.
 *
 * `findTask` has the facts about one task, and `treeErrors` says whether the tree of its stream holds them.
 */
import { faultCode, faultError, isDigest } from '../base/index.ts'
import {
  assemble,
  type Fact,
  factLeaf,
  type IntegrityError,
  nodesOf,
  type OpenedFact,
  planInclusion,
  type Query,
  verifyInclusion,
} from '../ledger/index.ts'
import type { LedgerReader } from '../store/index.ts'

export async function openFact(ledger: LedgerReader, text: string): Promise<OpenedFact> {
  const fact = factOf(text)
  const { payload, payload_ref: ref } = fact.record
  if (payload !== undefined || ref === undefined || !isDigest(ref)) {
    return { ...fact, payload: payload ?? null }
  }
  const bytes = await readBody(ledger, ref)
  return { ...fact, payload: bytes === null ? null : JSON.parse(Buffer.from(bytes).toString()) }
}

/** The store returns the canonical text of a fact, unless the text was changed or damaged. */
function factOf(text: string): Fact {
  try {
    return JSON.parse(text) as Fact // Written as a fact; verification judges its form.
  } catch {
    const message = 'a stored fact is not JSON: it was changed or damaged'
    throw faultError('ledger.tampered', '', message, 'writ ledger verify')
  }
}

/** Null when the body is not kept any more. One that was altered is a failure. */
export async function readBody(ledger: LedgerReader, digest: string): Promise<Uint8Array | null> {
  if (!isDigest(digest)) return null
  try {
    return await ledger.objects.get(digest)
  } catch (error) {
    if (faultCode(error) === 'body.missing') return null
    throw error
  }
}

/** The fact as it is printed. */
export function shownFact({ payload, ...fact }: OpenedFact): Fact {
  if (payload === null || fact.record.payload !== undefined) return fact
  return { ...fact, record: { ...fact.record, payload } }
}

const PAGE = 500

/** All facts of a query behind one, page by page. */
export async function* eachFact(
  ledger: LedgerReader,
  query: Omit<Query, 'limit' | 'order' | 'cursor'>,
  behind = -1,
): AsyncIterable<OpenedFact> {
  let cursor: number | null = behind
  while (cursor !== null) {
    const page = await ledger.store.find({ ...query, cursor, limit: PAGE, order: 'oldest_first' })
    for (const { text } of page.facts) yield openFact(ledger, text)
    cursor = page.next
  }
}

export async function allFacts(
  ledger: LedgerReader,
  query: Omit<Query, 'limit' | 'order' | 'cursor'>,
): Promise<readonly OpenedFact[]> {
  const facts: OpenedFact[] = []
  for await (const fact of eachFact(ledger, query)) facts.push(fact)
  return facts
}

/** The first fact about a task is the task itself; receipts, of which there may be many, come later. */
export async function findTask(
  ledger: LedgerReader,
  stream: string,
  task: string,
): Promise<OpenedFact | null> {
  const query = { stream, task, limit: 1, order: 'oldest_first' } as const
  const [first] = (await ledger.store.find(query)).facts
  if (first === undefined) return null
  const fact = await openFact(ledger, first.text)
  if (fact.record.type === TASK) return fact
  const [found] = await allFacts(ledger, { stream, type: TASK, task })
  return found ?? null
}

const TASK = 'ao_act_task_v0'

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
