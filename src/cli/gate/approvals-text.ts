/** How far several humans have come with one question, in the words of a person. */
import type { ApprovalsSoFar } from '../../service/index.ts'
import { plain } from '../history/text.ts'

/** `1 of 2 approved, by human:ann@local`. */
export function approvalsText({ needed, given }: Omit<ApprovalsSoFar, 'humans'>): string {
  const by = given.map((one) => plain(one.by)).join(', ')
  return `${given.length} of ${needed} approved${by === '' ? '' : `, by ${by}`}`
}

/** What is missing. */
export function missingText({ needed, given }: Omit<ApprovalsSoFar, 'humans'>): string {
  return `waiting for ${needed - given.length} more`
}

/** Null while there are enough humans who can approve. */
export function fewHumansText({ needed, humans }: ApprovalsSoFar): string | null {
  if (humans === undefined) return null
  const have = humans === 1 ? '1 human here has' : `${humans} humans here have`
  return `confirm.few_humans: ${needed} humans have to approve, and ${have} a credential of their own (writ principal add, writ token create, writ principal pass)`
}
