/**
 * The live view of a kept sandbox. Order of a settle, with all processes stopped: scan, prepare, (the
 * caller makes changes real), prune, thaw. `overlay.md` has the measurements behind each rule.
 *
 * INVARIANT (the upper describes the view): upper entries with their marks say what the kernel has
 *   cached. An entry in use is not removed; a new directory hides the real one before that exists.
 * INVARIANT (no old inode comes back): no entry is revealed whose overlay inode is still in use.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultError } from '../base/index.ts'
import {
  type Change,
  isSameState,
  joinRaw,
  parentOfRaw,
  type RawPath,
  rawOfText,
} from '../gate/index.ts'
import { namesIn, readableText } from '../machine/index.ts'
import type { Keeper, Layer, Sandbox } from '../sandbox/index.ts'
import { PATH_BYTES_MAX, scanLayers } from '../tree/index.ts'
import { observe } from './observe.ts'
import { type Pins, readPins } from './pins.ts'
import { isInUse, planPrune, removeEntries } from './prune.ts'
import {
  hasSameRights,
  identityOf,
  isRealState,
  isUnchanged,
  lookAt,
  realStateOf,
  type SeenEntry,
  ViewRecord,
} from './record.ts'
import { markOf, mergedAt, readUpper, type UpperEntry, type UpperTree, upwards } from './upper.ts'
import type {
  Discarded,
  FrozenView,
  InUse,
  LiveView,
  PendingScan,
  Pruned,
  Refreshed,
  Stale,
  ViewConflict,
  ViewOptions,
} from './view.ts'

export function openView(sandbox: Sandbox, options: ViewOptions): LiveView {
  const { keeper } = sandbox
  if (keeper === null) {
    throw faultError('sandbox.failed', '', 'a view needs a sandbox whose layers are kept')
  }
  return new OverlayView(sandbox, keeper, options)
}

/** What all parts of a view work on. */
class Ground {
  readonly layers: readonly Layer[]
  readonly roots: readonly RawPath[]
  readonly exclude: ReadonlySet<RawPath>
  readonly record: ViewRecord
  /** Paths whose real entries the view does not show, as far as is known. */
  readonly stale = new Set<RawPath>()
  readonly sandbox: Sandbox
  readonly keeper: Keeper
  readonly options: ViewOptions

  constructor(sandbox: Sandbox, keeper: Keeper, options: ViewOptions) {
    this.sandbox = sandbox
    this.keeper = keeper
    this.options = options
    this.layers = sandbox.layers
    this.roots = sandbox.layers.map(({ root }) => rawOfText(root))
    this.exclude = new Set(options.exclude.map(rawOfText))
    this.record = new ViewRecord(options.directory, () => this.nowNs())
  }

  /** By the clock of files. */
  nowNs(): bigint {
    const file = join(this.options.directory, 'view.clock')
    writeFileSync(file, '')
    return BigInt(lookAt(rawOfText(file))?.ctimeNs ?? 0)
  }

  readPins(): Pins {
    return readPins(this.sandbox.allProcesses(), this.roots)
  }

  readUpper(): UpperTree {
    return readUpper(this.layers, this.exclude, this.options.isRoot)
  }

  layerOf(path: RawPath): Layer | undefined {
    return this.layers
      .filter(({ root }) => path === rawOfText(root) || path.startsWith(`${rawOfText(root)}/`))
      .sort((one, other) => other.root.length - one.root.length)[0]
  }

  async remount(): Promise<void> {
    const nowNs = this.nowNs()
    for (const layer of this.layers) await this.keeper.remount(layer)
    this.record.refreshedNs = nowNs
  }

  /** Compares what the view shows with what it should, for paths in use and those given. */
  verify(tree: UpperTree, pins: Pins, changed: Iterable<RawPath>): readonly Stale[] {
    this.stale.clear()
    const found: Stale[] = []
    for (const path of new Set([...changed, ...pins.paths()])) {
      const why = this.#mismatch(path, tree)
      if (why === null) continue
      this.stale.add(path)
      found.push({ path, why })
    }
    return found
  }

