/**
 * Settles a session (S-3): stops its processes for a moment, finds what differs from the real tree,
 * lets the gate decide about it in parts, and makes the view show the result.
 *
 * INVARIANT (one question): a session has at most one open question. It is replaced only when the bytes
 *   that it is about changed or more has to be asked about, and not while a person looks at it.
 * INVARIANT (nothing twice): changes that were blocked, denied or are asked about are not proposed
 *   again before they change.
 */
import type { NetworkConnection } from '../contracts/index.ts'
import { type Change, displayOfRaw, type RawPath, rawOfText } from '../gate/index.ts'
import type { GateAnswer, PendingPart, SettleOrder } from '../service/index.ts'
import type { FrozenView, PendingScan } from '../view/index.ts'
import { withAnswer } from './answer-notes.ts'
import {
  type Commits,
  type LeftRow,
  leftRows,
  madeLinks,
  ownChanges,
  withEarlierHeads,
  withLeft,
} from './left/left-bytes.ts'
import { type Hindered, hinderedIn, settledIn, withoutAltered } from './left-out.ts'
import {
  isCutOff,
  isStill,
  leftEntries,
  NO_PART,
  notDiscarded,
  pendingPart,
  reasonsOf,
  shownConflicts,
  solvedConflicts,
  splitPart,
  statesOf,
  swept,
  united,
  without,
  withoutHeld,
  withoutRows,
} from './pending-part.ts'
import type { OpenQuestion, SessionMemory } from './session-files.ts'
import {
  NO_CHANGES,
  NOTHING,
  type NotDiscarded,
  type PendingChanges,
  type SettleCause,
  type Settled,
  type SettlerParts,
} from './settled.ts'
import { StalePaths } from './stale-paths.ts'

/** How long changes wait that could not be promoted, although the gate lets them. */
const HINDERED_MS = 60_000
const NOTHING_LEFT: ReadonlySet<string> = new Set()

export class Settler {
  readonly #parts: SettlerParts
  readonly #stale = new StalePaths()
  #memory: SessionMemory
  #sinceMs: number
  /** Changes that something stood in the way of, such as a full disk, and when they are tried again. */
  #hindered: Hindered | null = null
  /** A question was answered, and the view hides the real tree there still. */
  #isUnshown = false
  /** As the last settle found them. */
  #conflicts: ReadonlySet<RawPath> = new Set()
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

  /** One settle after another. In the conflicts of `take`, a person takes the side of the session. */
  settle(cause: SettleCause, take: readonly RawPath[] = []): Promise<Settled> {
    return this.#inTurn(() => this.#settle(cause, new Set(take)))
  }

  /** Whether the last settle found that others changed it too. */
  isConflict(path: RawPath): boolean {
    return this.#conflicts.has(path)
  }

  /** Notes which real version of a path the agent gets. */
  noteRead(path: RawPath, word: string): void {
    this.#memory = { ...this.#memory, read: { ...this.#memory.read, [path]: word } }
  }

