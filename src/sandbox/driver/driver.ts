/**
 * What an isolation must offer the gate. One driver exists (Linux namespaces, overlayfs, bubblewrap);
 * another can be put in its place. A driver decides nothing: it runs, bounds, and tells.
 *
 * PROMISE (no weaker run): a control that the request asks for and the machine lacks is a
 *   `FaultError` with `sandbox.control_missing` before anything runs, never a run without it.
 * PROMISE (nothing real changes): processes inside change the upper layers only.
 * PROMISE (dead before read): when `run` resolves, every process of the run is gone, so layers are
 *   still and can be scanned.
 * PROMISE (no survivor): when the calling process dies by any signal, everything inside dies.
 */

import type { Server, Socket } from 'node:net'
import type { EnforcedBy, RunCap } from '../../contracts/index.ts'

export interface Caps {
  readonly cpuMs: number
  readonly memoryMb: number
  readonly diskMb: number
  readonly durationMs: number
  readonly processes: number
}

/** Which processes may use unix sockets: none, or those inside with each other. */
export type SocketProfile = 'none' | 'inside'

export interface SandboxRequest {
  readonly sandboxId: string
  /** Real paths of the scope's roots (directories, or the directories that hold named files). */
  readonly scopeRoots: readonly string[]
  /** Real paths of everything an overlay must cover besides: the workspace and the actor's home. */
  readonly watchedRoots: readonly string[]
  /** Real paths that are invisible inside: credentials, writ's state, bans of this actor. */
  readonly hidden: readonly string[]
  readonly caps: Caps
  readonly sockets: SocketProfile
  /** Every owner is known inside and can be given; root only (full map, namespaced capabilities). */
  readonly allOwners: boolean
  /** Real paths of directories that are empty and unwritable inside, but for the roots in them. */
  readonly emptied?: readonly string[]
  /** Real paths that are there inside and cannot be opened: bans of this actor. */
  readonly banned?: readonly string[]
  /** Real paths that are seen inside and cannot be changed. One that is not there yet can be made. */
  readonly readOnly?: readonly string[]
  /**
   * What lies over the real tree in this view, lowest first: directories that each hold a part of the
   * machine's tree, from its root on, as overlays write it down.
   */
  readonly bases?: readonly string[]
  /** Whether a command may get a channel to the host, and `runBeside` may run others next to it. */
  readonly hasChannel?: boolean
  /**
   * Only a command with a channel, and processes that inherit its standard output, write to it: no process
   * inside can open it again through `/proc` or `/dev/stdout`, to write or to read what is written.
   */
  readonly hasClosedOutput?: boolean
  /** The only way out, on the loopback inside; without it there is none. */
  readonly network?: NetworkDoor
  /**
   * Layers and private places lie in this directory of writ's own and stay there after `close`. A later
   * sandbox with the same directory continues on them. It lies outside of every root.
   */
  readonly kept?: { readonly directory: string }
  /** Directories of writ's own that are bound writable before the roots. */
  readonly private?: readonly PrivatePlace[]
}

interface PrivatePlace {
  /** A directory outside; mount points of roots inside `at` are made in it. */
  readonly from: string
  /** The path inside. */
  readonly at: string
}

/** Takes what comes in on a socket that listens inside a sandbox, for one run. */
export interface NetworkDoor {
  listenOn(server: Server): void
}

/** One command inside; several can be run one after another on the same layers (composites). */
export interface RunRequest {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array | 'empty' | NodeJS.ReadableStream
  /** Own pty inside: sizes come from here, `onResize` is called by the driver to learn of new ones. */
  readonly terminal: TerminalShape | null
  /** Every piece of output as it comes; with a terminal all of it is `stdout`. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void
  /** Aborted: everything inside is killed at once, the outcome says `aborted`. */
  readonly abort: AbortSignal
  /** On descriptor 3 of the command; needs a sandbox that was opened for it. */
  readonly channel?: ToolChannel
  /** Called once, when a command of a sandbox without a way out tries to reach a network. */
  readonly onUnreachable?: () => void
  /** Tells each access that was refused; slow. */
  readonly isTraced?: boolean
}

/** An access that a run tried in vain, by the path that it named. */
export interface RefusedAccess {
  readonly path: string
  readonly mode: 'read' | 'write' | 'exec'
}

/** Lines of a command, each answered with one line before the next is looked at. */
export interface ToolChannel {
  readonly onLine: (line: string) => Promise<string>
  /** The answer to a line of more than 1 MiB, which is not read. */
  readonly tooLong: string
}

/** A command that runs next to another one that has a channel. */
export type SideRequest = Pick<RunRequest, 'argv' | 'cwd' | 'env' | 'stdin' | 'onOutput'>

export interface TerminalShape {
  readonly rows: number
  readonly columns: number
  readonly onResize: (listener: (rows: number, columns: number) => void) => void
}

