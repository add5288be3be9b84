/**
 * What the gate offers to flows: one attempt of a participant, whose effects stay staged until
 * another caller approves them (F-13). The declaration is the host's: which paths the node may write.
 *
 * PROMISE (nothing real changes): an attempt changes a stage; only `promoteHeld` changes the tree, in
 *   one act that can be rolled back as one.
 * PROMISE (flat): an attempt sees the stages it names, at most 8, and no other change that is not
 *   promoted.
 * PROMISE (judged whole): what the participant's process and its operations did together is compared
 *   with the declaration and judged by the laws, exactly like a proposal.
 */

import type { Digest } from '../../base/index.ts'
import type { Decision, RunMark, SandboxResult } from '../../contracts/index.ts'
import type { Change } from '../../gate/index.ts'
import type { RefusedAccess } from '../../sandbox/index.ts'
import type { Confirm, GateAnswer, Question } from './surface.ts'

/** Most stages that one view is made of. */
export const BASES_MAX = 8

export interface AttemptOrder {
  /** Of the attempt; becomes the act when it is promoted. */
  readonly actionId: string
  /** One paragraph, descriptive; by the host. */
  readonly intent: string
  /** Absolute directory that is worked in; the scope. */
  readonly workspace: string
  /** Globs under the workspace that may be created, modified and deleted. */
  readonly writes: readonly string[]
  /** Action ids of held attempts that the view is made of, in the order of promotion. */
  readonly bases: readonly string[]
  /** Absolute paths that the process does not see. */
  readonly hidden: readonly string[]
  /** Absolute paths that it sees and cannot change. */
  readonly readOnly: readonly string[]
  /** What no participant may change: programs of participants, and what other nodes handed in. */
  readonly sealed?: readonly SealedPaths[]
  /** Hosts that the participant itself calls (class `service`), and its secrets by name and value. */
  readonly egress: readonly string[]
  readonly secrets: Readonly<Record<string, string>>
  /** Null: the host's defaults. */
  readonly limits: {
    readonly seconds: number | null
    readonly memoryMb: number | null
    readonly diskMb: number | null
  }
  /** Records each access that a mask or a read-only mount refused (slow). */
  readonly isTraced: boolean
  /**
   * The participant has no process here: a sandbox is opened for the first operation that it asks for, and
   * none for a file that the host puts there.
   */
  readonly isElsewhere?: boolean
  /** No process but the participant's own can open its standard output. */
  readonly hasClosedOutput?: boolean
  /** The run that goes on with what is staged, which stays while it can; absent for a planning. */
  readonly run?: RunMark
  readonly abort: AbortSignal
}

export interface SealedPaths {
  /** Of the finding about a change. */
  readonly code: 'flow.program_touched' | 'flow.artifact_touched'
  /** Globs under the workspace. A stage that changes what one matches is blocked. */
  readonly patterns: readonly string[]
  /** Paths under the workspace that are mounted read-only where they are there. */
  readonly places: readonly string[]
  /** A directory under the workspace that the participant may fill, although a pattern matches it. */
  readonly own?: string
  /** Globs under the workspace that the participant may change, although a pattern matches it. */
  readonly declared?: readonly string[]
  /** Only data that a person named is added, changed or removed, since a reviewer may run anything else. */
  readonly data_only?: DataOnly
}

export interface DataOnly {
  /** Endings, in small letters. */
  readonly suffixes: readonly string[]
  /** Names without an ending, in small letters. */
  readonly names: readonly string[]
  /** Globs under the workspace of what is no data although its ending is. */
  readonly except: readonly string[]
  /** Paths under the workspace that may be changed, by name; `{index}` is any number. */
  readonly paths: readonly string[]
  /** Where the artifact of the attempt lies, and what a file directly there is called without its ending. */
  readonly artifact: { readonly folder: string; readonly stems: readonly string[] }
  /** The node whose reviewer is open, and why it is. */
  readonly reviewer: string
  readonly why: string
}

export interface ParticipantCommand {
  readonly argv: readonly [string, ...string[]]
  /** Absolute; inside the workspace. */
  readonly cwd: string
  /** On the record; secrets are those of the order. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array
  /**
   * One line that the process wrote to its descriptor 3, and the line that it gets back. Lines are
   * answered in their order.
   */
  readonly onLine: (line: string) => Promise<string>
  /** Ends this run alone: the attempt goes on, and may run a command again. */
  readonly abort?: AbortSignal
}

export interface ParticipantOutcome {
  /** Set when nothing was run: what blocked it before anything could. */
  readonly refused: Decision | null
  readonly exitCode: number | null
  readonly signal: string | null
  readonly killedBy: string | null
  readonly aborted: boolean
  /** Whole up to 16 MiB; what was beyond is cut and said so. */
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly isCut: boolean
  /** Processes that still ran two seconds after its end. */
  readonly left: number
  /** By the monotonic clock. */
  readonly seconds: number
}