  #mismatch(path: RawPath, tree: UpperTree): string | null {
    const layer = this.layerOf(path)
    if (layer === undefined) return null
    const entry = tree.byPath.get(path)
    const shown = lookQuietly(mergedAt(layer, path))
    if (entry === undefined && isHidden(path, tree)) return null
    if (entry !== undefined) return this.#replaced(path, entry)
    const real = lookQuietly(path)
    if (shown === null || real === null) {
      return shown === real
        ? null
        : `${real === null ? 'was removed' : 'was made'} outside, and is in use`
    }
    const isSame =
      shown.ctimeNs === real.ctimeNs && hasSameRights(shown, real) && shown.size === real.size
    return isSame ? null : 'was replaced outside, and is in use'
  }

  /** A directory in use that is in both layers keeps showing the real directory that it was laid over. */
  #replaced(path: RawPath, { found }: UpperEntry): string | null {
    const base = this.record.entries.get(path)?.base
    if (found.kind !== 'directory' || typeof base !== 'object' || base.kind !== 'directory')
      return null
    const real = lookQuietly(path)
    return real === null || real.inode === base.inode ? null : 'was replaced outside, and is in use'
  }
}

function isHidden(path: RawPath, tree: UpperTree): boolean {
  for (let up = path; up !== '/'; up = parentOfRaw(up)) {
    const entry = tree.byPath.get(up)
    if (entry !== undefined) return entry.found.kind !== 'directory' || entry.found.isWhiteout
  }
  return false
}

function lookQuietly(path: RawPath): SeenEntry | null {
  try {
    return lookAt(path)
  } catch {
    // The session may have closed it to this user.
    return null
  }
}

class OverlayView implements LiveView {
  readonly #ground: Ground
  #frozen: Frozen | null = null

  constructor(sandbox: Sandbox, keeper: Keeper, options: ViewOptions) {
    this.#ground = new Ground(sandbox, keeper, options)
  }

  async freeze(): Promise<FrozenView> {
    if (this.#frozen?.isOpen === true) {
      throw faultError('sandbox.failed', '', 'the view is frozen already')
    }
    const thaw = await this.#ground.sandbox.freeze()
    try {
      this.#frozen = new Frozen(this.#ground, this.#ground.readPins(), thaw)
      return this.#frozen
    } catch (error) {
      thaw()
      throw error
    }
  }

  async refresh(): Promise<Refreshed> {
    const ground = this.#ground
    const tree = ground.readUpper()
    await observe(tree, ground.record, ground.stale, ground.keeper)
    await ground.remount()
    ground.record.save()
    return { stale: ground.verify(tree, ground.readPins(), []) }
  }

