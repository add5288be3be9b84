/**
 * Events from the host to a run. Each answers a command or reports something that happened.
 *
 * An answer names its node or span and the number of its command. A run ignores an answer that it does
 * not wait for, so the host may send an answer twice. `at` is the time of the host. `nonce` is a random
 * value of the host, from which a run makes review ids that participants cannot predict.
 */
import type { Digest } from '../../base/index.ts'
import type {
  Claim,
  Evidence,
  Flow,
  ListProblem,
  XiaoboAction,
  XiaojingReview,
} from '../../contracts/index.ts'
import type { BudgetLimits, BudgetName } from './budget.ts'

interface Moment {
  /** ISO 8601. */
  readonly at: string
  readonly nonce: string
}

/** A reference to the command that is answered. */
interface AnsweredCommand {
  readonly node_id: string
  readonly command: number
}

export type ClaimDraft = Pick<Claim, 'claim_id' | 'trust_level'> & Partial<Pick<Claim, 'text'>>

/** What an executor answered, normalised and valid. */
export interface ActionAnswer {
  readonly kind: 'action'
  readonly document: XiaoboAction
  /** What was said besides the artifact, for text policies. */
  readonly message?: string
  readonly summary?: string
  /** The host says it in the participant's place: what a plan requires is missing. */
  readonly is_of_host?: true
  readonly claims?: readonly ClaimDraft[]
  readonly evidence?: readonly Omit<Evidence, 'actor'>[]
}

/** What a reviewer answered, with the pins that stood at the top of the answer. */
export interface ReviewAnswer {
  readonly kind: 'review'
  readonly document: XiaojingReview
  readonly review_id: string
  readonly artifact_digest: string | null
  /** The score gate changed the reviewer's word while the answer was normalised. */
  readonly is_word_changed?: boolean
  readonly claims?: readonly ClaimDraft[]
  /** For claims of any node. */
  readonly evidence?: readonly Omit<Evidence, 'actor'>[]
}

export type ParticipantAnswer = ActionAnswer | ReviewAnswer

/** What an attempt left in its staging area. */
interface StagedTree {
  readonly manifest: string
  /** By which the gate knows it. */
  readonly action_id?: string
  /** What it would change, relative to the workspace. */
  readonly paths?: readonly string[]
}

/** What stops a node for a person to look at. */
export interface HostFinding {
  readonly code:
    | 'flow.program_touched'
    | 'flow.program_changed'
    | 'flow.secret_written'
    | 'flow.artifact_touched'
    | 'flow.artifact_changed'
  /** Relative to the workspace. */
  readonly path: string
  /** Of an artifact that changed: its node, the digest on the record, and the one found. */
  readonly made_by?: string
  readonly recorded?: string
  readonly found?: string
  /** In a run with an open reviewer: its node, why it is open, and why the path is no data. */
  readonly reviewer?: string
  readonly why?: string
  readonly because?: string
  /** Of the last one in a list: how many more there are. */
  readonly more?: number
}

/** What a run began with besides the flow itself. */
export interface RunOrigin {
  /** Absolute. */
  readonly workspace: string
  /** Of the file that named the participants; null when the flow names them itself. */
  readonly participants_digest: string | null
  /** Whose rules the run is walked by. */
  readonly evaluator: { readonly name: string; readonly version: string }
  /** The folder of this run's artifacts, relative to the workspace; `artifacts` without it. */
  readonly artifacts?: string
  readonly source?: FlowFiles
  /** Programs of the workspace that participants name, by the digest of the declaration. */
  readonly programs?: readonly PinnedProgram[]
  /** Every file that those programs are made of, as it was when the run began. */
  readonly pins?: readonly PinnedFile[]
  /** Participants of whose programs not all could be found, by the digest of the declaration. */
  readonly unpinned?: readonly string[]
  /** Reviewers of which it is not known what they start or load. */
  readonly open_reviewers?: readonly OpenReviewer[]
}

/** A CHECK whose reviewer is open, and the first reason with its place. */
export interface OpenReviewer {
  readonly node_id: string
  readonly why: string
}

/** The files that a flow was read from, absolute: a person may edit them while the run keeps its flow. */
export interface FlowFiles {
  readonly file: string
  readonly participants?: string
  readonly side?: string
}

export interface PinnedFile {
  /** Relative to the workspace. */
  readonly path: string
  readonly digest: string
}

