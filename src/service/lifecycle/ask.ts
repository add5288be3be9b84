/**
 * Ask: opens the question of an act that a human has to answer, and returns it as `Asked`. Everything
 * that the question is about is durable, so it can be answered here, or from any process later.
 */
import { principalText } from '../../ledger/index.ts'
import type { Answered, Confirm } from '../surface/surface.ts'
import { earlierCompensation } from '../workspace/outgoing-requests.ts'
import { type Asked, type Blocked, blocked, type GateParts, type Recorded } from './act.ts'
import { endUnanswered } from './confirm.ts'
import { markAsked } from './decide-again.ts'
import { withPart } from './part.ts'

export async function ask(gate: GateParts, act: Recorded): Promise<Asked | Blocked> {
  const isHeld = act.evaluation.held !== undefined
  const asked = isHeld ? await askedHeld(gate, act) : act
  const pending = (await gate.view.standing()).question(act.actionId)
  const { questions } = gate
  if (!isHeld) questions.askHere(act.actionId)
  if (act.manifest !== undefined) questions.remember(act.manifest)
  const question = pending === null ? null : await questions.open(pending)
  questions.forget()
  if (pending === null || question === null) return blocked(asked)
  const whole = { act: asked, pending }
  const waiting: Asked = { kind: 'waiting', ...whole, question: withPart(gate, whole, question) }
  return isHeld ? waiting : asNewest(gate, waiting)
}

/** The question of a held act is opened when its promotion is asked for, and expires from then on. */
async function askedHeld(gate: GateParts, act: Recorded): Promise<Recorded> {
  const standing = await gate.view.standing()
  return standing.question(act.actionId) === null ? markAsked(gate, act) : act
}

/** Ends older questions of the same actor about the same intent, or this one if it undoes a second time. */
async function asNewest(gate: GateParts, waiting: Asked): Promise<Asked | Blocked> {
  const { act, pending } = waiting
  const { compensates, host } = act.evaluation
  if (compensates === undefined) {
    const standing = await gate.view.standing()
    for (const older of standing.olderAlike(act.actionId, host.now_ms)) {
      await endUnanswered(gate, older, { superseded_by: act.actionId })
    }
    return waiting
  }
  const first = earlierCompensation(await gate.view.standing(), act)
  if (first === null) return waiting
  await endUnanswered(gate, pending, { superseded_by: first })
  return { ...blocked(act), supersededBy: first }
}

/** Returns the answer that is given here and now; `wait` when it comes later, or from other humans. */
export async function answerHere(
  { context }: GateParts,
  { question }: Asked,
  confirm: Confirm,
): Promise<Answered> {
  const by = principalText(context.caller.principal)
  const isGiven = question?.approvals?.given.some((one) => one.by === by) === true
  return question === null || isGiven ? { kind: 'wait' } : confirm(question)
}
