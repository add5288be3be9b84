/**
 * Facts of a run: what the host appends, in order, all facts of one step together. The events that
 * came in are among them, so a run can be walked again from its facts.
 *
 * A fact is `{ type, payload }`, the envelope of the ledger; the six types are contracts.
 */
import type { Claim, Evidence, FINDING_ACTIONS, FINDING_CODES } from '../../contracts/index.ts'
import type { Conflict } from '../../policy/index.ts'
import type { FlowCommand, StageBase } from './command.ts'
import type { EventOf, FlowEvent, RunOrigin } from './event.ts'
import type { NodeStatus, RunEnd } from './state.ts'

/** What every payload begins with. */
export interface FactHead {
  readonly run_id: string
  /** From 0, without a gap. */
  readonly seq: number
  readonly at: string
}

export type Values = Readonly<Record<string, unknown>>

/** Why a node is entered; `back` is a Loop or Rollback edge. */
export type EntryCause = 'start' | 'edge' | 'review' | 'alternative' | 'rerun' | 'back' | 'call'

export type FindingAction = (typeof FINDING_ACTIONS)[number]
export type FindingCode = (typeof FINDING_CODES)[number]

export interface RunFinding {
  readonly code: FindingCode
  readonly node_id?: string
  readonly edge_id?: string
  readonly policy_id?: string
  readonly invariant_id?: string
  readonly claim_id?: string
  readonly action: FindingAction
  readonly values: Values
}

/** The three answers of an expression; a fact has them as words. */
export type TruthWord = 'true' | 'false' | 'undetermined'

interface Judged {
  readonly policy_id: string
  readonly action: FindingAction
  readonly triggered: TruthWord
  readonly values: Values
}

export type CallOutcome = 'done' | 'failed' | 'left'

export type EventPayload =
  /** What the host told, as it told it; outputs and evidence have types of their own. */
  | { readonly kind: 'event'; readonly event: FlowEvent }
  | {
      readonly kind: 'guard'
      readonly edge_id: string
      readonly result: TruthWord
      readonly scope: string
      /** What was read and decided, by path. */
      readonly values: Values
      /** Why it is undetermined. */
      readonly reasons: readonly string[]
    }
  | {
      readonly kind: 'policies'
      readonly edge_id: string
      readonly applied: readonly Judged[]
      readonly silenced: readonly string[]
      readonly conflicts: readonly Conflict[]
    }
  | {
      readonly kind: 'invariant'
      readonly invariant_id: string
      readonly node_id?: string
      readonly phase_id?: string
      readonly edge_id?: string
      readonly result: TruthWord
      readonly values: Values
    }
  | { readonly kind: 'fired'; readonly edge_id: string; readonly round: number }
  | {
      readonly kind: 'entered'
      readonly node_id: string
      readonly round: number
      readonly cause: EntryCause
      /** The count of attempts begins again. */
      readonly is_fresh: boolean
    }
  /** The run came round to a node that was still open. */
  | { readonly kind: 'joined'; readonly node_id: string; readonly round: number }
  /** A node has taken the signals that it waited for. */
  | { readonly kind: 'heard'; readonly node_id: string; readonly names: readonly string[] }
  /** The call that an edge asks for begins, or has ended. */
  | { readonly kind: 'called'; readonly edge_id: string; readonly round: number }
  /** `left`: the caller was left behind, and what was under way for it is stopped. */
  | { readonly kind: 'returned'; readonly edge_id: string; readonly outcome: CallOutcome }
  | { readonly kind: 'commanded'; readonly command: FlowCommand }
  | { readonly kind: 'attempt_failed'; readonly node_id: string; readonly error: unknown }
  | {
      readonly kind: 'artifact'
      readonly node_id: string
      readonly path: string
      readonly digest: string
      readonly format: string
      /** Against the last one; null for the first. */
      readonly delta: Values | null
    }
  | {
      readonly kind: 'staged'
      readonly node_id: string
      readonly manifest: string
      readonly stands_on: readonly StageBase[]
    }
  | { readonly kind: 'voided'; readonly node_id: string; readonly base: string }
  | {
      readonly kind: 'reviewed'
      readonly node_id: string
      readonly check_id: string
      readonly verdict: 'APPROVE' | 'REJECT' | 'PENDING'
      readonly score: number
      readonly artifact_digest: string | null
      /** What the review is about: see `versionOf`. Absent in runs of rules before 6. */
      readonly version?: string
      /** The score gate changed the reviewer's word. */
      readonly is_word_changed: boolean
    }
  | {
      readonly kind: 'status'
      readonly node_id: string
      readonly status: NodeStatus
      readonly why: string
    }
  | { readonly kind: 'held'; readonly node_id: string }
  | { readonly kind: 'released'; readonly node_id: string }
  | { readonly kind: 'field'; readonly name: string; readonly value: string | number | boolean }
  | { readonly kind: 'phase_ended'; readonly phase_id: string }
  | { readonly kind: 'phase_blocked'; readonly phase_id: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'ended'; readonly status: RunEnd }

export interface EvidencePayload {
  readonly evidence: Evidence
  readonly principal: string
  readonly participant: string | null
  /** There when the host told it as an event of its own. */
  readonly nonce?: string
}

export interface ClaimPayload {
  readonly claim: Claim
  readonly principal: string
  readonly participant: string | null
}

type FactBody =
  | {
      readonly type: 'flow_started_v1'
      readonly payload: {
        readonly flow_id: string
        readonly flow_digest: string
        readonly nonce: string
        readonly origin?: RunOrigin
      }
    }
  | { readonly type: 'flow_event_v1'; readonly payload: EventPayload }
  | { readonly type: 'flow_finding_v1'; readonly payload: RunFinding }
  | { readonly type: 'flow_claim_v1'; readonly payload: ClaimPayload }
  | { readonly type: 'flow_evidence_v1'; readonly payload: EvidencePayload }
  | {
      readonly type: 'participant_output_v1'
      readonly payload: Omit<EventOf<'participant_output'>, 'type' | 'at'>
    }

export type FactType = FactBody['type']

/** The types of facts that tell of a run, and of nothing else. */
export const FACT_TYPES: ReadonlySet<string> = new Set<FactType>([
  'flow_started_v1',
  'flow_event_v1',
  'flow_finding_v1',
  'flow_claim_v1',
  'flow_evidence_v1',
  'participant_output_v1',
])

export type PayloadOf<T extends FactType> = Extract<FactBody, { type: T }>['payload']

/** Distributes over the types, so that `type` tells what the payload is. */
type WithHead<B extends FactBody> = B extends FactBody
  ? { readonly type: B['type']; readonly payload: FactHead & B['payload'] }
  : never

export type FlowFact = WithHead<FactBody>