export interface RunOutcome {
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly exitCode: number | null
  readonly signal: string | null
  /** The cap that ended the run. */
  readonly killedBy: RunCap | null
  readonly aborted: boolean
  readonly resources: {
    readonly cpuMs: number
    readonly memoryPeakMb: number
    readonly diskMb: number
    readonly durationMs: number
    readonly processes: number
    readonly enforcedBy: Readonly<Partial<Record<RunCap, EnforcedBy>>>
  }
  /** Processes that still lived when the grace after the main process was over. */
  readonly backgroundProcesses: number
  /** Entries of the private `/tmp` that are thrown away with the sandbox; absent when there are none. */
  readonly leftovers?: number
  /** Of a run that was traced. */
  readonly refused?: readonly RefusedAccess[]
}

/** One overlay: the real directory, what was written above it, and both together. */
export interface Layer {
  /** The real path outside, which is the path inside. */
  readonly root: string
  /** Where what was before is read: the root itself, unless bases lie over it. */
  readonly lower?: string
  /** Reachable from this process while the sandbox is open. */
  readonly upper: string
  readonly merged: string
  /**
   * The device of an upper on a disk, whose entries may be moved away once the run is over. Null for
   * memory, and for a kept upper, whose entries stay.
   */
  readonly upperDevice: number | null
}

export interface Control {
  readonly name: string
  readonly profile?: string
  readonly detail?: string
}

/** How often each cap ended commands. */
export type EndedCommands = Readonly<Record<'memory' | 'processes' | 'disk', number>>

export interface Sandbox {
  readonly layers: readonly Layer[]
  readonly controls: readonly Control[]
  /** Forwarded to the command's process group inside: INT, QUIT, TSTP, CONT, TERM, HUP. */
  signal(name: NodeJS.Signals): void
  run(request: RunRequest): Promise<RunOutcome>
  /**
   * Runs a command next to the one that runs with a channel, one at a time, under the same caps. Resolves
   * to the exit status, or null if the run ended first. Rejects if no command with a channel runs.
   */
  runBeside(request: SideRequest): Promise<number | null>
  /**
   * Connects to a port on the loopback inside. Resolves to null if nothing listens there, no command
   * runs, or the sandbox has no network door.
   */
  connectInside(port: number): Promise<Socket | null>
  /** Gives the command that runs more time. */
  extend(byMs: number): void
  /**
   * How often commands were ended because a cap was passed, in a sandbox whose layers are kept: there
   * the run goes on, and only time ends it.
   */
  endedCommands(): EndedCommands
  /** Outer ids of the processes inside, parents before children, without writ's own. */
  processes(): readonly number[]
  /**
   * The same with writ's own shells and the relay of the terminal. The first process is not among them:
   * ordinary users cannot look at it, and while everything is stopped it uses nothing of the tree.
   */
  allProcesses(): readonly number[]
  /**
   * Stops the processes inside; the returned function, which is idempotent, lets them continue. A
   * process that was stopped before stays so. Fails if a process does not stop in time.
   */
  freeze(): Promise<() => void>
  /** Works on the mounts of a kept sandbox; null for others. */
  readonly keeper: Keeper | null
  /** Kills what is left, unmounts, removes what is not kept. Idempotent; layers are gone afterwards. */
  close(): Promise<void>
}

/**
 * One task for the keeper, in its answer's letters. Paths are bytes, one character each.
 *
 * - `mark`, `unmark`: sets or removes the mark of an opaque directory in an upper layer (`1`)
 * - `marked`: whether it has one (`1`, `0`)
 * - `whiteout`: makes a mark in an upper layer that hides the real entry at that name (`1`)
 * - `origin`: whether an upper file was copied from `other`, a file of the real tree: `=` yes, `!` no,
 *   `-` if the upper file does not say
 * - `strip`: as `origin`, and removes what the upper file says of it unless the answer is `=`
 * - `lease`: whether an upper file is in use: `f` no, `r` open, `w` open for writing, `e` not known
 * - `files`: what the process with the number `path` has open, also one that keeps its user from looking:
 *   `+`, then for each open file `flags,path,inodes` with the flags in octal, the path in hex, and the
 *   inodes of the file, of the directories above a directory and of what it watches; `e` if not known
 */
export interface KeeperTask {
  readonly does:
    | 'mark'
    | 'unmark'
    | 'marked'
    | 'whiteout'
    | 'origin'
    | 'strip'
    | 'lease'
    | 'files'
    | 'threads'
  readonly path: string
  readonly other?: string
}

export interface Keeper {
  /** Drops every name of the layer that the kernel has cached and no process uses. */
  remount(layer: Layer): Promise<void>
  /** Answers in the order of the tasks; fails if one could not be done. */
  ask(tasks: readonly KeeperTask[]): Promise<readonly string[]>
}

/** What `writ doctor` prints: each control was tried as this user. */
export interface Probe {
  readonly name: string
  readonly status: 'kernel' | 'polled' | 'absent'
  /** The one command that repairs it, or what it means. */
  readonly hint?: string
}

export interface SandboxDriver {
  readonly name: string
  probe(): Promise<readonly Probe[]>
  /** Begins to make what will most likely be opened next; another request is served as ever. */
  anticipate(request: SandboxRequest): void
  open(request: SandboxRequest): Promise<Sandbox>
  /** Closes every sandbox that is still open. */
  close(): Promise<void>
}
