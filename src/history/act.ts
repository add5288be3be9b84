/**
 * One act as its facts tell it: what was wanted, what happened, what was decided, what became of it.
 *
 * The acts of a stream, newest first, each gathered from its facts.
 */
import { dirname } from 'node:path'
import type {
  Confirmation,
  Decision,
  Evaluation,
  Promotion,
  Proposal,
  RequestFact,
  Rollback,
  SandboxResult,
} from '../contracts/index.ts'
import type { Home } from '../home/index.ts'
import type { OpenedFact, Query } from '../ledger/index.ts'
import { openJournals, withWorkspaceLock } from '../promotion/index.ts'
import type { LedgerReader } from '../store/index.ts'
import { allFacts, eachFact, openFact } from './facts.ts'

export type ActStatus =
  | 'promoted'
  | 'no effects'
  | 'waiting'
  | 'denied'
  | 'expired'
  | 'superseded'
  | 'blocked'
  /** The command failed and changed nothing, so there was nothing to decide about. */
  | 'failed'
  | 'undone'
  | 'put back'
  | 'approved'
  | 'held'
  /** Decided to be promoted, and not promoted yet: under way, or interrupted. */
  | 'unfinished'
  /** Its files were being put in place when its process ended: the tree may be half changed. */
  | 'interrupted'
  | 'unknown'

/** A record with who wrote it and when; null where there is none, or its payload is no longer kept. */
export interface HistoryRecord<Payload> {
  readonly payload: Payload
  readonly by: OpenedFact['principal']
  readonly at: string
}

export interface ActHistory {
  readonly id: string
  readonly at: string
  readonly by: OpenedFact['principal']
  readonly proposal: HistoryRecord<Proposal> | null
  readonly result: HistoryRecord<SandboxResult> | null
  readonly evaluation: HistoryRecord<Evaluation> | null
  readonly decision: HistoryRecord<Decision> | null
  readonly answers: readonly HistoryRecord<Confirmation>[]
  readonly promotion: HistoryRecord<Promotion> | null
  /** What became of held requests, fact by fact. */
  readonly requests: readonly HistoryRecord<RequestFact>[]
  readonly rollback: HistoryRecord<Rollback> | null
  readonly outcome: ActStatus
}

/** How many acts are listed without `--limit`. */
export const ACTS = 30
const PAGE = 200

/** From the facts about one action, in their order; null when there are none. */
function actOf(id: string, about: readonly OpenedFact[]): ActHistory | null {
  const facts = ofFirstUse(about)
  const [first] = facts
  if (first === undefined) return null
  const parts = {
    proposal: last<Proposal>(facts, 'proposal_v1'),
    result: last<SandboxResult>(facts, 'sandbox_result_v1'),
    evaluation: last<Evaluation>(facts, 'evaluation_v1'),
    decision: last<Decision>(facts, 'decision_v1'),
    answers: all<Confirmation>(facts, 'confirmation_v1'),
    promotion: last<Promotion>(facts, 'promotion_v1'),
    requests: all<RequestFact>(facts, 'request_v1'),
    rollback: last<Rollback>(facts, 'rollback_v1'),
  }
  return { id, at: first.occurred_at, by: first.principal, ...parts, outcome: outcomeOf(parts) }
}