  async hasPending(): Promise<boolean> {
    const { record } = this.#ground
    const isKnown = ({ path, found, isRoot }: UpperEntry): boolean => {
      const known = record.entries.get(path)
      if (found.kind === 'directory') {
        if (isRoot && known === undefined) return true
        return (
          known !== undefined && typeof known.base === 'object' && hasSameRights(known.base, found)
        )
      }
      return known?.upper === markOf(found)
    }
    for (const entry of this.#ground.readUpper().byPath.values()) if (!isKnown(entry)) return true
    return false
  }

  writers(): readonly number[] {
    return [...this.#ground.readPins().writers]
  }

  close(): void {
    this.#frozen?.thaw()
    this.#ground.record.save()
  }
}

interface Scanned {
  readonly pending: PendingScan
  /** Changes by path, those that are not pending included. */
  readonly byPath: ReadonlyMap<RawPath, Change>
  /** Upper entries that are equal to the real ones. */
  readonly equal: ReadonlySet<RawPath>
}

class Frozen implements FrozenView {
  readonly busy: ReadonlySet<RawPath>
  readonly #ground: Ground
  readonly #pins: Pins
  readonly #thaw: () => void
  #scanned: Scanned | null = null
  #isOpen = true

  constructor(ground: Ground, pins: Pins, thaw: () => void) {
    this.#ground = ground
    this.#pins = pins
    this.#thaw = thaw
    this.busy = pins.busy
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  thaw(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#thaw()
  }

  async scan(): Promise<PendingScan> {
    this.#scanned = await this.#look()
    return this.#scanned.pending
  }

  async #look(): Promise<Scanned> {
    const { options, record, layers, keeper, stale } = this.#ground
    const tree = this.#ground.readUpper()
    await observe(tree, record, stale, keeper)
    const equal = new Set<RawPath>()
    const scan = await scanLayers(layers, {
      marker: null,
      commandStartedAtMs: Number.POSITIVE_INFINITY,
      maxBytes: options.maxBytes,
      pathBytesMax: PATH_BYTES_MAX,
      scopeRoots: options.scopeRoots,
      isRoot: options.isRoot,
      ids: options.ids,
      exclude: options.exclude,
      onPair: ({ path }, isChanged) => {
        if (!isChanged) equal.add(path)
      },
    })
    const judged = new Judge(tree, record, equal).judge(scan.changes)
    this.#addBusyNames(tree)
    record.save()
    const marks = new Map(
      judged.pending.map(({ path }) => [path, upperMark(tree.byPath.get(path))] as const),
    )
    const findings = scan.findings.filter(({ code }) => code !== 'rehearsal.interfered')
    const moved = (): readonly RawPath[] =>
      [...marks].flatMap(([path, mark]) => {
        const entry = tree.byPath.get(path)
        if (entry === undefined) return []
        const now = lookAt(entry.at)
        return now !== null && markOf(now) === mark ? [] : [path]
      })
    const interfered = scan.findings.filter(({ code }) => code === 'rehearsal.interfered')
    const conflicts = [...judged.conflicts]
    for (const { path } of interfered) {
      const change = scan.changes.find((each) => each.path === path)
      if (conflicts.some((each) => each.path === path)) continue
      conflicts.push({ path, real: change?.before ?? null, view: change?.after ?? null })
    }
    const { emptied } = scan
    const changes = judged.pending
    return {
      pending: { changes, findings, emptied, conflicts, stale: judged.stale, moved },
      byPath: new Map(scan.changes.map((change) => [change.path, change])),
      equal,
    }
  }

  /** Other names of files that are open for writing. */
  #addBusyNames(tree: UpperTree): void {
    for (const { path, found, layer } of tree.byPath.values()) {
      if (found.kind !== 'file') continue
      const shown = lookQuietly(mergedAt(layer, path))
      if (shown !== null && this.#pins.writesInode(BigInt(shown.inode))) this.#pins.busy.add(path)
    }
  }

  async prepare(changes: readonly Change[]): Promise<void> {
    const tree = this.#ground.readUpper()
    const made = changes.flatMap(({ path, before, after }) => {
      const entry = tree.byPath.get(path)
      const isMade = after?.kind === 'directory' && before?.kind !== 'directory'
      return isMade && entry?.found.kind === 'directory' ? [entry] : []
    })
    await this.#ground.keeper.ask(made.map(({ at }) => ({ does: 'mark', path: at })))
  }

  async prune(promoted: readonly Change[]): Promise<Pruned> {
    const { record, keeper } = this.#ground
    this.#scanned ??= await this.#look()
    const scanned = this.#scanned
    const tree = this.#ground.readUpper()
    const applied = new Map(promoted.map((change) => [change.path, change]))
    this.#noteApplied(applied, scanned, tree)
    const isReal = ({ path, found }: UpperEntry): boolean => {
      if (found.isWhiteout) return lookAt(path) === null
      if (scanned.equal.has(path) || record.entries.get(path)?.kept !== undefined) {
        return isKeptUnchanged(path)
      }
      const change = applied.get(path)
      const seen = scanned.byPath.get(path)
      if (change === undefined || seen === undefined) return false
      return change.after !== null && isSameState(change.after, seen.after)
    }
    const isKeptUnchanged = (path: RawPath): boolean => {
      if (scanned.equal.has(path)) return true
      const kept = record.entries.get(path)?.kept
      return kept !== undefined && isRealState(kept, scanned.byPath.get(path)?.after ?? null)
    }
    const { removed, kept } = await planPrune({ tree, pins: this.#pins, record, keeper, isReal })
    removeEntries(removed)
    for (const { path } of removed) record.entries.delete(path)
    for (const entry of kept) this.#noteKept(entry, applied.get(entry.path), scanned)
    const after = this.#ground.readUpper()
    await this.#stripOrigins(after)
    await this.#ground.remount()
    record.save()
    const changed = [...removed.map(({ path }) => path), ...applied.keys()]
    const stale = this.#ground.verify(after, this.#pins, changed)
    this.#scanned = null
    return { pruned: removed.map(({ path }) => path), kept: kept.map(({ path }) => path), stale }
  }

  /** What this session made real is what it copied from now on. */
  #noteApplied(applied: ReadonlyMap<RawPath, Change>, _: Scanned, tree: UpperTree): void {
    const { record } = this.#ground
    for (const [path, { after }] of applied) {
      const known = record.entries.get(path)
      if (known === undefined || !tree.byPath.has(path)) continue
      const real = lookAt(path)
      const isOurs = real !== null && after !== null && real.mtimeNs === after.mtimeNs
      const base =
        real === null
          ? 'nothing'
          : isOurs || after?.kind === 'directory'
            ? identityOf(real)
            : 'unknown'
      record.entries.set(path, { ...known, base })
    }
  }

  #noteKept({ path, found }: UpperEntry, change: Change | undefined, scanned: Scanned): void {
    const { record } = this.#ground
    const known = record.entries.get(path)
    if (known === undefined || found.isWhiteout) return
    const state = change?.after ?? scanned.byPath.get(path)?.after ?? null
    const upper = markOf(found)
    if (state === null) record.entries.set(path, { ...known, upper })
    else record.entries.set(path, { ...known, upper, kept: known.kept ?? realStateOf(state) })
    if (change?.after != null) {
      record.entries.set(path, { ...known, upper, kept: realStateOf(change.after) })
    }
  }

  /** An upper file that says it was copied from an inode which is not at its path would show as that. */
  async #stripOrigins(tree: UpperTree): Promise<void> {
    const files = [...tree.byPath.values()].filter(({ found }) => found.kind === 'file')
    await this.#ground.keeper.ask(
      files.map(({ at, path }) => ({ does: 'strip', path: at, other: path })),
    )
  }

