/**
 * Settles a session (S-3): stops its processes for a moment, finds what differs from the real tree,
 * lets the gate decide about it in parts, and makes the view show the result.
 *
 * INVARIANT (one question): a session has at most one open question. It is replaced only when the bytes
 *   that it is about changed, and not while a person looks at it.
 * INVARIANT (nothing twice): changes that were blocked, denied or are asked about are not proposed
 *   again before they change.
 */
import { digestDocument } from '../base/index.ts'
import type { NetworkConnection, SessionMark } from '../contracts/index.ts'
import { type Change, displayOfRaw, type RawPath, rawOfText } from '../gate/index.ts'
import type {
  GateAnswer,
  PendingPart,
  SessionGround,
  SessionSurface,
  SettleOrder,
} from '../service/index.ts'
import type { FrozenView, LiveView, PendingScan, ViewConflict } from '../view/index.ts'
import {
  type Commits,
  type LeftRow,
  leftRows,
  madeLinks,
  ownChanges,
  withHeads,
  withLeft,
} from './left-bytes.ts'
import type { OpenQuestion, SessionFiles, SessionMemory } from './session-files.ts'

export type SettleCause = Pick<SessionMark, 'boundary' | 'programs' | 'tool'>

/** What one settle did; every answer is on the record. */
export interface Settled {
  readonly promoted: GateAnswer | null
  readonly asked: GateAnswer | null
  readonly blocked: GateAnswer | null
  /** Changed files that a process has open for writing: they stay pending. */
  readonly busy: readonly string[]
  /** Paths that the agent still sees as they were, because a process uses them. */
  readonly stale: readonly string[]
  /** How a question ended since the settle before. */
  readonly answered: 'promoted' | 'denied' | 'ended' | null
}

/** What is pending, with why it is; as one JSON document. */
export interface PendingChanges {
  readonly changes: readonly Change[]
  readonly conflicts: readonly { readonly path: string; readonly detail: string }[]
  /** Paths that the open question is about, that were refused, that a process writes to. */
  readonly asked: readonly RawPath[]
  readonly refused: readonly RawPath[]
  readonly busy: readonly RawPath[]
  readonly question: string | null
  /** Where the bytes of the changes lie. */
  readonly layers: readonly { readonly root: string; readonly upper: string }[]
}

interface SettlerParts {
  readonly surface: SessionSurface
  readonly view: LiveView
  readonly ground: SessionGround
  readonly files: SessionFiles
  readonly isDeclared: boolean
  readonly nowMs: () => number
  /** What went out since it was asked last. */
  readonly connections: () => readonly NetworkConnection[]
  /** Whether changes of the real tree come to `refresh` by themselves. */
  readonly isWatched: () => boolean
  /** Whether a person looks at a question now. */
  readonly isLookedAt: (actionId: string) => boolean
}

/** How long changes wait that could not be promoted, although the gate lets them. */
const HINDERED_MS = 60_000

const NO_CHANGES = { changes: [], conflicts: [], asked: [], refused: [], busy: [] }

const NOTHING: Settled = {
  promoted: null,
  asked: null,
  blocked: null,
  busy: [],
  stale: [],
  answered: null,
}