  /** Everything that differs from the real tree now, for people who look. */
  pending(): Promise<PendingChanges> {
    return this.#inTurn(() => this.#pending())
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #pending(): Promise<PendingChanges> {
    const { view, ground } = this.#parts
    await this.#notice()
    const { question } = this.#memory
    const layers = ground.layers.map(({ root, upper }) => ({ root, upper }))
    if (!(this.#stale.isDue || (await view.hasPending()))) {
      return { ...NO_CHANGES, question: question?.action_id ?? null, layers }
    }
    const frozen = await view.freeze()
    try {
      const scan = await frozen.scan()
      const changes = await this.#withoutDropped(scan)
      return {
        changes,
        conflicts: shownConflicts(scan),
        reasons: reasonsOf(changes, scan.conflicts, frozen.busy, this.#memory),
        stale: this.#stale.with(scan.stale),
        left: leftEntries(scan),
        question: question?.action_id ?? null,
        layers,
      }
    } finally {
      frozen.thaw()
    }
  }

  /** Without those that never become real, such as logs in caches of the home. */
  async #withoutDropped(scan: PendingScan): Promise<readonly Change[]> {
    if (scan.changes.length === 0) return []
    const { surface, ground } = this.#parts
    const order = this.#orderOf({ boundary: 'command' }, pendingPart(scan), [])
    const dropped = new Set((await surface.weigh(ground, order)).dropped)
    return scan.changes.filter(({ path }) => !dropped.has(path))
  }

  /** Takes what is equal to the real tree out of the view. */
  async prune(): Promise<void> {
    const frozen = await this.#freeze()
    try {
      this.#stale.expect((await frozen.prune([])).stale)
      this.#isUnshown = false
    } finally {
      frozen.thaw()
    }
  }

  /**
   * Notices an answer of a person and shows the real tree again where the question was, without a
   * settle: until then the view would hide what others change there (S-1).
   */
  async notice(): Promise<void> {
    if (this.#memory.question === null && !this.#isUnshown) return
    await this.#inTurn(() => this.#notice())
  }

  async #notice(): Promise<void> {
    const { question } = this.#memory
    await this.#followQuestion()
    if (this.#memory.question !== question) this.#parts.files.remember(this.#memory)
    if (this.#isUnshown) await this.prune()
  }

  /**
   * Shows the agent what others changed at these paths of the real tree, or anywhere for null; in turn
   * with settles. What a settle made real itself is shown already.
   */
  refresh(paths: readonly string[] | null): void {
    const { view } = this.#parts
    this.#turn = this.#turn
      .then(async () => {
        await this.#notice()
        if (paths !== null && !view.hasNews(paths)) return
        this.#stale.expect((await view.refresh(paths ?? [])).stale)
      })
      .catch(() => undefined)
  }

  /** Takes changes out of the view; returns those that stay. */
  discard(paths: readonly RawPath[]): Promise<NotDiscarded> {
    return this.#inTurn(() => this.#discard(paths))
  }

  async #discard(paths: readonly RawPath[]): Promise<NotDiscarded> {
    await this.#followQuestion()
    const frozen = await this.#freeze()
    try {
      const { refused, hidden } = await frozen.discard(paths)
      await this.#askAboutRest(frozen)
      return notDiscarded(refused, hidden)
    } finally {
      frozen.thaw()
      this.#parts.files.remember(this.#memory)
    }
  }

  /** Replaces a question that holds a discarded change, also while a person looks at it. */
  async #askAboutRest(frozen: FrozenView): Promise<void> {
    const { question } = this.#memory
    if (question === null) return
    const scan = await frozen.scan()
    if (isStill(question.states, scan.changes)) return
    const isOther = ({ path }: Change): boolean => !Object.hasOwn(question.states, path)
    const part = without(pendingPart(scan, frozen.busy), isOther)
    const order = this.#order({ boundary: 'command' }, part)
    const { asked } = await splitPart(this.#parts, order)
    await frozen.prepare(asked.changes)
    this.#expect(frozen, await this.#ask(order, asked, true), asked)
  }

  /**
   * Whether nothing is pending and no question waits. Notices an answer first, and takes what became
   * real out of the view.
   */
  isOver(): Promise<boolean> {
    return this.#inTurn(() => this.#isOver())
  }

  async #isOver(): Promise<boolean> {
    await this.#notice()
    if (this.#memory.question !== null) return false
    if (!(await this.#parts.view.hasPending())) return true
    await this.prune()
    return (await this.#pending()).changes.length === 0
  }

  async #settle(cause: SettleCause, take: ReadonlySet<RawPath>): Promise<Settled> {
    const { view, files } = this.#parts
    await this.#followQuestion()
    const { answered = null } = this.#memory
    if (!(this.#stale.isDue || (await view.hasPending()))) {
      this.#memory = { ...this.#memory, answered: null }
      await this.#withdraw()
      if (answered !== null) files.remember(this.#memory)
      return { ...NOTHING, answered }
    }
    const frozen = await this.#freeze()
    this.#memory = { ...this.#memory, answered: null }
    try {
      const settled = await this.#decide(frozen, cause, take)
      this.#isUnshown = false
      return { ...settled, answered }
    } finally {
      frozen.thaw()
      files.remember(this.#memory)
    }
  }

  /** Stops the processes; the view then knows what a person answered. */
  async #freeze(): Promise<FrozenView> {
    const frozen = await this.#parts.view.freeze()
    const { answered = null } = this.#memory
    if (answered === null) return frozen
    const left = new Set<string>(answered.left)
    frozen.answered((path) => answered.how === 'promoted' && !left.has(path))
    return frozen
  }

  /** Tells the view what a question is about: a yes makes that real while the agent goes on. */
  #expect(frozen: FrozenView, answer: GateAnswer | null, asked: PendingPart): void {
    if (answer?.pending !== undefined) frozen.expect(asked.changes)
    else if (this.#memory.question === null) frozen.expect([])
  }

  /** Notices what became of the open question, which is answered in another process. */
  async #followQuestion(): Promise<void> {
    const { question } = this.#memory
    if (question === null) return
    const { surface } = this.#parts
    const how = await surface.stateOf(question.action_id)
    if (how === 'waiting') return
    const ended = {
      how,
      reason: how === 'denied' ? await surface.reasonOf(question.action_id) : null,
      untaken: how === 'promoted' ? await surface.untaken(question.action_id) : NOTHING_LEFT,
    }
    this.#memory = withAnswer(this.#memory, question, ended)
    this.#isUnshown = true
    if (how !== 'promoted') return
    const leaves = question.leaves?.filter(([path]) => !ended.untaken.has(path)) ?? []
    this.#notePromoted({ ...question, leaves })
  }

  /** Notes what an act left that a person approved. */
  #notePromoted({ leaves = [], heads = {} }: OpenQuestion): void {
    this.#noteLeft(leaves)
    // The rows hold raw paths.
    const paths = leaves.map(([path]) => path as RawPath)
    this.#noteHeads(heads, this.#parts.surface.headsNear(paths))
  }

  async #decide(
    frozen: FrozenView,
    cause: SettleCause,
    take: ReadonlySet<RawPath>,
  ): Promise<Omit<Settled, 'answered'>> {
    const scan = await this.#scanned(frozen, take)
    const whole = pendingPart(scan, frozen.busy)
    this.#memory = withoutAltered(this.#memory, scan)
    const { question } = this.#memory
    const isOvertaken = question !== null && this.#isOvertaken(question, scan, whole.changes)
    const isSettled = settledIn(this.#memory, isOvertaken)
    const isHindered = hinderedIn(this.#hindered, cause, this.#parts.nowMs(), whole.changes)
    const isLeft = (change: Change): boolean => isSettled(change) || isHindered(change)
    const rest = without(withoutHeld(whole, isLeft), ({ path }) => isCutOff(path, scan))
    const order = this.#order(cause, rest, whole.changes)
    const written = scan.changes.filter(({ path }) => frozen.busy.has(path))
    const busy = written.map(({ path }) => displayOfRaw(path))
    const parts = await splitPart(this.#parts, order)
    const { granted, blocked: refused } = parts
    const isReplaced = isOvertaken || this.#isTooNarrow(parts.asked)
    const asked = isOvertaken ? parts.asked : united(parts.asked, this.#askedOf(whole, parts.asked))
    await frozen.prepare([...granted.changes, ...asked.changes])
    const promoted = await this.#settlePart(order, granted)
    if (promoted?.promoted === true) this.#noteLeft(leftRows(granted.changes))
    this.#hindered =
      promoted?.promoted === false
        ? { states: statesOf(granted.changes), untilMs: this.#parts.nowMs() + HINDERED_MS }
        : this.#hindered
    const mayAsk = this.#memory.question === null || isReplaced
    const answer = mayAsk ? await this.#ask(order, asked, isReplaced) : null
    this.#expect(frozen, answer, asked)
    const blocked = await this.#settlePart(order, refused)
    if (blocked !== null) this.#refuse(refused.changes)
    const applied = promoted?.promoted === true ? granted.changes : []
    const left = await swept(frozen, applied, this.#parts.isWatched())
    const stale = this.#stale.note(left)
    this.#sinceMs = this.#parts.nowMs()
    return { promoted, asked: answer, blocked, busy, stale }
  }

  /** A conflict is solved by a person, or if the agent read the real version and changed its own since. */
  async #scanned(frozen: FrozenView, take: ReadonlySet<RawPath>): Promise<PendingScan> {
    const scan = await frozen.scan()
    this.#conflicts = new Set(scan.conflicts.map(({ path }) => path))
    const { read = {}, refused } = this.#memory
    const solved = solvedConflicts(scan, frozen.busy, take, { read, refused })
    if (solved.length === 0) return scan
    frozen.rebase(solved)
    this.#memory = {
      ...this.#memory,
      read: withoutRows(read, solved),
      refused: withoutRows(refused, solved),
    }
    return frozen.scan()
  }

  /** Whether more has to be asked about than the open question covers, and no person looks at it. */
  #isTooNarrow(more: PendingPart): boolean {
    const { question } = this.#memory
    return (
      question !== null && more.changes.length > 0 && !this.#parts.isLookedAt(question.action_id)
    )
  }

  /** What the open question is about, as it is pending now, if more has to be asked about. */
  #askedOf(whole: PendingPart, more: PendingPart): PendingPart {
    const { states } = this.#memory.question ?? { states: {} }
    if (!this.#isTooNarrow(more)) return NO_PART
    return without(whole, ({ path }) => !Object.hasOwn(states, path))
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
    const { surface, ground, files } = this.#parts
    const paths = part.changes.map(({ path }) => path)
    // A part that was promoted before this one may have moved HEAD.
    const session = { ...order.session, heads: files.headsOfAll(this.#memory) }
    return this.#withHeads(paths, () => surface.settle(ground, { ...order, part, session }))
  }

  /** `changes`: all that the parts of the order can hold. */
  #order(cause: SettleCause, part: PendingPart, changes = part.changes): SettleOrder {
    this.#memory = { ...this.#memory, settles: this.#memory.settles + 1 }
    return this.#orderOf(cause, part, this.#parts.connections(), changes)
  }

  #orderOf(
    cause: SettleCause,
    part: PendingPart,
    connections: readonly NetworkConnection[],
    changes = part.changes,
  ): SettleOrder {
    const { files, isDeclared } = this.#parts
    const { settles: settle, left } = this.#memory
    const { made, wrote } = ownChanges(left, changes)
    return {
      mark: { session_id: files.id, settle, declared: isDeclared, ...cause },
      part,
      made,
      session: { wrote, heads: files.headsOfAll(this.#memory), links: madeLinks(left) },
      sinceMs: this.#sinceMs,
      connections,
    }
  }

  /** Whether a yes could not make real what the question is about now, and no person looks at it. */
  #isOvertaken(
    { action_id, states }: OpenQuestion,
    scan: PendingScan,
    changes: readonly Change[],
  ): boolean {
    const isCut = Object.keys(states).some((path) => isCutOff(path as RawPath, scan)) // Keys are raw.
    return (isCut || !isStill(states, changes)) && !this.#parts.isLookedAt(action_id)
  }

  #refuse(changes: readonly Change[]): void {
    this.#memory = { ...this.#memory, refused: { ...this.#memory.refused, ...statesOf(changes) } }
  }

  /** Notes what an act of the session left: bytes, and commits of HEAD. */
  #noteLeft(rows: readonly LeftRow[]): void {
    const paths = rows.map(([path]) => path)
    const refused = withoutRows(this.#memory.refused, paths)
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
    const heads = this.#parts.files.movedHeads.note(this.#memory.heads, before, after)
    this.#memory = { ...this.#memory, heads }
  }

  /** What an earlier process of the session left as HEAD is the session's, unless it is as before. */
  #noteEarlierHeads(): void {
    const { heads } = this.#memory
    const paths = Object.keys(heads).map((directory) => rawOfText(`${directory}/HEAD`))
    // For this session alone: a person may have committed meanwhile.
    const after = this.#parts.surface.headsNear(paths)
    this.#memory = { ...this.#memory, heads: withEarlierHeads(heads, after) }
  }
}
