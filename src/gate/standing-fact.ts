/** The facts that decide what stands, as the fold takes them in. */
import type { Principal } from '../ledger/index.ts'

/** Facts that decide what stands. */
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