  async discard(paths: readonly RawPath[]): Promise<Discarded> {
    const { record } = this.#ground
    const tree = this.#ground.readUpper()
    const refused: InUse[] = []
    const discarded: RawPath[] = []
    for (const path of paths) {
      const entry = tree.byPath.get(path)
      if (entry === undefined || entry.isRoot) continue
      const users = this.#usersOf(entry)
      if (users.length > 0) {
        refused.push({ path, processes: users.map(named) })
        continue
      }
      const all = [...upwards(entry)]
      removeEntries(all)
      for (const each of all) record.entries.delete(each.path)
      discarded.push(path)
    }
    const after = this.#ground.readUpper()
    await this.#stripOrigins(after)
    await this.#ground.remount()
    record.save()
    this.#ground.verify(after, this.#pins, discarded)
    this.#scanned = null
    return { discarded, refused }
  }

  /** Of the entry, of what lies below it, and of what removing it would reveal. */
  #usersOf(entry: UpperEntry): readonly number[] {
    const users = new Set<number>()
    const see = (path: RawPath, inodes: readonly (bigint | null)[]): void => {
      for (const pid of this.#pins.usersOf(path, inodes)) users.add(pid)
    }
    for (const each of upwards(entry)) {
      if (isInUse(each, this.#pins)) see(each.path, [BigInt(each.found.inode)])
    }
    for (const { path, inode } of revealed(entry.path)) see(path, [inode])
    return [...users]
  }
}

/** Everything that is real at a path. */
function revealed(path: RawPath): readonly { path: RawPath; inode: bigint }[] {
  const found: { path: RawPath; inode: bigint }[] = []
  const open = [path]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const real = lookQuietly(each)
    if (real === null) continue
    found.push({ path: each, inode: BigInt(real.inode) })
    if (real.kind === 'directory') for (const name of namesIn(each)) open.push(joinRaw(each, name))
  }
  return found
}

function named(pid: number): InUse['processes'][number] {
  return { pid, name: readableText(`/proc/${pid}/comm`).trim() }
}

function upperMark(entry: UpperEntry | undefined): string {
  return entry === undefined ? '' : markOf(entry.found)
}

/** Tells what is pending among the differences, and what is not the session's. */
class Judge {
  readonly #tree: UpperTree
  readonly #record: ViewRecord
  readonly #equal: Set<RawPath>
  readonly #pending: Change[] = []
  readonly #conflicts: ViewConflict[] = []
  readonly #stale: Stale[] = []

