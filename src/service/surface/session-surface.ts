/**
 * What the gate offers to sessions of coding agents: each settle hands in what the agent changed so
 * far, in parts that are decided on their own (S-3), and gets back what became of each part.
 *
 * PROMISE (one lifecycle): a part goes the way of every act; what is promoted can be rolled back as one.
 * PROMISE (never widened): the proposal of a settle is derived from the descriptor of the session.
 */
import type { Socket } from 'node:net'
import type {
  ActionDescriptor,
  NetworkConnection,
  SessionFact,
  SessionMark,
} from '../../contracts/index.ts'
import type { PartKind, RawPath } from '../../gate/index.ts'
import type { OnRefused, RunProxy } from '../../network/index.ts'
import type { Control, Layer, Sandbox } from '../../sandbox/index.ts'
import type { OwnIds, Scan } from '../../tree/index.ts'
import type { CommandWish } from '../acts/command-plan.ts'
import type { knownRefs, PushWish } from '../acts/git-push.ts'
import type { BudgetWish } from '../acts/session-budget.ts'
import type { GateAnswer } from './surface.ts'

/** What a settle found in the view, or a part of it. */
export interface PendingPart extends Scan {
  /** Findings of the session itself, such as conflicts with the real tree. */
  readonly told: readonly SessionFinding[]
}

interface SessionFinding {
  readonly code: 'session.conflict'
  readonly path: RawPath
  readonly detail: string
}

/** What stays the same for all settles of a session. */
export interface SessionGround {
  readonly agent: string
  /** Recorded before the agent started; settles narrow it. */
  readonly descriptor: ActionDescriptor
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** Hosts that the session may reach. */
  readonly egress: readonly string[]
  readonly layers: readonly Layer[]
  readonly controls: readonly Control[]
}

/** HEAD of a git directory that a session moved: the commit from before, and those that it left. */
export interface MovedHead {
  /** Null if HEAD named no commit. */
  readonly base: string | null
  readonly own: readonly string[]
}

/** What a session knows of the bytes in the real tree. */
export interface SessionBytes {
  /** Changed entries whose bytes before are those that the session itself made real. */
  readonly wrote: ReadonlySet<RawPath>
  /** By git directory. */
  readonly heads: Readonly<Record<string, MovedHead>>
  /** Real links that the session made. */
  readonly links: readonly RawPath[]
}

export interface SettleOrder {
  readonly mark: SessionMark
  readonly part: PendingPart
  /** Changed or deleted entries that the session created, and whose bytes are still the session's. */
  readonly made: ReadonlySet<RawPath>
  readonly session: SessionBytes
  /** When the first of it can have been written. */
  readonly sinceMs: number
  readonly connections: readonly NetworkConnection[]
}

/** Pending changes by what would become of them; `dropped` are never promoted. */
export interface WeighedParts {
  readonly parts: Readonly<Record<PartKind, PendingPart>>
  readonly dropped: readonly RawPath[]
}

/** What a session's sandbox is opened with. */
export interface SessionSandboxOrder {
  readonly sessionId: string
  readonly descriptor: ActionDescriptor
  readonly hosts: readonly string[]
  readonly limits: {
    readonly memory_mb: number
    readonly disk_mb: number
    readonly seconds: number
  }
  /** Where its layers and private places lie, and stay. */
  readonly layers: string
  /** The directory of writ's own that the agent sees as its home. */
  readonly agentHome: string
  /** Directories of the person's home that hold the agent's program: they are seen. */
  readonly programs: readonly string[]
  readonly onRefused: OnRefused
  /** Takes connections of the agent to the session itself, on the address of the proxy. */
  readonly onOwn: (socket: Socket) => void
}

export interface OpenedSession {
  readonly sandbox: Sandbox
  /** What its view needs to know to read changes. */
  readonly reading: {
    readonly isRoot: boolean
    readonly ids: OwnIds | null
    readonly exclude: readonly string[]
    readonly scopeRoots: readonly string[]
    readonly maxBytes: number
  }
  readonly proxy: RunProxy
  readonly environment: Readonly<Record<string, string>>
}

export interface SessionSurface {
  /** Opens the sandbox of a session; the caller closes it, and the proxy after it. */
  open(order: SessionSandboxOrder): Promise<OpenedSession>
  /** Records the descriptor of a session; returns the refusal, or null when the agent may start. */
  begin(ground: Omit<SessionGround, 'layers' | 'controls'>): Promise<GateAnswer | null>
  /** Splits what is pending; nothing is recorded. */
  weigh(ground: SessionGround, order: SettleOrder): Promise<WeighedParts>
  /** Decides and records one part, and promotes it where no human is needed. */
  settle(ground: SessionGround, order: SettleOrder): Promise<GateAnswer>
  /** What became of the question of an act. */
  stateOf(actionId: string): Promise<QuestionState>
  /** Why a person denied an act; null if they did not say. */
  reasonOf(actionId: string): Promise<string | null>
  /** Paths of an act that a person did not take: they stay pending (N-4). */
  untaken(actionId: string): Promise<ReadonlySet<RawPath>>
  /** Ends the question of an act, because a newer one takes its place; false if it had ended. */
  supersede(actionId: string, by: string): Promise<boolean>
  /** The commits of HEAD in every git directory that changes of these paths can concern. */
  headsNear(paths: readonly RawPath[]): Readonly<Record<string, string | null>>
  /** The bytes of a file as the commit from before the session has it; null without them. */
  committed(path: RawPath, heads: SessionBytes['heads']): Uint8Array | null
  /** What the real repository knows of the references of a server. */
  knownRefs(
    tree: string,
    remote: string,
    among?: ReadonlySet<string> | null,
  ): Promise<readonly RemoteRefs[]>
  /** The references of all servers in the real repository, for `among`. */
  trackingRefs(tree: string): Promise<ReadonlySet<string>>
  /** Addresses of the real repository that only pushes use. */
  pushAddresses(tree: string): Promise<readonly string[]>
  /** Holds a push of a session and asks about it. */
  push(ground: Pick<SessionGround, 'agent' | 'descriptor'>, wish: PushWish): Promise<GateAnswer>
  /** Whether a person is asked about a command; others run inside. */
  isHeld(wish: Pick<CommandWish, 'argv' | 'program'>): boolean
  /** Holds a command of a session and asks about it. */
  command(
    ground: Pick<SessionGround, 'agent' | 'descriptor'>,
    wish: CommandWish,
  ): Promise<GateAnswer>
  /** Asks whether a session gets more of a budget that it used up; `pushState` says what became of it. */
  askBudget(
    ground: Pick<SessionGround, 'agent' | 'descriptor'>,
    wish: BudgetWish,
  ): Promise<GateAnswer>
  /** What a held command printed outside; empty before it ran. */
  commandOutput(actionId: string): string
  /** What became of a push or a command; `detail` says why it failed. */
  pushState(actionId: string): Promise<PushState>
  record(fact: SessionFact): Promise<void>
  facts(): Promise<readonly SessionFact[]>
}

type RemoteRefs = Awaited<ReturnType<typeof knownRefs>>[number]

export interface PushState {
  readonly state: QuestionState | 'failed' | 'unknown'
  readonly detail?: string
}

export type QuestionState = 'waiting' | 'promoted' | 'denied' | 'ended'