export class Settler {
  readonly #parts: SettlerParts
  #memory: SessionMemory
  #sinceMs: number
  /** Changes that something stood in the way of, such as a full disk, and when they are tried again. */
  #hindered: {
    readonly states: Readonly<Record<string, string>>
    readonly untilMs: number
  } | null = null
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: SettlerParts) {
    this.#parts = parts
    this.#memory = parts.files.memory()
    this.#sinceMs = parts.nowMs()
    this.#noteEarlierHeads()
  }

  /** The question that waits; null without one. */
  get question(): OpenQuestion | null {
    return this.#memory.question
  }

  get count(): number {
    return this.#memory.settles
  }

  /** One settle after another. */
  settle(cause: SettleCause): Promise<Settled> {
    const turn = this.#turn.then(() => this.#settle(cause))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  /** Everything that differs from the real tree now, for people who look. */
  pending(): Promise<PendingChanges> {
    const turn = this.#turn.then(() => this.#pending())
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #pending(): Promise<PendingChanges> {
    const { view, ground } = this.#parts
    const { question, refused } = this.#memory
    const layers = ground.layers.map(({ root, upper }) => ({ root, upper }))
    if (!(await view.hasPending())) {
      return { ...NO_CHANGES, question: question?.action_id ?? null, layers }
    }
    const frozen = await view.freeze()
    try {
      const { changes, conflicts } = await frozen.scan()
      const asked = question?.states ?? {}
      return {
        changes,
        conflicts: conflicts.map((conflict) => {
          return { path: displayOfRaw(conflict.path), detail: conflictWords(conflict) }
        }),
        asked: changes.filter(({ path }) => Object.hasOwn(asked, path)).map(({ path }) => path),
        refused: changes.filter(({ path }) => Object.hasOwn(refused, path)).map(({ path }) => path),
        busy: [...frozen.busy],
        question: question?.action_id ?? null,
        layers,
      }
    } finally {
      frozen.thaw()
    }
  }

  /** Takes what is equal to the real tree out of the view. */
  async prune(): Promise<void> {
    const frozen = await this.#parts.view.freeze()
    try {
      await frozen.prune([])
    } finally {
      frozen.thaw()
    }
  }

  /**
   * Shows the agent what others changed at these paths of the real tree, or anywhere for null; in turn
   * with settles. What a settle made real itself is shown already.
   */
  refresh(paths: readonly string[] | null): void {
    const { view } = this.#parts
    this.#turn = this.#turn
      .then(() => (paths === null || view.hasNews(paths) ? view.refresh(paths ?? []) : null))
      .catch(() => undefined)
  }

  /** Takes changes out of the view; returns those that a process uses, which stay. */
  discard(paths: readonly RawPath[]): Promise<readonly RawPath[]> {
    const turn = this.#turn.then(() => this.#discard(paths))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #discard(paths: readonly RawPath[]): Promise<readonly RawPath[]> {
    const frozen = await this.#parts.view.freeze()
    try {
      const { refused } = await frozen.discard(paths)
      return refused.map(({ path }) => path)
    } finally {
      frozen.thaw()
    }
  }

  async #settle(cause: SettleCause): Promise<Settled> {
    const { view } = this.#parts
    const answered = await this.#followQuestion()
    if (!(await view.hasPending())) {
      await this.#withdraw()
      return { ...NOTHING, answered }
    }
    const frozen = await view.freeze()
    try {
      const settled = await this.#decide(frozen, cause)
      return { ...settled, answered }
    } finally {
      frozen.thaw()
      this.#parts.files.remember(this.#memory)
    }
  }

  /** Notices what became of the open question, which is answered in another process. */
  async #followQuestion(): Promise<Settled['answered']> {
    const { question } = this.#memory
    if (question === null) return null
    const state = await this.#parts.surface.stateOf(question.action_id)
    if (state === 'waiting') return null
    const refused =
      state === 'denied' ? { ...this.#memory.refused, ...question.states } : this.#memory.refused
    this.#memory = { ...this.#memory, question: null, refused }
    if (state === 'promoted') this.#notePromoted(question)
    return state
  }

  /** Notes what an act left that a person approved. */
  #notePromoted({ leaves = [], heads = {} }: OpenQuestion): void {
    this.#noteLeft(leaves)
    // The rows hold raw paths.
    const paths = leaves.map(([path]) => path as RawPath)
    this.#noteHeads(heads, this.#parts.surface.headsNear(paths))
  }

  async #decide(frozen: FrozenView, cause: SettleCause): Promise<Omit<Settled, 'answered'>> {
    const scan = await frozen.scan()
    const whole = pendingPart(scan, frozen.busy)
    const { question } = this.#memory
    const isOvertaken = question !== null && this.#isOvertaken(question, whole.changes)
    const isSettled = this.#isSettled(isOvertaken)
    const isHindered = this.#isHindered(cause, whole.changes)
    const rest = without(whole, (change) => isSettled(change) || isHindered(change))
    const order = this.#order(cause, rest)
    const written = scan.changes.filter(({ path }) => frozen.busy.has(path))
    const busy = written.map(({ path }) => displayOfRaw(path))
    const { surface, ground } = this.#parts
    const hasChanges = rest.changes.length > 0
    const weighed = hasChanges ? await surface.weigh(ground, order) : null
    const parts = weighed?.parts ?? null
    const isAlone = parts !== null && (await this.#isGranted(order, parts.granted))
    const granted = isAlone ? parts.granted : NO_PART
    const asked =
      parts === null || isAlone ? (parts?.asked ?? NO_PART) : united(parts.granted, parts.asked)
    await frozen.prepare([...granted.changes, ...asked.changes])
    const promoted = await this.#settlePart(order, granted)
    if (promoted?.promoted === true) this.#noteLeft(leftRows(granted.changes))
    this.#hindered =
      promoted?.promoted === false
        ? { states: statesOf(granted.changes), untilMs: this.#parts.nowMs() + HINDERED_MS }
        : this.#hindered
    const answer = this.#mayAsk(isOvertaken) ? await this.#ask(order, asked, isOvertaken) : null
    const blocked = await this.#settlePart(order, parts?.blocked ?? NO_PART)
    if (blocked !== null) this.#refuse(parts?.blocked.changes ?? [])
    const applied = promoted?.promoted === true ? granted.changes : []
    const { stale } = await frozen.prune(applied, this.#parts.isWatched())
    this.#sinceMs = this.#parts.nowMs()
    return {
      promoted,
      asked: answer,
      blocked,
      busy,
      stale: stale.map(({ path }) => displayOfRaw(path)),
    }
  }

  /** Whether the part that needs no human by its findings needs none by the laws either. */
  async #isGranted(order: SettleOrder, part: PendingPart): Promise<boolean> {
    if (part.changes.length === order.part.changes.length) return true
    if (part.changes.length === 0) return true
    const { parts } = await this.#parts.surface.weigh(this.#parts.ground, { ...order, part })
    return parts.granted.changes.length === part.changes.length
  }

  #mayAsk(isOvertaken: boolean): boolean {
    return this.#memory.question === null || isOvertaken
  }

  async #ask(
    order: SettleOrder,
    part: PendingPart,
    isOvertaken: boolean,
  ): Promise<GateAnswer | null> {
    const heads = this.#parts.surface.headsNear(part.changes.map(({ path }) => path))
    const answer = await this.#settlePart(order, part)
    if (isOvertaken) await this.#supersede(answer?.action_id)
    if (answer === null) return null
    const [states, leaves] = [statesOf(part.changes), leftRows(part.changes)]
    if (answer.pending !== undefined) {
      const question = { action_id: answer.action_id, states, leaves, heads }
      this.#memory = { ...this.#memory, question }
    } else if (answer.promoted) this.#noteLeft(leaves)
    else this.#refuse(part.changes)
    return answer
  }

  /** Ends the question of an agent that took back everything it is about, unless a person looks at it. */
  async #withdraw(): Promise<void> {
    const { question } = this.#memory
    if (question === null || this.#parts.isLookedAt(question.action_id)) return
    await this.#supersede(undefined)
    this.#parts.files.remember(this.#memory)
  }

  /** Without a newer question, the act of the session itself is named. */
  async #supersede(by: string | undefined): Promise<void> {
    const { question } = this.#memory
    const { surface, ground } = this.#parts
    if (question === null) return
    await surface.supersede(question.action_id, by ?? ground.descriptor.action_id)
    this.#memory = { ...this.#memory, question: null }
  }

  async #settlePart(order: SettleOrder, part: PendingPart): Promise<GateAnswer | null> {
    if (part.changes.length === 0) return null
    const { surface, ground } = this.#parts
    const paths = part.changes.map(({ path }) => path)
    // A part that was promoted before this one may have moved HEAD.
    const session = { ...order.session, heads: this.#memory.heads }
    return this.#withHeads(paths, () => surface.settle(ground, { ...order, part, session }))
  }

  #order(cause: SettleCause, part: PendingPart): SettleOrder {
    const { files, isDeclared, connections } = this.#parts
    const settle = this.#memory.settles + 1
    this.#memory = { ...this.#memory, settles: settle }
    const { made, wrote } = ownChanges(this.#memory.left, part.changes)
    return {
      mark: { session_id: files.id, settle, declared: isDeclared, ...cause },
      part,
      made,
      session: { wrote, heads: this.#memory.heads, links: madeLinks(this.#memory.left) },
      sinceMs: this.#sinceMs,
      connections: connections(),
    }
  }

  /** Whether bytes that the question is about changed since, and no person looks at it. */
  #isOvertaken({ action_id, states }: OpenQuestion, changes: readonly Change[]): boolean {
    return !isStill(states, changes) && !this.#parts.isLookedAt(action_id)
  }

  /** Tells changes that wait or were refused as they are. */
  #isSettled(isOvertaken: boolean): (change: Change) => boolean {
    const { question, refused } = this.#memory
    const asked = question === null || isOvertaken ? {} : question.states
    return (change) => {
      // Not by its state: while a person looks at the question, its paths wait.
      if (Object.hasOwn(asked, change.path)) return true
      return Object.hasOwn(refused, change.path) && refused[change.path] === stateOf(change)
    }
  }

  /** Only a settle that comes by itself waits: a person and the end of the session try at once. */
  #isHindered({ boundary }: SettleCause, changes: readonly Change[]): (change: Change) => boolean {
    const { states, untilMs } = this.#hindered ?? { states: {}, untilMs: 0 }
    const isAsked = boundary !== 'quiet' && boundary !== 'tool'
    if (isAsked || this.#parts.nowMs() > untilMs || !isStill(states, changes)) return () => false
    return ({ path }) => Object.hasOwn(states, path)
  }

  #refuse(changes: readonly Change[]): void {
    this.#memory = { ...this.#memory, refused: { ...this.#memory.refused, ...statesOf(changes) } }
  }

  /** Notes what an act of the session left: bytes, and commits of HEAD. */
  #noteLeft(rows: readonly LeftRow[]): void {
    const refused = { ...this.#memory.refused }
    for (const [path] of rows) delete refused[path]
    this.#memory = { ...this.#memory, left: withLeft(this.#memory.left, rows), refused }
  }

  /**
   * Runs what may promote changes, and notes which commits it left as HEAD. The directories are
   * remembered before, so that a process which goes on after a kill knows them.
   */
  async #withHeads<T>(paths: readonly RawPath[], work: () => Promise<T>): Promise<T> {
    const { surface, files } = this.#parts
    const before = surface.headsNear(paths)
    if (Object.keys(before).length === 0) return work()
    this.#noteHeads(before, before)
    files.remember(this.#memory)
    try {
      return await work()
    } finally {
      this.#noteHeads(before, surface.headsNear(paths))
    }
  }

  #noteHeads(before: Commits, after: Commits): void {
    this.#memory = { ...this.#memory, heads: withHeads(this.#memory.heads, before, after) }
  }

  /** What an earlier process of the session left as HEAD is the session's, unless it is as before. */
  #noteEarlierHeads(): void {
    const directories = Object.entries(this.#memory.heads)
    const paths = directories.map(([directory]) => rawOfText(`${directory}/HEAD`))
    const bases = Object.fromEntries(directories.map(([name, { base }]) => [name, base]))
    this.#noteHeads(bases, this.#parts.surface.headsNear(paths))
  }
}

