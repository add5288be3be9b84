/**
 * What happens to an action: admit, rehearse, compare, decide, stage, record, ask, confirm, promote. An act
 * goes this way: `exec`, `propose`, compensations (`act`), attempts of flows (`judge`, then
 * `proceedHeld`), what a coding agent changed in its session (`settle`), answers from another process
 * (`answer`), and acts whose process died (`resume`).
 *
 * Each step is one file of this folder and returns the value that the next step takes (`act.ts`). No
 * step calls an earlier one. An obstacle is part of that value: the steps after it run, copy and change
 * nothing, and `decide` answers BLOCK. So a refused act is on the record like any other.
 *
 * INVARIANT (recorded before run): a proposal is on the ledger before anything of it runs (`rehearse`).
 * INVARIANT (durable before asked): before a person is asked or anything is promoted, the rehearsed
 *   bytes are staged and synced, and result, evaluation and decision are facts (`stage`, `record`).
 * INVARIANT (approval is of effects, I4): an answer counts for the digests that its question names,
 *   while the question is open (`confirm`).
 * INVARIANT (journalled first): the intent of a promotion is durable before its first change, so that
 *   a crash leaves the old tree, the new one, or a journal that recovery finishes (`promote`).
 * INVARIANT (one act, one promotion, I3): only `promote` changes the tree, with staged bytes, after a
 *   decision that is a fact, and once: the fact of a promotion ends its question.
 */
import { type Fault, FaultError, fault, faultError } from '../../base/index.ts'
import { isHalted } from '../readings/halt.ts'
import { refuseElsewhere } from '../stage/elsewhere.ts'
import type { Confirm } from '../surface/surface.ts'
import { isUnavailable } from '../workspace/stopped-promotion.ts'
import {
  type Asked,
  blocked,
  type Decided,
  type GateParts,
  type Outcome,
  promotedNothing,
  type RanInSession,
  type Recorded,
  type Rehearsed,
  type Staged,
  type Terms,
} from './act.ts'
import { admit, admitSession, recordProposal } from './admit.ts'
import { answerHere, ask } from './ask.ts'
import { compare, compareScope } from './compare.ts'
import { confirm, type GivenAnswer } from './confirm.ts'
import { decide, refusesHome } from './decide.ts'
import { end, endInterrupted, orLeave } from './decide-again.ts'
import { heldAct } from './held.ts'
import { takePart } from './part.ts'
import { promote } from './promote.ts'
import { record } from './record.ts'
import { endRehearsal, rehearse, whileReleased } from './rehearse.ts'
import { stage } from './stage.ts'

interface AskOptions {
  readonly confirm: Confirm
}

/** Takes a document the whole way, or as far as it goes without an answer. */
export async function act(
  gate: GateParts,
  document: unknown,
  terms: Terms & AskOptions,
): Promise<Outcome> {
  const admitted = await admit(gate, document, terms)
  // Holds the release that a person gave for this run, if one did, until the decision is recorded.
  const recorded = await whileReleased(gate, admitted, async () => {
    const rehearsed = await rehearse(gate, admitted)
    if (terms.job !== undefined && terms.abort.aborted) throw givenBack(rehearsed)
    return judge(gate, rehearsed)
  })
  // A dry run ends with its decision; a job that has one goes on, since its promotion takes no time.
  if (terms.dryRun) return blocked(recorded)
  if (terms.job !== undefined) return proceed(gate, recorded, terms)
  // Its caller gave it up after the run: nothing is asked or promoted any more.
  const isOpen = recorded.decision.decision !== 'BLOCK' && recorded.promotion === null
  if (terms.abort.aborted && isOpen) return end(gate, recorded, { fault: stopped(recorded) })
  return proceed(gate, recorded, terms)
}

/** Nothing is decided: the next process rehearses the act again. */
function givenBack(rehearsed: Rehearsed): FaultError {
  endRehearsal(rehearsed)
  const { action_id } = rehearsed.admitted.evaluation
  const message = 'the process that had this act ends; nothing was decided'
  return faultError('flow.interrupted', action_id, message, 'another worker takes it')
}

function stopped({ actionId }: Recorded): Fault {
  return fault('result.policy_aborted', actionId, null)
}

/** Records what an agent may do before its session starts; returns the refusal, or null. */
export async function beginSession(
  gate: GateParts,
  document: unknown,
  terms: Terms,
): Promise<Outcome | null> {
  const admitted = await admit(gate, document, terms)
  if (admitted.refusal !== null) return blocked(await judge(gate, { admitted, rehearsal: null }))
  await recordProposal(gate, admitted)
  return null
}

/**
 * Takes what a session changed so far, which ran already. A question waits for an answer from another
 * process; the agent goes on meanwhile.
 */