/** A file that a migration pins otherwise: digests before and after, null for none. */
export interface ProgramChange {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

export interface PinnedProgram extends PinnedFile {
  readonly participant: string
}

type EventBody =
  | { readonly type: 'started'; readonly run_id: string; readonly origin?: RunOrigin }
  /** A participant begins, from nothing: what an interrupted run of this attempt did is forgotten. */
  | ({
      readonly type: 'attempt_started'
      /** Of a review: the files that the judged work changed, the first 200 of them, and how many there are. */
      readonly changed?: readonly string[]
      readonly changed_count?: number
    } & AnsweredCommand)
  /** One operation that the participant asked for through its tool channel, and what was decided. */
  | ({
      readonly type: 'gate_decision'
      readonly decision: 'PROMOTE' | 'CONFIRM' | 'BLOCK'
      /** Of a BLOCK: its codes, and what it is about, such as paths outside of `writes`. */
      readonly codes?: readonly string[]
      readonly about?: readonly string[]
    } & AnsweredCommand)
  | ({
      readonly type: 'participant_output'
      readonly raw: string
      /** Null when the output is invalid; `errors` says why. */
      readonly answer: ParticipantAnswer | null
      readonly repairs: readonly string[]
      readonly errors: readonly unknown[]
    } & AnsweredCommand)
  | ({
      readonly type: 'attempt_ended'
      /** `unreachable` is a failure of the line, not of the work: tried again, never counted. */
      readonly outcome: 'ended' | 'failed' | 'unreachable'
      /** The time of the node was up. */
      readonly cause?: 'timeout'
      /** Of one that did not end well, as far as it is known. */
      readonly why?: string
      /** The budget that ended it: what all attempts had used by then, with those under way. */
      readonly ended_by?: { readonly budget: BudgetName; readonly used: number }
      /** By the monotonic clock of the host. */
      readonly seconds: number
      readonly tokens: number
      readonly required_files_exist: boolean
      /** Those that are not there, if the host says which. */
      readonly missing_files?: readonly string[]
      readonly stage: StagedTree | null
      /** What the host found at the attempt itself: its node is blocked, also if it answered well. */
      readonly found?: readonly HostFinding[]
      /** The principal that ran. */
      readonly principal: string
    } & AnsweredCommand)
  | ({
      readonly type: 'passed'
      /** Required files that are not there. */
      readonly missing_files?: readonly string[]
    } & AnsweredCommand)
  | ({
      readonly type: 'evidence_read'
      readonly readings: readonly EvidenceValue[]
    } & AnsweredCommand)
  /** The list of a map, as the host found it. */
  | ({
      readonly type: 'list_read'
      readonly path: string
      /** Null when there is no such file. */
      readonly digest: string | null
      /** Null when it is no list to map over; `problem` says why. */
      readonly items: readonly unknown[] | null
      readonly problem?: ListProblem
      readonly why?: string
    } & AnsweredCommand)
  | ({
      readonly type: 'human_answer'
      /** `retry` grants one more attempt; `provided` says that what was asked for is there. */
      readonly answer: 'retry' | 'abandon' | 'provided'
      readonly principal: string
    } & AnsweredCommand)
  | ({
      readonly type: 'promoted'
      /** Null when the gate refused. */
      readonly action_id: string | null
      /** The codes of the refusal, and what was in the way. */
      readonly why?: readonly string[]
      readonly about?: readonly string[]
      readonly manifest: string
    } & AnsweredCommand)
  | ({
      readonly type: 'rolled_back'
      readonly is_restored: boolean
      /** Of one that did not restore everything: what was in the way. */
      readonly why?: string
    } & AnsweredCommand)
  | {
      readonly type: 'log_written'
      readonly phase_id: string
      readonly command: number
      /** The digest of the log file; null if the host could not write it. */
      readonly digest: string | null
    }
  | {
      readonly type: 'manifest_written'
      readonly subphase_id: string
      readonly command: number
      readonly digest: string | null
    }
  | {
      readonly type: 'evidence'
      readonly evidence: Evidence
      readonly principal: string
      readonly participant: Digest | string | null
    }
  | {
      readonly type: 'access_refused'
      readonly node_id: string
      readonly path: string
      readonly mode: 'read' | 'write' | 'exec'
    }
  /** A human answered a question that was withdrawn or answered before: the answer is kept, and changes nothing. */
  | ({
      readonly type: 'answer_late'
      readonly principal: string
      /** Such as `approve`, with the whole answer next to it. */
      readonly word: string
      readonly text: string
      /** The version that the question was about; null if it was about none. */
      readonly about: string | null
    } & AnsweredCommand)
  /** A human lets a blocked node try again. */
  | { readonly type: 'unblocked'; readonly node_id: string; readonly principal: string }
  /** The time that a node waits for has come. */
  | ({ readonly type: 'timer' } & AnsweredCommand)
  | {
      readonly type: 'signal'
      readonly name: string
      /** Of the one who sent it, so that it counts once. */
      readonly signal_id: string
      readonly data?: unknown
      readonly principal: string
    }
  /** A human lets the run pass a node without its work. */
  | {
      readonly type: 'skipped'
      readonly node_id: string
      readonly principal: string
      readonly comment: string
    }
  /** A human ends the run where it is. */
  | { readonly type: 'cancelled'; readonly principal: string; readonly comment: string | null }
  /** A human sets budgets, in the place of those that the flow or a human set before. */
  | { readonly type: 'budget_set'; readonly limits: BudgetLimits; readonly principal: string }
  /** A human moves the run to another version of its flow; its programs are pinned again. */
  | {
      readonly type: 'migrated'
      /** The digests of the two versions. */
      readonly from: string
      readonly to: string
      readonly flow: Flow
      readonly principal: string
      readonly comment: string | null
      readonly source?: FlowFiles
      readonly programs?: readonly PinnedProgram[]
      readonly pins?: readonly PinnedFile[]
      readonly unpinned?: readonly string[]
      readonly open_reviewers?: readonly OpenReviewer[]
      /** What of the pins the person saw and agreed to. */
      readonly changed_programs?: readonly ProgramChange[]
    }
  | { readonly type: 'tick' }
  /** The run goes on after a stop; manifests of sub-phases as they are found now, by name. */
  | { readonly type: 'resumed'; readonly manifests: Readonly<Record<string, string>> }

/** A field of a file of evidence, for the guard of an edge. */
export interface EvidenceValue {
  readonly edge_id: string
  /** Null when the file is not there, or cannot be read. */
  readonly digest: string | null
  /** Null when there is no such value; `problem` says why. */
  readonly value: string | number | boolean | null
  readonly problem?: EvidenceProblem
  /** More than the problem says by itself. */
  readonly why?: string
}

/** Why a file of evidence gives no value. */
export type EvidenceProblem =
  | 'missing'
  | 'unreadable'
  | 'not_json'
  | 'no_field'
  | 'not_plain'
  | 'wrong_type'
  | 'changed'

export type FlowEvent = EventBody & Moment
export type EventType = EventBody['type']
export type EventOf<T extends EventType> = Extract<FlowEvent, { type: T }>