const NO_PART: PendingPart = { changes: [], findings: [], emptied: [], told: [] }

function pendingPart(scan: PendingScan, busy: ReadonlySet<RawPath>): PendingPart {
  const { changes, findings, emptied, conflicts } = scan
  const told = conflicts.map((conflict) => ({
    code: 'session.conflict' as const,
    path: conflict.path,
    detail: conflictWords(conflict),
  }))
  return without({ changes, findings, emptied, told }, ({ path }) => busy.has(path))
}

/** Names both sides, and what the agent can do about it. */
function conflictWords({ real, view }: ViewConflict): string {
  const side = (state: ViewConflict['real']): string => (state === null ? 'deleted' : 'changed')
  return `${side(view)} in the session and ${side(real)} in the real tree since; read it again`
}

/** The rest of a part, without the changes that `isOut` tells. */
function without(part: PendingPart, isOut: (change: Change) => boolean): PendingPart {
  const gone = new Set(part.changes.filter(isOut).map(({ path }) => path))
  if (gone.size === 0) return part
  const stays = ({ path }: { readonly path: RawPath }): boolean => !gone.has(path)
  return {
    changes: part.changes.filter(stays),
    findings: part.findings.filter(stays),
    emptied: part.emptied.filter(stays),
    told: part.told.filter(stays),
  }
}

function united(one: PendingPart, other: PendingPart): PendingPart {
  const changes = [...one.changes, ...other.changes].sort(({ path: a }, { path: b }) =>
    a < b ? -1 : 1,
  )
  return {
    changes,
    findings: [...one.findings, ...other.findings],
    emptied: [...one.emptied, ...other.emptied],
    told: [...one.told, ...other.told],
  }
}

/** Whether these states are still pending as they were. */
function isStill(states: Readonly<Record<string, string>>, changes: readonly Change[]): boolean {
  const now = statesOf(changes)
  return Object.entries(states).every(([path, state]) => now[path] === state)
}

function statesOf(changes: readonly Change[]): Readonly<Record<string, string>> {
  return Object.fromEntries(changes.map((change) => [change.path, stateOf(change)]))
}

/** One word for both sides of a change; times are no part of it. */
function stateOf({ before, after }: Change): string {
  const side = (state: Change['after']) =>
    state === null ? null : { ...state, mtimeNs: null, linkGroup: null }
  return digestDocument({ before: side(before), after: side(after) })
}