export async function settle(gate: GateParts, ran: RanInSession): Promise<Outcome> {
  const admitted = await admitSession(gate, ran)
  const { refusal } = admitted
  if (refusal === null) await recordProposal(gate, admitted)
  const rehearsal = refusal === null ? ran.rehearsal : null
  const recorded = await judge(gate, { admitted, rehearsal })
  return proceed(gate, recorded, { confirm: async () => ({ kind: 'wait' }) })
}

/** Returns the decision that `settle` would make now; nothing is recorded. */
export async function weigh(gate: GateParts, ran: RanInSession): Promise<Decided> {
  const admitted = await admitSession(gate, { ...ran, terms: { ...ran.terms, dryRun: true } })
  return decide(gate, await compare(gate, { admitted, rehearsal: ran.rehearsal }))
}

/** From what ran to a decision on the record. A decision that was overtaken is made again. */
export async function judge(gate: GateParts, rehearsed: Rehearsed): Promise<Recorded> {
  try {
    let compared = await compare(gate, rehearsed)
    for (let earlier: Pick<Staged, 'bytes'> | null = null; ; ) {
      const decided = decide(gate, compared)
      // The laws refuse what the run changed in the home: decides once more without those changes.
      if (refusesHome(gate, decided)) {
        compared = await compareScope(gate, rehearsed)
        continue
      }
      refuseHaltedJob(gate, decided)
      // Copies while the facts are prepared; `record` waits for it, and returns what failed.
      const staged = stage(gate, decided, earlier)
      // Its decision may be on the record though this process could not see that.
      const sandboxId = rehearsed.rehearsal?.sandboxId
      const recorded = await orLeave(gate, sandboxId, () => record(gate, staged))
      if (recorded.kind === 'recorded') return recorded.act
      compared = recorded.compared
      earlier = recorded
    }
  } finally {
    endRehearsal(rehearsed)
  }
}

/** A job waits for the end of a halt: a refusal would spend the id of its action. */
function refuseHaltedJob({ context }: GateParts, { actionId, decision, compared }: Decided): void {
  if (compared.terms.job === undefined || decision.decision !== 'BLOCK') return
  // A halt also stops what runs, and its file is there before its fact.
  if (!decision.codes.includes('halted') && !isHalted(context.home.state)) return
  const message = 'everything is halted, and nothing was decided about this proposal'
  throw faultError('halted', actionId, message, '`writ resume` lifts the halt')
}

/** From a decision on the record to its promotion, or to a question. */
async function proceed(gate: GateParts, recorded: Recorded, terms: AskOptions): Promise<Outcome> {
  const { decision, promotion } = recorded
  if (decision.decision === 'BLOCK') return blocked(recorded)
  // Nothing was changed, so the promotion is on the record with its decision.
  if (promotion !== null) return promotedNothing(recorded, promotion)
  if (decision.decision === 'PROMOTE') return promote(gate, recorded)
  const waiting = await ask(gate, recorded)
  if (waiting.kind === 'blocked') return waiting
  const answered = await answerHere(gate, waiting, terms.confirm)
  return answered.kind === 'wait' ? waiting : answerNow(gate, waiting, answered)
}

/** Ends the act if its yes cannot be recorded now, so that the caller gets a refusal that holds. */
async function answerNow(gate: GateParts, waiting: Asked, answered: GivenAnswer): Promise<Outcome> {
  try {
    return await answer(gate, waiting, answered)
  } catch (error) {
    const isHeld = waiting.act.evaluation.held !== undefined
    if (!(error instanceof FaultError) || isHeld || !isUnavailable(error.fault)) throw error
    return end(gate, waiting.act, { fault: error.fault })
  }
}

/** Continues after the answer, in this process or in another one. */
export async function answer(
  gate: GateParts,
  waiting: Pick<Asked, 'act' | 'pending'>,
  answered: GivenAnswer,
): Promise<Outcome> {
  if (answered.kind === 'yes') await refuseElsewhere(gate.context, waiting.act)
  const digest = answered.kind === 'yes' ? answered.part : undefined
  const asked = digest === undefined ? waiting : await takePart(gate, waiting, digest)
  // The part is one that no law and no grant asks about.
  if (asked.act.decision.decision === 'PROMOTE') return promote(gate, asked.act)
  const confirmed = await confirm(gate, asked, answered)
  return confirmed.kind === 'approved' ? promote(gate, confirmed.act) : confirmed
}

/** Continues with an act that a flow holds, when its promotion is asked for. */
export async function proceedHeld(
  gate: GateParts,
  actionId: string,
  asking: AskOptions,
): Promise<Outcome> {
  const held = await heldAct(gate, actionId)
  if (held.kind !== 'held') return held
  return held.isApproved ? promote(gate, held.act) : proceed(gate, held.act, asking)
}

/**
 * Continues with an act whose process died before it could promote it. An old yes, or one under other
 * laws, is no longer meant: the act ends.
 */
export function resume(gate: GateParts, recorded: Recorded, isMeant: boolean): Promise<Outcome> {
  return isMeant ? promote(gate, recorded, { isLate: true }) : endInterrupted(gate, recorded)
}
