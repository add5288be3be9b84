/**
 * What acts changed in the workspace behind a fact of the stream, by their record: promotions, and what was
 * taken back. Only these facts are read, so the cost does not grow with the history.
 */
import type { Promotion, Rollback } from '../../contracts/index.ts'
import { type Change, displayOfRaw, textOfRaw } from '../../gate/index.ts'
import type { Fact } from '../../ledger/index.ts'
import type { GateParts } from '../lifecycle/act.ts'
import type { PromotedChange, PromotedChanges } from '../surface/attempt-surface.ts'

const PAGE = 1_000

/** Waits for what is under way in the workspace: its files are there before its fact is. */
export async function promotedBehind(
  gate: GateParts,
  behind: number,
): Promise<readonly PromotedChanges[]> {
  await gate.workspace.locked(async () => {})
  const found: PromotedChanges[] = []
  for (const type of ['promotion_v1', 'rollback_v1'] as const)
    for await (const { seq, payload } of factsBehind(gate, type, behind))
      for (const actionId of idsOf(payload)) found.push(await changesOf(gate, seq, actionId, type))
  return found.sort((one, other) => one.seq - other.seq)
}

interface FoundFact {
  readonly seq: number
  readonly payload: Promotion | Rollback
}

async function* factsBehind(
  { context: { ledger, stream } }: GateParts,
  type: string,
  behind: number,
): AsyncIterable<FoundFact> {
  for (let cursor: number | null = behind; cursor !== null; ) {
    const page = await ledger.store.find({
      ...{ stream, type, cursor, limit: PAGE },
      order: 'oldest_first',
    })
    for (const { seq, text } of page.facts) {
      // The store returns texts of facts.
      const { record } = JSON.parse(text) as Fact
      // The store judged the record by its contract before it was written.
      const payload = record.payload as Promotion | Rollback
      yield { seq, payload }
    }
    cursor = page.next
  }
}

function idsOf(payload: Promotion | Rollback): readonly string[] {
  return 'action_ids' in payload ? payload.action_ids : [payload.action_id]
}

async function changesOf(
  { questions }: GateParts,
  seq: number,
  actionId: string,
  type: 'promotion_v1' | 'rollback_v1',
): Promise<PromotedChanges> {
  const act = await questions.known(actionId)
  const runId = act?.evaluation.run?.run_id ?? null
  const isKept = act !== null && act.proposal !== null
  const isBackwards = type === 'rollback_v1'
  const changes = isKept ? act.changes.map((change) => promotedChange(change, isBackwards)) : null
  return { seq, actionId, runId, changes }
}

function promotedChange(change: Change, isBackwards: boolean): PromotedChange {
  const path = textOfRaw(change.path) ?? displayOfRaw(change.path)
  const { before, after } = change
  return { path, change: isBackwards ? { ...change, before: after, after: before } : change }
}
