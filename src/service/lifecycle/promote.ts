/**
 * Promote: the staged bytes are put in place, held requests are sent, and both become a fact, once.
 * Under the workspace's lock everything that could have changed since the decision is asked once more.
 * What stops it is a decision of its own: BLOCK, and it takes a new proposal.
 *
 * What happens to files, with its journal, is in `promotion/`; what is recorded of it in `Workspace`.
 */
import type { Fault } from '../../base/index.ts'
import type { Decision, Promotion, Proposal } from '../../contracts/index.ts'
import { heldRequests, type StandingFold } from '../../gate/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { isHalted } from '../readings/halt.ts'
import { probePreconditions } from '../readings/preconditions.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { BodyPurge } from '../upkeep/body-purge.ts'
import { actOf, keepHouse, undoRetention } from '../upkeep/surplus.ts'
import { refuseSecondCompensation } from '../workspace/outgoing-requests.ts'
import {
  isAnswer,
  isPassing,
  isUnavailable,
  refusal,
  StageVoid,
} from '../workspace/stopped-promotion.ts'
import { isEmpty, type PromotionOrder } from '../workspace/workspace.ts'
import { blocked, type GateParts, type Outcome, type Recorded } from './act.ts'
import { sentRequests } from './answer.ts'
import { end, orLeave } from './decide-again.ts'

const MINUTE_MS = 60_000

interface PromotionTerms {
  /** The process that was to promote it is gone, and another one may have found it as well. */
  readonly isLate?: boolean
}

export function promote(
  gate: GateParts,
  act: Recorded,
  terms: PromotionTerms = {},
): Promise<Outcome> {
  return orLeave(gate, act.result?.sandbox_id, () => promoteOnce(gate, act, terms))
}

async function promoteOnce(
  gate: GateParts,
  act: Recorded,
  terms: PromotionTerms,
): Promise<Outcome> {
  const { proposal, result, changes, actionId } = act
  if (proposal === null || result === null) return blocked(act)
  await gate.approvers.require(act.decision)
  try {
    const order: PromotionOrder = {
      actionId,
      takenBack: await timesTakenBack(gate, act),
      proposalDigest: act.proposalDigest,
      resultDigest: act.decision.result_digest ?? '',
      result,
      changes,
      roots: act.evaluation.host.roots.filter(({ kind }) => kind === 'directory'),
      ...requestsOf(proposal),
    }
    const promotion = await carryOut(gate, { act, proposal, order }, terms)
    await tidyUp(gate)
    const requests = await sentRequests(gate.view, actionId)
    return { kind: 'promoted', act, promotion, changes, requests }
  } catch (error) {
    return notPromoted(gate, act, error, terms)
  }
}

interface Ordered {
  readonly act: Recorded
  readonly proposal: Proposal
  readonly order: PromotionOrder
}

async function carryOut(
  gate: GateParts,
  { act, proposal, order }: Ordered,
  { isLate = false }: PromotionTerms,
): Promise<Promotion> {
  const { workspace } = gate
  if (isEmpty(order)) return workspace.recordEmpty(order)
  const stage = workspace.stageOf(order)
  const promotion = await workspace.locked(async (lock, standing) => {
    await refuseNow(gate, { act, proposal, standing }, isLate)
    return workspace.apply(order, stage, lock)
  })
  if (stage !== null) removeTreeSync(stage.stage)
  return promotion
}

/** An act under the lock, with what the facts said after the lock was taken. */
interface Locked {
  readonly act: Recorded
  readonly proposal: Proposal
  readonly standing: StandingFold
}

/** Under the lock: fails with what speaks against the promotion now, right before anything changes. */
async function refuseNow(
  gate: GateParts,
  { act, proposal, standing }: Locked,
  isLate: boolean,
): Promise<void> {
  // A halt of another machine is a fact alone.
  if (isHalted(gate.context.home.state) || standing.halted) throw refusal('halted', '')
  // Its own failure code, and nothing about which one (G-9).
  if (probePreconditions(proposal).length > 0) throw refusal('precondition.failed', '')
  await checkOpen(gate, { act, standing }, isLate)
  refuseSecondCompensation(standing, act)
  checkFooting(standing, act)
}

/** Another process may have carried the same yes out, or ended it. */
async function checkOpen(
  { view }: GateParts,
  { act, standing }: Omit<Locked, 'proposal'>,
  isLate: boolean,
): Promise<void> {
  const { actionId, decision, evaluation } = act
  if (evaluation.held !== undefined || (decision.decision !== 'CONFIRM' && !isLate)) return
  if (decision.decision === 'PROMOTE') {
    if (standing.promotion(actionId) === null && (await isLast(view, decision))) return
    throw refusal('confirm.used', actionId)
  }
  const isOpen = standing.approved().some((one) => one.actionId === actionId)
  if (!isOpen) throw refusal('confirm.used', actionId)
}

/** Whether nothing was decided about the act since. */
async function isLast(view: LedgerView, { action_id, decided_at }: Decision): Promise<boolean> {
  const last = await view.factOf('decision_v1', action_id)
  // A fact is of its contract.
  return (last?.payload as Decision | undefined)?.decided_at === decided_at
}

/** Fails if a held act has ended or its bases are not promoted. The caller's lock keeps it so. */
function checkFooting(standing: StandingFold, { actionId, evaluation: { held } }: Recorded): void {
  if (held === undefined) return
  // Another process was faster; what it did is the answer.
  if (standing.heldMark(actionId) === null) throw refusal('confirm.used', actionId)
  const { state, base } = standing.footing(held.bases)
  if (state !== 'sound') throw new StageVoid(state, base)
}

/** How often recovery took the promotion of a held act back; others are promoted once. */
async function timesTakenBack({ view }: GateParts, act: Recorded): Promise<number> {
  const isHeld = act.evaluation.held !== undefined
  return isHeld ? view.countOf('promotion_v1', act.actionId) : 0
}

/** Removes what is no longer needed, after a promotion. */
async function tidyUp({ context, view, book }: GateParts): Promise<void> {
  const { confirmationMinutes, questionMinutes, retention } = book.settings
  const kept = undoRetention(retention)
  const minutesMs = Math.max(confirmationMinutes, questionMinutes) * MINUTE_MS
  await keepHouse(context, actOf(await view.standing()), minutesMs, kept, context.nowMs())
  await new BodyPurge(context, view).keepTime(book.settings)
}

/** The caller hears that nothing was promoted, so the act ends: no later command carries it out. */
async function notPromoted(
  gate: GateParts,
  act: Recorded,
  error: unknown,
  { isLate = false }: PromotionTerms,
): Promise<Outcome> {
  // A FaultError has `fault`; it is undefined on any other error.
  const { fault: stopped } = error as { readonly fault?: Fault }
  if (!(error instanceof Error) || stopped === undefined) throw error
  const { actionId, changes, evaluation } = act
  const promotion = (await gate.view.standing()).promotion(actionId)?.promotion
  if (promotion !== undefined) return { kind: 'promoted', act, promotion, changes, requests: [] }
  if (!isAnswer(stopped)) throw error
  // Its own process died and refused nothing: the yes stays open.
  if (isLate && isUnavailable(stopped)) throw error
  if (evaluation.held !== undefined && isPassing(error, stopped)) throw error
  return end(gate, act, { fault: stopped })
}

/** Returns the requests that are sent once the files are in place. */
function requestsOf(proposal: Proposal): Pick<PromotionOrder, 'requests'> {
  const { length } = heldRequests(proposal)
  return length === 0 ? {} : { requests: { count: length, proposal } }
}
