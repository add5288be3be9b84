/**
 * Replay of promotions (L-9): what was asked about was promoted only after a human said yes, and where
 * a law wanted several, after all of them had. Counted again from the facts before the promotion, with
 * every signature checked against the credentials that the facts name.
 *
 * How far several humans came with one act, from its facts alone, with every signature checked.
 */
import type { Confirmation, Decision, Evaluation, Promotion } from '../../contracts/index.ts'
import {
  type Approvals,
  approvalQuestion,
  countApprovals,
  type RecordedAnswer,
  startersOf,
} from '../../gate/index.ts'
import { isProvenApproval } from '../../home/index.ts'
import type { OpenedFact, Register, Replay, ReplayLookup } from '../../ledger/index.ts'

/**
 * Returns null if there is nothing to compare: the promotion was not applied, the act needed no answer,
 * or one human said yes. The approvals of several humans are counted again and compared.
 */
export async function replayPromotion(
  fact: OpenedFact,
  lookup: ReplayLookup,
  register: Pick<Register, 'credentials' | 'passkeys'>,
): Promise<Replay | null> {
  // The store judged the record by its contract before it was written.
  const { action_id, proposal_digest, result_digest, status } = fact.payload as Promotion
  if (status !== 'APPLIED') return null
  const before = (facts: readonly OpenedFact[]) => facts.filter(({ seq }) => seq < fact.seq)
  const { stream } = fact
  const decisions = before(await lookup.ofAction(stream, 'decision_v1', action_id))
  const decision = decisions
    // The lookup gives decisions only.
    .map(({ payload }) => payload as Decision)
    .findLast((one) => one.proposal_digest === proposal_digest)
  if (decision?.decision !== 'CONFIRM') return null
  const answers = before(await lookup.ofAction(stream, 'confirmation_v1', action_id))
  const evaluations = before(await lookup.ofAction(stream, 'evaluation_v1', action_id))
  const several = approvalsOf(decision, answers, evaluations, register)
  const needed = several?.needed ?? 1
  const isYes = ({ answer, result_digest: about }: Confirmation): boolean =>
    answer === 'APPROVED' && about === result_digest
  const found =
    several?.given.length ??
    // The lookup gives confirmations only.
    Math.min(1, answers.filter(({ payload }) => isYes(payload as Confirmation)).length)
  if (found >= needed) return several === null ? null : { kind: 'equal' }
  return { kind: 'different', recorded: { approvals: needed }, computed: { approvals: found } }
}

/** Returns null if one human or none is asked. `answers` and `evaluations`: all of its act, in order. */
export function approvalsOf(
  decision: Decision,
  answers: readonly OpenedFact[],
  evaluations: readonly OpenedFact[],
  register: Pick<Register, 'credentials' | 'passkeys'>,
): Approvals | null {
  const question = approvalQuestion(decision)
  if (question === null) return null
  const recorded = answers.flatMap(({ payload, principal }) =>
    // Only a payload that is not kept any more is none; facts are of their contract.
    payload === null ? [] : [{ confirmation: payload as Confirmation, principal }],
  )
  const starters = startersOf(
    evaluations.map(({ payload, principal }) => ({
      principal,
      // The same.
      evaluation: payload as Evaluation | null,
    })),
  )
  const isProven = (answer: RecordedAnswer) => isProvenApproval(register, answer)
  return countApprovals(question, recorded, starters, isProven)
}

/** Without keys, as people read it. */
export function shownApprovals({ needed, given }: Approvals) {
  return { needed, given: given.map(({ by, at }) => ({ by, at })) }
}
