/** The question to a participant of any kind, and its answer. */
import type { Participant } from '../../contracts/index.ts'
import type { Attempt, OperationAnswer } from '../../service/index.ts'

export interface ParticipantRequest {
  readonly participant: Participant
  /** The document it gets. */
  readonly input: Readonly<Record<string, unknown>>
  readonly kind: 'action' | 'review' | 'plan'
  readonly workspace: string
  /** The attempt it works in; opened when it is first asked for. */
  readonly attempt: () => Promise<Attempt>
  /** An operation that it asked for; the decision is on the record when it is answered. */
  readonly operate: (operation: unknown) => Promise<OperationAnswer>
  /** By the names that the participant declares. No other participant and no fact gets them. */
  readonly secrets: Readonly<Record<string, string>>
  /** Fails if everything is halted; called before each request. */
  readonly refuseHalted: () => Promise<void>
  /** The longest it may take. */
  readonly seconds: number
  /** What is left of the budget of tokens now; infinite without one. */
  readonly tokensLeft: () => number
  /** Called with the tokens of each round. */
  readonly onTokens: (count: number) => void
  readonly signal: AbortSignal
}

export interface Said {
  /** `unreachable` is a failure of the line: tried again later, and never counted. */
  readonly outcome: 'ended' | 'failed' | 'unreachable'
  /** The time of the node was up. */
  readonly cause?: 'timeout'
  readonly text: string
  readonly tokens: number
  /** Processes of it that still ran after its end. */
  readonly left?: number
  /** Why the text is no answer, where that cannot be read off the text. */
  readonly invalid?: string
  /** Why it did not end well. */
  readonly why?: string
}

export type Participate = (asking: ParticipantRequest) => Promise<Said>

/** How a request for an operation is answered, on every channel. */
export function operationText({ decision, codes, result }: OperationAnswer): string {
  return JSON.stringify({ decision, codes, result })
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
