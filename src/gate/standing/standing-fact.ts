/** The facts that `StandingFold` takes in. */
import type {
  Confirmation,
  Decision,
  Evaluation,
  GrantFact,
  Halt,
  Laws,
  Override,
  Promotion,
  RequestFact,
  Rollback,
} from '../../contracts/index.ts'
import type { Principal } from '../../ledger/index.ts'

/**
 * The version of what the fold remembers. Raise it with every change to what is remembered or to its
 * form: the store does not read what was kept under another version.
 */
export const STANDING_VERSION = 6

/** The record types that change the standing. */
export const STANDING_TYPES = [
  'halt_v1',
  'laws_v1',
  'proposal_v1',
  'evaluation_v1',
  'decision_v1',
  'confirmation_v1',
  'promotion_v1',
  'rollback_v1',
  'override_v1',
  'grant_v1',
  'request_v1',
] as const

export interface StandingFact {
  readonly type: string
  readonly payload: unknown
  /** ISO 8601. */
  readonly occurredAt: string
  readonly seq: number
  /** Who recorded it. */
  readonly principal: Principal
}

/** The payload of each record type. A proposal is read part by part, since marks may replace parts. */
interface StandingPayloads {
  readonly halt_v1: Halt
  readonly laws_v1: Laws
  readonly proposal_v1: unknown
  readonly evaluation_v1: Evaluation
  readonly decision_v1: Decision
  readonly confirmation_v1: Confirmation
  readonly promotion_v1: Promotion
  readonly rollback_v1: Rollback
  readonly override_v1: Override
  readonly grant_v1: GrantFact
  readonly request_v1: RequestFact
}

/** A fact whose payload has the form of its type. */
export type TypedFact = {
  readonly [Type in keyof StandingPayloads]: StandingFact & {
    readonly type: Type
    readonly payload: StandingPayloads[Type]
  }
}[keyof StandingPayloads]

/**
 * Reads the action ids of a recorded proposal.
 *
 * Returns every action id of a recorded proposal. The ledger may hold marks for other parts.
 */
export function idsOf(payload: unknown): readonly string[] {
  const ids: string[] = []
  const open: unknown[] = [payload]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // The store validated the proposal; the checks below skip parts that a mark replaced.
    const { descriptor, children } = next as {
      readonly descriptor?: { readonly action_id?: unknown }
      readonly children?: readonly unknown[]
    }
    if (typeof descriptor?.action_id === 'string') ids.push(descriptor.action_id.toLowerCase())
    if (Array.isArray(children)) open.push(...children)
  }
  return ids
}

/** What is remembered of one action. */
export interface ActionMemory {
  /** Null where the record does not name it. */
  readonly actor: string | null
  readonly intent: string | null
  readonly proposalDigest: string
  readonly cooldownOnRepeat: boolean
  /** An actor that is no person did it, so its undo data counts against that actor's limit. */
  readonly isActors: boolean
  readonly displaced: number
  readonly isApproved: boolean
  /** The evaluator that judged it took an expired question as a no. */
  readonly silenceDenies: boolean
}

export interface StandingOptions {
  /** How long a question about requests waits for its answer. */
  readonly confirmationMs: number
  /** How long a question about staged files waits; defaults to `confirmationMs`. */
  readonly questionMs?: number
  readonly cooldownMs: number
}
