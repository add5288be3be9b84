/** What people tell a run: answers to what it asks, evidence, and that something may try again. */
import { DOCUMENT_LIMITS, digestBytes, readJson } from '../base/index.ts'
import type { Evidence } from '../contracts/index.ts'
import {
  type BudgetLimits,
  type FlowCommand,
  type FlowEvent,
  type FlowFact,
  type LeftAnswer,
  pinnedVersion,
  type RunState,
} from '../flow/index.ts'

export type Order =
  /** To `ask_human`. */
  | {
      readonly kind: 'answer'
      readonly node_id: string
      readonly command: number
      readonly answer: 'retry' | 'abandon' | 'provided'
      readonly principal: string
    }
  /** The answer of a person who is the participant. */
  | {
      readonly kind: 'document'
      readonly node_id: string
      readonly command: number
      readonly text: string
      readonly principal: string
    }
  | {
      readonly kind: 'unblock'
      readonly node_id: string
      readonly principal: string
      /** The last time that it was let go on when this was said; see `lastUnblocked`. */
      readonly since: number
    }
  | { readonly kind: 'budget'; readonly limits: BudgetLimits; readonly principal: string }
  | { readonly kind: 'evidence'; readonly evidence: Evidence; readonly principal: string }
  | {
      readonly kind: 'skip'
      readonly node_id: string
      readonly principal: string
      readonly comment: string
      /** Entries of the node when this was said: it is for this one and no later one. */
      readonly entries: number
    }
  | {
      readonly kind: 'signal'
      readonly name: string
      readonly signal_id: string
      readonly data?: unknown
      readonly principal: string
    }
  | { readonly kind: 'cancel'; readonly principal: string; readonly comment: string | null }

/** An order that answers a question. */
export type AnswerOrder = Extract<Order, { kind: 'answer' | 'document' }>

/** Orders lie in the state, which only this user can write: their form is writ's own. */
export function orderOf(value: unknown): Order {
  return value as Order
}

/** That a node may go on: said for the block that was seen, and for no later one. */
export function unblockOrder(facts: readonly FlowFact[], nodeId: string, principal: string): Order {
  return { kind: 'unblock', node_id: nodeId, principal, since: lastUnblocked(facts, nodeId) }
}

/** Returns the number of the fact that last unblocked a node; -1 if there is none. */
export function lastUnblocked(facts: readonly FlowFact[], nodeId: string): number {
  const fact = facts.findLast(
    ({ type, payload }) =>
      type === 'flow_event_v1' &&
      payload.kind === 'event' &&
      payload.event.type === 'unblocked' &&
      payload.event.node_id === nodeId,
  )
  return fact?.payload.seq ?? -1
}

/**
 * Returns the node of a claim for which the person who brings evidence has answered `provided`: that is the
 * word of the one who claims, and verifies nothing. Null for anyone else.
 */
export function ownNode(
  { claimNodes, flow }: Pick<RunState, 'claimNodes' | 'flow'>,
  facts: readonly FlowFact[],
  claimId: string,
  principal: string,
): string | null {
  const nodeId = flow.nodes[claimNodes.get(claimId) ?? -1]?.document.node_id
  if (nodeId === undefined) return null
  return facts.some((fact) => isProvided(fact, nodeId, principal)) ? nodeId : null
}

/** Whether a person said at a node that what it asked for is there. */
function isProvided({ type, payload }: FlowFact, nodeId: string, principal: string): boolean {
  if (type !== 'flow_event_v1' || payload.kind !== 'event') return false
  const { event } = payload
  const isAnswer = event.type === 'human_answer' && event.answer === 'provided'
  return isAnswer && event.node_id === nodeId && event.principal === principal
}

/** Returns what an order answers a question with; null if it answers none. */
export function givenAnswer(order: Order, atMs: number): LeftAnswer | null {
  if (order.kind !== 'answer' && order.kind !== 'document') return null
  const { node_id, command, principal } = order
  const word = answerWord(order)
  return { node_id, command, word, principal, at: new Date(atMs).toISOString() }
}

/** Returns the word that an answer comes to, such as `approve` or `retry`. */
function answerWord(order: AnswerOrder): string {
  return order.kind === 'answer' ? order.answer : documentWord(order.text)
}

const VERDICTS: ReadonlyMap<unknown, string> = new Map([
  ['APPROVE', 'approve'],
  ['MODIFY', 'reject'],
])

/** Documents with prose around them are read by the run; here they have no word of their own. */
function documentWord(text: string): string {
  const reading = readJson(text, DOCUMENT_LIMITS)
  const value = reading.ok ? reading.value : null
  const isObject = typeof value === 'object' && value !== null && 'action_required' in value
  return (isObject ? VERDICTS.get(value.action_required) : undefined) ?? 'document'
}

type LateAnswer = Omit<Extract<FlowEvent, { type: 'answer_late' }>, 'at' | 'nonce'>

/**
 * Returns what is recorded of an answer that comes too late: its question was withdrawn, such as one about a
 * version of work that was run again meanwhile, or another answer was taken before; null for an answer that
 * counts, or counted.
 */
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
  if (asked === undefined || facts.some((fact) => isObeyed(fact, order))) return null
  const word = answerWord(order)
  const text = order.kind === 'document' ? order.text : ''
  return { type: 'answer_late', node_id, command, principal, word, text, about: versionIn(asked) }
}

/** Whether a fact is what followed from this very answer. */
function isObeyed({ type, payload }: FlowFact, order: AnswerOrder): boolean {
  if (type === 'participant_output_v1') {
    if (payload.command !== order.command || order.kind !== 'document') return false
    // A text that is long is kept by its digest.
    return payload.raw === order.text || payload.raw.includes(digestBytes(order.text))
  }
  if (type !== 'flow_event_v1' || payload.kind !== 'event') return false
  const { event } = payload
  if (event.type !== 'human_answer' && event.type !== 'answer_late') return false
  if (event.command !== order.command || event.principal !== order.principal) return false
  const word = event.type === 'human_answer' ? event.answer : event.word
  return word === answerWord(order)
}

function versionIn({ type, payload }: FlowFact): string | null {
  if (type !== 'flow_event_v1' || payload.kind !== 'commanded') return null
  const { command } = payload
  const isReview = command.type === 'run_participant' || command.type === 'ask_again'
  return isReview ? pinnedVersion(command.review) : null
}