/** Without the proposals that were refused because an earlier one has the id: they are not this act. */
function ofFirstUse(facts: readonly OpenedFact[]): readonly OpenedFact[] {
  const keyOfUse = ({ record }: OpenedFact): string =>
    record.idempotency_key?.replace(/^\w+\//, '') ?? ''
  const isRefused = ({ record, payload }: OpenedFact): boolean =>
    record.type === 'decision_v1' &&
    // The store judged the record by its contract; only one that is gone is null.
    (payload as Decision | null)?.codes.includes('descriptor.action_id_reused') === true
  const refused = new Set(facts.filter(isRefused).map(keyOfUse))
  const first = facts.filter((fact) => !refused.has(keyOfUse(fact)))
  return first.length === 0 ? facts : first
}

function all<Payload>(
  facts: readonly OpenedFact[],
  type: string,
): readonly HistoryRecord<Payload>[] {
  return facts
    .filter(({ record, payload }) => record.type === type && payload !== null)
    .map(({ payload, principal, occurred_at }) => ({
      // The store judged the record by its contract before it was written.
      payload: payload as Payload,
      by: principal,
      at: occurred_at,
    }))
}

function last<Payload>(facts: readonly OpenedFact[], type: string): HistoryRecord<Payload> | null {
  return all<Payload>(facts, type).at(-1) ?? null
}

type Told = Pick<
  ActHistory,
  'result' | 'evaluation' | 'decision' | 'answers' | 'promotion' | 'rollback' | 'requests'
>

function outcomeOf(parts: Told): ActStatus {
  const { evaluation, decision, answers, promotion, rollback, requests } = parts
  const isUndone = rollback !== null && promotion !== null && rollback.at >= promotion.at
  if (isUndone) return 'undone'
  if (promotion?.payload.status === 'APPLIED') {
    const hasEffects = promotion.payload.paths > 0 || requests.length > 0
    return hasEffects ? 'promoted' : 'no effects'
  }
  if (promotion?.payload.status === 'REVERTED') return 'put back'
  if (decision?.payload.decision === 'BLOCK') return hasOnlyFailed(parts) ? 'failed' : 'blocked'
  const { answer, superseded_by } = answers.at(-1)?.payload ?? {}
  if (answer === 'DENIED') return 'denied'
  if (superseded_by !== undefined) return 'superseded'
  if (answer === 'EXPIRED') return 'expired'
  if (decision?.payload.decision === 'CONFIRM') {
    // Where a law wants several humans, the act waits until all of them have answered.
    const isAnswered = answers.length >= (decision.payload.approvals ?? 1)
    return isAnswered ? 'approved' : 'waiting'
  }
  if (decision === null) return 'unknown'
  return evaluation?.payload.held === undefined ? 'unfinished' : 'held'
}

function hasOnlyFailed({ result, decision }: Told): boolean {
  const { added = 0, modified = 0, deleted = 0 } = result?.payload.diff.counts ?? {}
  return decision?.payload.code === 'result.failed' && added + modified + deleted === 0
}

/** At most so many; the newest ones that the query names by time and principal. */
export async function actsOf(
  ledger: LedgerReader,
  { stream, since, until, principal }: Query,
  limit: number = ACTS,
): Promise<readonly ActHistory[]> {
  const named = Object.fromEntries(
    Object.entries({ since, until, principal }).filter(([, value]) => value !== undefined),
  )
  const ids: string[] = []
  for (let cursor: number | null | undefined; cursor !== null && ids.length < limit; ) {
    const query = { ...named, stream, type: 'decision_v1', limit: PAGE, order: 'newest_first' }
    // The order is one of the two words that a query knows.
    const asked = (cursor === undefined ? query : { ...query, cursor }) as Query
    const page = await ledger.store.find(asked)
    for (const { text } of page.facts) {
      const { payload } = await openFact(ledger, text)
      // The query finds decisions only; the payload of one that is gone is null.
      const id = (payload as Decision | null)?.action_id
      if (id !== undefined && !ids.includes(id) && ids.length < limit) ids.push(id)
    }
    cursor = page.next
  }
  const rollbacks = await rollbacksOf(ledger, stream)
  const acts: ActHistory[] = []
  for (const id of ids) {
    const act = await readAct(ledger, stream, id, rollbacks)
    if (act !== null) acts.push(act)
  }
  return acts
}

/** A rollback names several acts, so it is not found by one of them. */
export async function rollbacksOf(
  ledger: LedgerReader,
  stream: string,
): Promise<ReadonlyMap<string, OpenedFact>> {
  const found = new Map<string, OpenedFact>()
  for await (const fact of eachFact(ledger, { stream, type: 'rollback_v1' })) {
    // The store judged the record by its contract; only one that is gone is null.
    const payload = fact.payload as Rollback | null
    for (const id of payload?.action_ids ?? []) found.set(id.toLowerCase(), fact)
  }
  return found
}

export async function readAct(
  ledger: LedgerReader,
  stream: string,
  id: string,
  rollbacks: ReadonlyMap<string, OpenedFact>,
): Promise<ActHistory | null> {
  const facts = await allFacts(ledger, { stream, action: id })
  const rollback = rollbacks.get(id.toLowerCase())
  return actOf(id, rollback === undefined ? facts : [...facts, rollback])
}

/**
 * Promotions and rollbacks whose process ended while files were being put in place. Their journal is
 * open and no process holds the workspace: the tree may be half changed until `writ recover`.
 * Returns the ids of what was interrupted; none while another process is at work. Changes nothing.
 */
export async function halfDone({ state, directory }: Home): Promise<ReadonlySet<string>> {
  const ids = (): ReadonlySet<string> => new Set(openJournals(state).map(({ id }) => id))
  if (ids().size === 0) return new Set()
  try {
    return await withWorkspaceLock(dirname(directory), { waitMs: 0 }, async () => ids())
  } catch {
    // The lock is taken, or the workspace is gone: nothing is known to be interrupted.
    return new Set()
  }
}

/** Returns the act as `interrupted` if its promotion is half done. */
export function markHalfDone(act: ActHistory, ids: ReadonlySet<string>): ActHistory {
  return ids.has(act.id.toLowerCase()) ? { ...act, outcome: 'interrupted' } : act
}

export const HALF_DONE =
  'a promotion or an undo was interrupted, so files may be half changed: `writ recover` ends it'
