/**
 * Confirm: the answer of a human goes on the record, here or in a process that never saw the run. A
 * yes that counts is Approved; it is one question more if a declared input changed meanwhile, and
 * waits on if other humans have to approve as well. Silence is recorded as soon as a command looks.
 *
 * INVARIANT (all who were asked): where a law wants several humans, nothing is promoted before each of
 *   them has signed for exactly this question.
 */
import { FaultError } from '../../base/index.ts'
import type { Confirmation } from '../../contracts/index.ts'
import {
  answerFault,
  declaredInputs,
  displayOfRaw,
  isBelow,
  lawValues,
  type PendingQuestion as Pending,
  type RawPath,
  rawOfText,
} from '../../gate/index.ts'
import { occurredAtText, principalText } from '../../ledger/index.ts'
import { endedQuestion } from '../questions/ended-question.ts'
import { realPathOf } from '../readings/host-facts.ts'
import { changedInputs } from '../readings/preconditions.ts'
import { recordWhile } from '../records/override-use.ts'
import type { Answered } from '../surface/surface.ts'
import { refusal, type StopCode } from '../workspace/stopped-promotion.ts'
import { type Asked, type Blocked, blocked, type GateParts, type Recorded } from './act.ts'
import { decideAgain, dropStage, dropStageOf, NO_BASIS } from './decide-again.ts'

const INPUTS_CHANGED = 'promote.inputs_changed'

/** All who had to approve have; the act is promoted next. */
interface Approved {
  readonly kind: 'approved'
  readonly act: Recorded
}

export type GivenAnswer = Exclude<Answered, { kind: 'wait' }>
type Yes = Extract<Answered, { kind: 'yes' }>
type OpenQuestion = Pick<Asked, 'act' | 'pending'>

export async function confirm(
  gate: GateParts,
  asked: OpenQuestion,
  answered: GivenAnswer,
): Promise<Approved | Asked | Blocked> {
  const { act, pending } = asked
  if (answered.kind === 'no') {
    const { reason, assertion } = answered
    const assurance = assertion === undefined ? 'none' : 'passkey'
    const more = { reason, assertion, assurance } as const
    await recordAnswer(gate, pending, answerTo(gate, pending, 'DENIED', more))
    dropStage(gate, act.result)
    return blocked(act)
  }
  await refuseYes(gate, asked, answered)
  await gate.workspace.requireRecovered()
  const changed = await changedMeanwhile(asked, answered.together ?? [])
  const { assurance, proof, assertion, toldFailure: told_failure, isAhead: given_ahead } = answered
  const meanwhile = { changed_meanwhile: changed.map(displayOfRaw) }
  const more = { assurance, told_failure, given_ahead, proof, assertion, ...meanwhile }
  const yes = answerTo(gate, pending, 'APPROVED', more)
  await gate.approvers.check(pending, yes)
  const again = await askedAgain(gate, asked, changed)
  if (again !== null) return again
  await recordAnswer(gate, pending, yes)
  return (await waitingForMore(gate, asked)) ?? { kind: 'approved', act }
}

/** Fails with the reason if a yes of this assurance does not count for the question any more. */
async function refuseYes(gate: GateParts, { act, pending }: OpenQuestion, { assurance }: Yes) {
  const { proposal, evaluation, result, changes } = act
  const need =
    proposal === null || result === null
      ? 'passkey'
      : gate.questions.needOf(act.actionId, { proposal, evaluation, result, changes })
  const { proposalDigest, resultDigest } = pending
  const refused = answerFault(
    (await gate.view.standing()).question(pending.actionId),
    { proposalDigest, resultDigest, assurance },
    need,
    gate.context.nowMs(),
  )
  if (refused === 'confirm.expired') await expire(gate, [pending])
  if (refused !== null) throw await endedFailure(gate, pending.actionId, refused)
}

/** What became of a question that is over, as a failure that says what to do now. */
export async function endedFailure(
  { view }: GateParts,
  actionId: string,
  code: StopCode = 'confirm.used',
): Promise<FaultError> {
  const found = await endedQuestion(view, actionId)
  return found === null ? refusal(code, actionId) : new FaultError(found)
}

/** Waiting while other humans have to approve as well; null for the last one. */
async function waitingForMore(
  gate: GateParts,
  { act, pending }: OpenQuestion,
): Promise<Asked | null> {
  const isLast = pending.approvals === undefined || (await gate.approvers.isLast(act.decision))
  if (isLast) return null
  // Another one may have been the last meanwhile, and carries it out.
  const now = (await gate.view.standing()).question(pending.actionId) ?? pending
  return { kind: 'waiting', act, pending: now, question: null }
}

/** Returns the other files of the scope that changed while the question was open (G-19d). */
async function changedMeanwhile(
  { act: { result, evaluation, changes }, pending }: OpenQuestion,
  together: readonly RawPath[],
): Promise<readonly RawPath[]> {
  if (result === null) return []
  const asked = evaluation.obstacles.filter(({ code }) => code === INPUTS_CHANGED)
  // A held act was seen by other participants in the meantime; a human is asked only now.
  const wasAsked = asked.length > 0 || evaluation.held !== undefined
  const sinceMs = Date.parse(wasAsked ? pending.askedAt : result.execution.started_at)
  const roots = evaluation.host.roots.flatMap(({ real, kind }) =>
    kind === 'directory' ? [real] : [],
  )
  // What a human approved together with this was shown with it.
  const touched = new Set([...changes.map(({ path }) => path), ...together])
  const shown = new Set(asked.map(({ path = '' }) => path))
  return changedInputs(roots, sinceMs, touched, shown)
}