  constructor(tree: UpperTree, record: ViewRecord, equal: Set<RawPath>) {
    this.#tree = tree
    this.#record = record
    this.#equal = equal
  }

  judge(changes: readonly Change[]) {
    for (const change of changes) this.#one(change)
    return { pending: this.#pending, conflicts: this.#conflicts, stale: this.#stale }
  }

  #one(change: Change): void {
    const { path, before, after } = change
    const known = this.#record.entries.get(path)
    const entry = this.#tree.byPath.get(path)
    if (entry === undefined) return this.#below(change)
    if (known === undefined) return this.#conflict(change)
    if (known.kept !== undefined && isRealState(known.kept, after)) {
      this.#stale.push({ path, why: 'was changed outside, and is in use' })
      return
    }
    const { base } = known
    const real = lookAt(path)
    if (after === null && base === 'nothing') return
    if (before === null || real === null) {
      if (base === 'nothing') this.#pending.push(change)
      else this.#conflict(change)
      return
    }
    if (typeof base !== 'object') return this.#conflict(change)
    if (before.kind === 'directory' && after?.kind === 'directory') {
      if (hasSameRights(base, real)) this.#pending.push(change)
      else if (hasSameRights(base, entry.found)) this.#equal.add(path)
      else this.#conflict(change)
      return
    }
    if (isUnchanged(base, real)) this.#pending.push(change)
    else this.#conflict(change)
  }

  /** A real entry that something above it hides. */
  #below(change: Change): void {
    const { path } = change
    const real = lookAt(path)
    if (real === null) return
    const known = this.#record.entries.get(path)
    if (known !== undefined) {
      if (typeof known.base === 'object' && isUnchanged(known.base, real))
        this.#pending.push(change)
      else this.#conflict(change)
      return
    }
    const above = this.#above(path)
    const seenNs = BigInt(this.#record.entries.get(above?.path ?? path)?.seenNs ?? '0')
    if (BigInt(real.ctimeNs) < seenNs) this.#pending.push(change)
    else if (above?.found.kind === 'directory') {
      this.#stale.push({
        path,
        why: 'was made outside, in a directory that the session made again',
      })
    } else this.#conflict(change)
  }

  #above(path: RawPath): UpperEntry | undefined {
    for (let up = parentOfRaw(path); up !== '/'; up = parentOfRaw(up)) {
      const entry = this.#tree.byPath.get(up)
      if (entry !== undefined) return entry
    }
    return undefined
  }

  #conflict(change: Change): void {
    const { path, before, after } = change
    this.#pending.push(change)
    this.#conflicts.push({ path, real: before, view: after })
  }
}
