/**
 * Answers to questions that were withdrawn, such as a yes to a version of work that was run again meanwhile:
 * each is kept as a fact, so that the person learns what became of it.
 */
import type { FlowCommand, FlowEvent, FlowFact } from '../flow/index.ts'
import { type AnswerOrder, answerWord } from './orders.ts'

type LateAnswer = Omit<Extract<FlowEvent, { type: 'answer_late' }>, 'at' | 'nonce'>

/** Returns what is recorded of an answer whose question is no more; null for one that counts, or counted. */
export function lateAnswer(
  facts: readonly FlowFact[],
  order: AnswerOrder,
  pending: FlowCommand | null,
): LateAnswer | null {
  const { node_id, command, principal } = order
  if (pending?.command === command) return null
  const asked = facts.find(
    ({ type, payload }) =>
      type === 'flow_event_v1' &&
      payload.kind === 'commanded' &&
      payload.command.command === command,
  )
  // An order that was obeyed, and could not be taken away before the process died, is found again.
  if (asked === undefined || facts.some((fact) => isAnswer(fact, command))) return null
  const word = answerWord(order)
  const text = order.kind === 'document' ? order.text : ''
  return { type: 'answer_late', node_id, command, principal, word, text, about: versionIn(asked) }
}

const ANSWERS: ReadonlySet<string> = new Set(['human_answer', 'attempt_ended', 'answer_late'])

function isAnswer({ type, payload }: FlowFact, command: number): boolean {
  if (type === 'participant_output_v1') return payload.command === command
  if (type !== 'flow_event_v1' || payload.kind !== 'event') return false
  const { event } = payload
  return ANSWERS.has(event.type) && 'command' in event && event.command === command
}

function versionIn({ type, payload }: FlowFact): string | null {
  if (type !== 'flow_event_v1' || payload.kind !== 'commanded') return null
  const { command } = payload
  const isReview = command.type === 'run_participant' || command.type === 'ask_again'
  return isReview ? (command.review?.artifact_digest ?? null) : null
}