/** What one operation of the tool channel came to. */
export interface OperationAnswer {
  readonly decision: Decision['decision']
  readonly codes: readonly string[]
  /** Null when it was blocked and not run. */
  readonly result: {
    readonly exit_code: number | null
    readonly stdout: string
    readonly stderr: string
    readonly truncated: boolean
  } | null
}

/**
 * What an attempt left behind, staged and on the record. An attempt in which nothing was run, asked for
 * or written leaves no proposal: then the three are null, the manifest is the empty one, and there is
 * nothing to promote or to drop.
 */
export interface HeldAttempt {
  readonly actionId: string
  readonly proposalDigest: Digest | null
  /** PROMOTE: may be promoted when approved. CONFIRM: a human is asked then. BLOCK: never. */
  readonly decision: Decision | null
  /** Also null when it was blocked before anything ran. */
  readonly result: SandboxResult | null
  /** Of all effects; names the stage. */
  readonly manifest: Digest
  /** Absolute paths of every change but of directories; the result lists only the first of them. */
  readonly paths: readonly string[]
  readonly refusedAccesses: readonly RefusedAccess[]
  /** Absolute paths that hold a secret of the participant; nothing of them is kept. */
  readonly leaks?: readonly string[]
}

export interface PromotedChange {
  /** As text; where it is none, as it is shown. */
  readonly path: string
  readonly change: Change
}

/** What an act changed in the tree, or what taking it back changed. */
export interface PromotedChanges {
  /** Of the fact. */
  readonly seq: number
  readonly actionId: string
  /** The run of a flow that it is of. */
  readonly runId: string | null
  /** Null when they are not kept any more. */
  readonly changes: readonly PromotedChange[] | null
}

/** What is shown of the changes of an attempt. */
export type HeldEffects = Pick<Question, 'changes' | 'deferred' | 'builds' | 'findings' | 'read'>

/** One attempt while it lasts. Its sandbox is open until `finish` or `abandon`. */
export interface Attempt {
  /**
   * The participant's own process, not for participants that are elsewhere. Once more when it is asked
   * again: it finds what it left, and that is a proposal of its own on the record.
   */
  run(command: ParticipantCommand): Promise<ParticipantOutcome>
  /**
   * An operation that the participant asked for: admitted like a proposal of its own inside the
   * attempt's declaration, judged by the laws that need no result, then carried out in the same
   * sandbox. Also while `run` lasts.
   */
  operate(operation: unknown): Promise<OperationAnswer>
  /**
   * Of what was traced so far, the accesses to what this participant may not read or write. Also for
   * who is then abandoned.
   */
  refusedAccesses(): readonly RefusedAccess[]
  /** Reads a file as the participant sees it now or left it; null when there is none. */
  read(path: string): Promise<Uint8Array | null>
  /**
   * Puts a file of the host (an artifact) into the view, also where the participant may not write. It
   * counts as an effect of the attempt, so `writes` has to hold the path.
   */
  write(path: string, bytes: Uint8Array): Promise<void>
  /** Scans, compares, judges, stages, records; the sandbox is closed. */
  finish(): Promise<HeldAttempt>
  /** As if it had not been; the record keeps that it was begun. */
  abandon(): Promise<void>
}

export interface AttemptSurface {
  /** Rejects with `flow.stage_void` when a base is neither held nor promoted. */
  begin(order: AttemptOrder): Promise<Attempt>
  /** A file of the tree as it is with these stages on it; null when there is none. */
  readStaged(bases: readonly string[], path: string): Promise<Uint8Array | null>
  /** The digest of a file as an attempt left it, by the record; null if it left none there. */
  leftDigest(actionId: string, path: string): Promise<string | null>
  /**
   * Idempotent: a stage that was promoted before answers as it did then. An answer that is neither
   * promoted nor pending ended the stage: BLOCK (`promote.conflict`, `flow.stage_void`, …) or a
   * human's no. It rejects, and the stage stays, when it can be tried again: `halted`, `laws.changed`,
   * `promote.busy`, `promote.no_space`, `flow.stage_void` while a base is not promoted yet.
   */
  promoteHeld(actionId: string, confirm: Confirm): Promise<GateAnswer>
  /** Acts whose promotion, or taking back, was recorded behind this fact; none is under way then. */
  promotedBehind(seq: number): Promise<readonly PromotedChanges[]>
  /** Returns whether a stage was promoted, also by a process that died before it could tell. */
  isPromoted(actionId: string): Promise<boolean>
  /** Idempotent. */
  dropHeld(actionId: string): Promise<void>
  /** Stages that are there, by action id. */
  held(): Promise<readonly string[]>
  /** What a held or promoted attempt changes, to be shown; null when it is no longer kept. */
  effects(actionId: string): Promise<HeldEffects | null>
}
