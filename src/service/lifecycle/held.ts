/**
 * A held act (F-13) when its promotion is asked for: read from the ledger, judged by the current laws,
 * and its bases checked again. It lives in its stage and on the ledger alone, so any process can
 * continue with it.
 */
import { faultError } from '../../base/index.ts'
import type { Confirmation } from '../../contracts/index.ts'
import { type Change, isComplete, type StandingFold } from '../../gate/index.ts'
import { isHalted } from '../readings/halt.ts'
import { refusal, StageVoid } from '../workspace/stopped-promotion.ts'
import { blocked, type GateParts, type Outcome, type Recorded, recordedAct } from './act.ts'
import { expire } from './confirm.ts'
import { end, underPresentLaws } from './decide-again.ts'

/** Decided, and open: nothing was promoted, denied or dropped yet. */
interface Held {
  readonly kind: 'held'
  readonly act: Recorded
  /** It needs no question, or all who had to approve have. */
  readonly isApproved: boolean
}

/**
 * Returns the held act, or its outcome if it has ended. Fails and keeps the stage while a temporary
 * obstacle lasts: a halt, laws that no human has accepted, a base that is not promoted yet.
 */
export async function heldAct(gate: GateParts, actionId: string): Promise<Held | Outcome> {
  const { act, discarded } = await readHeld(gate, actionId)
  const standing = await gate.view.standing()
  const over = await outcomeOf(gate, act, standing)
  if (over !== null) return over
  refuseNow(gate, standing)
  const current = await underPresentLaws(gate, act, discarded)
  const { evaluation, decision } = current
  if (decision.decision === 'BLOCK') return blocked(current)
  const { state, base } = standing.footing(evaluation.held?.bases ?? [])
  if (state === 'waiting') throw new StageVoid(state, base)
  if (state === 'void') return end(gate, current, new StageVoid(state, base))
  const isApproved = decision.decision === 'PROMOTE' || (await isAnswered(gate, current))
  return { kind: 'held', act: current, isApproved }
}

/** Everything about a held act, from the ledger. */
export async function readHeld(
  { questions }: GateParts,
  actionId: string,
): Promise<{ readonly act: Recorded; readonly discarded: readonly Change[] }> {
  const record = await questions.record(actionId)
  if (record === null || record.evaluation.held === undefined) {
    throw faultError('attempt.unknown', actionId)
  }
  return { act: recordedAct(actionId, record), discarded: record.discarded }
}

/** The outcome when all is over: promoted, blocked, or a human said no. */
async function outcomeOf(
  gate: GateParts,
  act: Recorded,
  standing: StandingFold,
): Promise<Outcome | null> {
  const { actionId, changes, decision } = act
  const promotion = standing.promotion(actionId)?.promotion
  if (promotion !== undefined) return { kind: 'promoted', act, promotion, changes, requests: [] }
  if (decision.decision === 'BLOCK') return blocked(act)
  const pending = standing.question(actionId)
  const isOver = pending !== null && gate.context.nowMs() >= pending.expiresMs
  if (isOver) await expire(gate, [pending])
  const answer = await answerOn(gate, actionId)
  return answer === null || answer === 'APPROVED' ? null : blocked(act)
}

/** Whether one human said yes, or all who have to. */
async function isAnswered(gate: GateParts, { actionId, decision }: Recorded): Promise<boolean> {
  const approvals = await gate.approvers.count(decision)
  if (approvals !== null) return isComplete(approvals)
  return (await answerOn(gate, actionId)) !== null
}

async function answerOn(
  { view }: GateParts,
  actionId: string,
): Promise<Confirmation['answer'] | null> {
  const found = await view.factOf('confirmation_v1', actionId)
  // A fact is of its contract.
  return found === null ? null : (found.payload as Confirmation).answer
}

/** Nothing is promoted now; what is held stays. */
function refuseNow({ context, book }: GateParts, { halted, laws }: StandingFold): void {
  if (halted || isHalted(context.home.state)) throw refusal('halted', '')
  if (book.isLost || !book.isOf(laws)) throw refusal('laws.changed', '')
}