/**
 * Asks once more if a declared input changed while the question was open and a law wants it. Null
 * when there is nothing to ask: other changes are recorded with the answer, and the paths of the act
 * itself are compared byte by byte before anything is promoted.
 */
async function askedAgain(
  gate: GateParts,
  { act, pending }: OpenQuestion,
  changed: readonly RawPath[],
): Promise<Asked | Blocked | null> {
  if (act.proposal === null) return null
  const inputs = declaredInputs(act.proposal).map((path) => rawOfText(realPathOf(path)))
  const isInput = (path: RawPath): boolean =>
    inputs.some((input) => path === input || isBelow(path, input))
  const obstacles = changed
    .filter(isInput)
    .map((path) => ({ code: INPUTS_CHANGED, path: displayOfRaw(path) }))
  if (obstacles.length === 0 || !asksAboutInputs(gate, act)) return null
  const again = await decideAgain(gate, act, obstacles, `inputs/${gate.context.nowMs()}`)
  const renewed = (await gate.view.standing()).question(pending.actionId)
  if (renewed === null) return blocked(again)
  return { kind: 'waiting', act: again, pending: renewed, question: null }
}

/** Whether a law is broken by such a finding that was not broken without it. */
function asksAboutInputs({ book }: GateParts, { proposal, result, evaluation }: Recorded): boolean {
  if (proposal === null || result === null) return false
  const known = new Set(evaluation.law_outcomes.map(({ policy_id }) => policy_id))
  const basis = evaluation.basis ?? NO_BASIS
  const changed = { ...result, findings: [...result.findings, { code: INPUTS_CHANGED }] }
  const changes = { promoted: [], discarded: [] }
  const values = lawValues(proposal, evaluation, basis, { result: changed, changes })
  const outcomes = book.judge('after', values, new Set())
  return outcomes.some(({ policy_id, action }) => action !== 'alert' && !known.has(policy_id))
}

type AnswerParts = Partial<
  Pick<Confirmation, 'changed_meanwhile' | 'superseded_by'> & {
    readonly assurance: Confirmation['assurance']
    readonly reason: string | undefined
    readonly told_failure: boolean | undefined
    readonly given_ahead: boolean | undefined
    readonly proof: Confirmation['proof'] | undefined
    readonly assertion: Confirmation['assertion'] | undefined
  }
>

function answerTo(
  { context }: GateParts,
  pending: Pending,
  answer: Confirmation['answer'],
  more: AnswerParts,
): Confirmation {
  const { assurance = 'none', reason, told_failure, given_ahead, proof, assertion } = more
  const { changed_meanwhile: changed = [], superseded_by } = more
  return {
    action_id: pending.actionId,
    proposal_digest: pending.proposalDigest,
    result_digest: pending.resultDigest,
    answer,
    assurance,
    level: 'seatbelt',
    asked_at: pending.askedAt,
    answered_at: occurredAtText(context.nowMs()),
    expires_at: occurredAtText(pending.expiresMs),
    ...(reason === undefined ? {} : { reason }),
    ...(told_failure === undefined ? {} : { told_failure }),
    ...(given_ahead === undefined ? {} : { given_ahead }),
    ...(proof === undefined ? {} : { proof }),
    ...(assertion === undefined ? {} : { assertion }),
    ...(changed.length === 0 ? {} : { changed_meanwhile: changed }),
    ...(superseded_by === undefined ? {} : { superseded_by }),
  }
}

/** Records an answer while its question is open; one that comes later has not answered it. */
async function recordAnswer(
  gate: GateParts,
  { actionId, askedAt, approvals }: Pending,
  payload: Confirmation,
): Promise<boolean> {
  const { principal } = gate.context.caller
  const by = payload.answer === 'APPROVED' ? principalText(principal) : 'end'
  const several = approvals === undefined ? '' : `/${askedAt}/${by}`
  const records = [{ type: 'confirmation_v1', payload, key: `confirmation/${actionId}${several}` }]
  const isRecorded = await recordWhile(
    gate.view,
    records,
    (standing) => standing.question(actionId)?.askedAt === askedAt,
  )
  if (!isRecorded && payload.answer !== 'EXPIRED') throw await endedFailure(gate, actionId)
  return isRecorded
}

/** Records that these questions got no answer in time. */
export async function expire(gate: GateParts, questions: readonly Pending[]): Promise<void> {
  for (const pending of questions) await endUnanswered(gate, pending, {})
}

export async function endUnanswered(
  gate: GateParts,
  pending: Pending,
  why: { readonly superseded_by?: string },
): Promise<void> {
  const silence = answerTo(gate, pending, 'EXPIRED', why)
  if (await recordAnswer(gate, pending, silence)) await dropStageOf(gate, pending.actionId)
}
