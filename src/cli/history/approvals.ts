/** How far several humans came with one act, from its facts alone, with every signature checked. */
import type { Confirmation, Decision } from '../../contracts/index.ts'
import { type Approvals, approvalQuestion, countApprovals } from '../../gate/index.ts'
import { isProvenApproval } from '../../home/index.ts'
import type { OpenedFact, Register } from '../../ledger/index.ts'

/** Returns null if one human or none is asked. `answers`: all about its act, in order. */
export function approvalsOf(
  decision: Decision,
  answers: readonly OpenedFact[],
  register: Pick<Register, 'credentials'>,
): Approvals | null {
  const question = approvalQuestion(decision)
  if (question === null) return null
  const recorded = answers.flatMap(({ payload, principal }) =>
    // Only a payload that is not kept any more is none; facts are of their contract.
    payload === null ? [] : [{ confirmation: payload as Confirmation, principal }],
  )
  return countApprovals(question, recorded, (answer) => isProvenApproval(register, answer))
}

/** Without keys, as people read it. */
export function shownApprovals({ needed, given }: Approvals) {
  return { needed, given: given.map(({ by, at }) => ({ by, at })) }
}
