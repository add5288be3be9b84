/** What people tell a run: answers to what it asks, evidence, and that something may try again. */
import type { Evidence } from '../../contracts/index.ts'

export type Order =
  /** To `ask_human`. */
  | {
      readonly kind: 'answer'
      readonly node_id: string
      readonly command: number
      readonly answer: 'retry' | 'abandon' | 'provided'
      readonly principal: string
    }
  /** A person is the participant: what he answers, as a participant would. */
  | {
      readonly kind: 'document'
      readonly node_id: string
      readonly command: number
      readonly text: string
      readonly principal: string
    }
  | { readonly kind: 'unblock'; readonly node_id: string; readonly principal: string }
  | { readonly kind: 'evidence'; readonly evidence: Evidence; readonly principal: string }

/** Orders lie in the state, which only this user can write: their form is writ's own. */
export function orderOf(value: unknown): Order {
  return value as Order
}
