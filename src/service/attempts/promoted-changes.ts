/**
 * What acts changed in the workspace behind a fact of the stream, by their record: promotions, and what was
 * taken back. Only these facts are read, so the cost does not grow with the history.
 */
import type { Promotion, Rollback } from '../../contracts/index.ts'
import type { Change } from '../../gate/index.ts'
import type { Fact } from '../../ledger/index.ts'
import type { GateParts } from '../lifecycle/act.ts'
import type { PromotedChanges } from '../surface/attempt-surface.ts'

const PAGE = 1_000

/** Waits for what is under way in the workspace: its files are there before its fact is. */
export async function promotedBehind(
  gate: GateParts,
  behind: number,
): Promise<readonly PromotedChanges[]> {
  await gate.workspace.exclusively(async () => {})
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
      const { record } = JSON.parse(text) as Fact
      // The ledger has checked the payload against the contract of its type; neither is ever long.
      yield { seq, payload: record.payload as Promotion | Rollback }
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
  const changes = isKept ? act.changes.map(type === 'rollback_v1' ? backwards : asItIs) : null
  return { seq, actionId, runId, changes }
}

function asItIs(change: Change): Change {
  return change
}

function backwards(change: Change): Change {
  return { ...change, before: change.after, after: change.before }
}
