/**
 * Commands from a run to the host. Every command is a fact before the host carries it out, so that
 * `outstanding` returns the open commands after a crash. A node or span has at most one.
 *
 * run_participant  attempt_started, gate_decision…, participant_output, attempt_ended
 * ask_again        participant_output, attempt_ended, of the same attempt
 * pass             passed, at once: the node has no participant
 * read_evidence    evidence_read
 * read_list        list_read
 * ask_human        human_answer
 * promote          promoted
 * roll_back        rolled_back
 * write_log        log_written; nothing of a later phase happens before
 * write_manifest   manifest_written
 * wait             timer when `until` has come; signals end it as well
 * deadline         timer when `until` has come; a node may have one next to another command
 * stop             nothing: the run no longer waits for what is still running
 *
 * Who may read, write or run what (F-5): answers for the host, which binds real processes to them.
 * Paths are relative to the workspace, as rules are.
 *
 * INVARIANT (a ban wins): of the rules that fit, one that forbids outweighs any that allow. A path that
 * no rule names is allowed.
 */
import {
  type Flow,
  matchesPath,
  type Participant,
  parseGlob,
  pathFault,
  type XiaojingReview,
} from '../../contracts/index.ts'

/** What lies, unpromoted, under the tree that a participant sees. */
export interface StageBase {
  readonly node_id: string
  readonly manifest: string
}

export interface RunInput {
  readonly previous_output_path: string | null
  readonly last_review: XiaojingReview | null
  readonly last_error: unknown
}

/** What a reviewer has to repeat at the top of its answer. */
export interface ReviewPin {
  readonly review_id: string
  readonly target: string
  readonly artifact_path: string | null
  readonly artifact_digest: string | null
  /** Of the artifact and the staged changes together; absent if there are none, and in runs of rules before 6. */
  readonly version?: string
}

/** What is needed, where to put it, and of which type. */
export interface NeededDocument {
  readonly name: string
  readonly description: string
  readonly accepted_types: readonly string[]
  readonly suggested_path: string | null
}

export type CommandBody =
  | {
      readonly type: 'run_participant'
      readonly node_id: string
      readonly attempt: number
      /** Null for a CHECK without a reviewer: a human answers, for any actor. */
      readonly participant: Participant | null
      readonly input: RunInput
      readonly review: ReviewPin | null
      /** In the order of promotion; at most 8. */
      readonly stands_on: readonly StageBase[]
      readonly access: readonly AccessRule[]
      /** How long to wait before, after a failure of the line. */
      readonly delay_seconds: number
      /** The node that called this one; absent when none did. */
      readonly caller?: string
      /** How long the attempt may take; absent when the node does not say. */
      readonly timeout_seconds?: number
      /** What came with the signals that the node waited for. */
      readonly signals?: Readonly<Record<string, unknown>>
    }
  | {
      readonly type: 'ask_again'
      readonly node_id: string
      readonly attempt: number
      /** From 1. */
      readonly ask: number
      readonly errors: readonly unknown[]
      readonly review: ReviewPin | null
    }
  | { readonly type: 'pass'; readonly node_id: string }
  | {
      readonly type: 'read_evidence'
      readonly node_id: string
      readonly sources: readonly { edge_id: string; path: string; field: string }[]
    }
  | {
      readonly type: 'read_list'
      readonly node_id: string
      readonly path: string
      /** `.` for the whole file. */
      readonly field: string
      /** The most items that it may have. */
      readonly max: number
    }
  | {
      readonly type: 'ask_human'
      readonly node_id: string
      readonly why: 'input' | 'escalation'
      readonly needs: readonly NeededDocument[]
    }
  | { readonly type: 'promote'; readonly node_id: string; readonly manifest: string }
  | {
      readonly type: 'roll_back'
      readonly node_id: string
      readonly action_id: string
      /** The node that is entered when all has been restored. */
      readonly back_to: string
      readonly round: number
      /** The acts that are undone after this one, the last promoted first. */
      readonly rest?: readonly { readonly node_id: string; readonly action_id: string }[]
    }
  | {
      readonly type: 'wait'
      readonly node_id: string
      /** ISO 8601; null when only signals are waited for. */
      readonly until: string | null
      readonly signals: readonly string[]
      readonly why: 'entry' | 'retry'
      /** When the time of the node itself is over, without that of the edge that entered it. */
      readonly own?: string
    }
  | { readonly type: 'deadline'; readonly node_id: string; readonly until: string }
  | { readonly type: 'stop'; readonly node_id: string; readonly stopped: number }
  /** `is_border`: the phase has not ended; CHECK nodes outside of it are to judge what it made. */
  | { readonly type: 'write_log'; readonly phase_id: string; readonly is_border?: true }
  | { readonly type: 'write_manifest'; readonly subphase_id: string }

/** `command` is the number that answers name; it is the sequence number of the fact. */
export type FlowCommand = CommandBody & { readonly command: number }

type AccessRule = NonNullable<Flow['access_rules']>[number]

export type AccessMode = AccessRule['access_mode']

export interface AccessDecision {
  readonly isAllowed: boolean
  /** The rule that decided; null when none names the path. */
  readonly rule: AccessRule | null
}

/** The rules that bind an actor, in the order of the flow. */
export function rulesFor(flow: Flow, actor: string): readonly AccessRule[] {
  return (flow.access_rules ?? []).filter((rule) => rule.actor === actor)
}

export function decideAccess(
  flow: Flow,
  actor: string,
  path: string,
  mode: AccessMode,
): AccessDecision {
  const fitting = rulesFor(flow, actor).filter(
    (rule) => rule.access_mode === mode && fits(rule, path),
  )
  const rule = fitting.find(({ access_allowed }) => !access_allowed) ?? fitting[0] ?? null
  return { isAllowed: rule?.access_allowed ?? true, rule }
}

/** What cannot be read, a pattern or a path in no plain form, is under every ban and no permission. */
function fits({ resource_path, access_allowed }: AccessRule, path: string): boolean {
  const glob = parseGlob(`/${resource_path}`)
  if (glob === null || pathFault(`/${path}`) !== null) return !access_allowed
  return matchesPath(glob, `/${path}`) || matchesPath(glob, `/${withoutRun(path)}`)
}

/** A rule about `artifacts/NODE` is about that node's artifacts in every run. */
function withoutRun(path: string): string {
  return path.replace(RUN_ARTIFACTS, 'artifacts/')
}

/** The folder of one run's artifacts. */
export const RUN_ARTIFACTS = /^artifacts\/run-[0-9a-f]{12}\//
