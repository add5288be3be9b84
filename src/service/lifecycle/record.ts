/**
 * Record: result, evaluation and decision go on the ledger as one commit, when the bytes that they are
 * about are durable. Where nothing is left to be done, the promotion is a fact of the same commit.
 *
 * INVARIANT (one decision): of processes that rehearse one act, the decision that is recorded first
 *   counts; the others fail, and promote nothing.
 */
import { faultError, showName } from '../../base/index.ts'
import type { Decision, Promotion } from '../../contracts/index.ts'
import { obstacleOf } from '../readings/readings.ts'
import { KeptBodies } from '../records/kept-bodies.ts'
import type { GateRecord } from '../records/ledger-view.ts'
import { recordUse, usesOverride } from '../records/override-use.ts'
import { nothingPromoted } from '../records/promotion-fact.ts'
import { keyOf, NO_ID, proposalRecord } from '../records/proposal-record.ts'
import {
  type Compared,
  type Decided,
  type GateParts,
  type Recorded,
  type Staged,
  withObstacles,
} from './act.ts'
import { lawOutcomes } from './decide.ts'
import { dropStage } from './decide-again.ts'
import { refreshDraft } from './draft.ts'
import { StagingFailure } from './stage.ts'

/** A decision that does not hold any more; what is known now takes its place. */
interface Overtaken {
  readonly kind: 'overtaken'
  readonly compared: Compared
  /** The bytes that are staged already. */
  readonly bytes: Staged['bytes']
}

/** Records nothing and returns what to decide again when the decision was overtaken. */
export async function record(
  gate: GateParts,
  staged: Staged,
): Promise<{ readonly kind: 'recorded'; readonly act: Recorded } | Overtaken> {
  const { compared, ...act } = staged.decided
  if (compared.terms.dryRun || act.actionId === NO_ID) {
    return { kind: 'recorded', act: { ...act, promotion: null } }
  }
  const bodies = compared.seen?.bodies ?? new KeptBodies(gate.context.ledger.objects, false)
  bodies.laws(gate.book)
  await bodies.settled()
  const { records, promotion } = recordsOf(staged.decided, gate.context.nowMs)
  try {
    const isRecorded = await append(gate, staged, records)
    if (isRecorded) return { kind: 'recorded', act: { ...act, promotion } }
    const now = await refreshed(gate, compared)
    return { kind: 'overtaken', compared: now, bytes: staged.bytes }
  } catch (error) {
    if (!(error instanceof StagingFailure)) throw error
    // The bytes that an approval is about: a failure to keep them is a reason to refuse.
    const refused = withObstacles(compared, [obstacleOf(error.cause)])
    return { kind: 'overtaken', compared: refused, bytes: Promise.resolve() }
  } finally {
    await staged.bytes?.catch(() => undefined)
  }
}

function recordsOf(
  { evaluation, proposal, decision, result, changes, actionId }: Decided,
  nowMs: () => number,
): { readonly records: readonly GateRecord[]; readonly promotion: Promotion | null } {
  const key = keyOf(evaluation)
  const records: GateRecord[] = []
  // A refused proposal that follows its contract is on the record too.
  if (proposal !== null && result === null) records.push(proposalRecord(evaluation, proposal))
  if (result !== null) {
    records.push({ type: 'sandbox_result_v1', payload: result, key: `result/${key}` })
  }
  records.push({ type: 'evaluation_v1', payload: evaluation, key: `evaluation/${key}` })
  records.push({ type: 'decision_v1', payload: decision, key: `decision/${key}` })
  const isOver = evaluation.held === undefined && decision.decision === 'PROMOTE'
  if (result === null || !isOver || changes.length > 0) return { records, promotion: null }
  const promotion = nothingPromoted(decision, result, nowMs())
  records.push({ type: 'promotion_v1', payload: promotion, key: `promotion/${actionId}` })
  return { records, promotion }
}

/** False when an override that the act rests on was used up meanwhile; nothing is recorded then. */
async function append(
  gate: GateParts,
  { decided, bytes }: Staged,
  records: readonly GateRecord[],
): Promise<boolean> {
  const { view } = gate
  const { evaluation, decision, compared } = decided
  if (decision.decision !== 'BLOCK' && usesOverride(evaluation)) {
    await bytes
    const isUsed = await recordUse(view, records, evaluation)
    if (isUsed) await refuseSecond(gate, decided)
    return isUsed
  }
  // A job may be rehearsed twice, and its promotion has a key of its own.
  const isAlone = compared.terms.job !== undefined && records.at(-1)?.type === 'promotion_v1'
  if (isAlone) await bytes
  const isNew = isAlone
    ? await view.recordUnless(`decision/${keyOf(evaluation)}`, records)
    : await view.recordAfter(bytes ?? Promise.resolve(), records)
  if (!isNew) await refuseSecond(gate, decided)
  return true
}

/** The store tells of a repeated key also when it appended these very records and tried again. */
async function refuseSecond(gate: GateParts, { evaluation, decision, result }: Decided) {
  const fact = await gate.view.factAt(`decision/${keyOf(evaluation)}`)
  // A fact is of its contract.
  const { decided_at, result_digest } = (fact?.payload ?? decision) as Decision
  if (decided_at === decision.decided_at && result_digest === decision.result_digest) return
  dropStage(gate, result)
  const id = evaluation.action_id
  const message = `another process has decided the action ${showName(id)} meanwhile, and its decision counts`
  throw faultError('descriptor.action_id_reused', id, message, `writ show ${id}`)
}

/** The same with what holds now, and with what the laws that need no result say of it. */
async function refreshed(gate: GateParts, compared: Compared): Promise<Compared> {
  const { evaluation: old, proposal } = compared
  const evaluation = await gate.view.ask((standing) => refreshDraft(old, gate, standing))
  if (proposal === null) return { ...compared, evaluation }
  const law_outcomes = lawOutcomes(gate, 'before', evaluation, { proposal, seen: null })
  return { ...compared, evaluation: { ...evaluation, law_outcomes } }
}
