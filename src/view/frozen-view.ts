/** A view whose processes are stopped: scans, prunes and discards. */
import {
  type Change,
  type EntryState,
  isBelow,
  isSameState,
  parentOfRaw,
  type RawPath,
} from '../gate/index.ts'
import { readableText } from '../machine/index.ts'
import { PATH_BYTES_MAX, scanLayers, withClosedDirectories } from '../tree/index.ts'
import { noteAwaited } from './awaited.ts'
import type { ViewGround } from './ground.ts'
import { Judge } from './judge.ts'
import { entriesIn, hidingIn, observe } from './observe.ts'
import type { Pins } from './pins.ts'
import { isInUse, planPrune, removeEntries } from './prune.ts'
import {
  type Entry,
  identityOf,
  isRealState,
  lookAt,
  lookQuietly,
  realStateOf,
  type SeenEntry,
  type ViewRecord,
} from './record.ts'
import { coverOf, reveal } from './reveal.ts'
import { atTheirTops } from './too-deep.ts'
import { markOf, mergedAt, type UpperEntry, type UpperTree, upwards } from './upper.ts'
import type { Discarded, FrozenView, InUse, PendingScan, Pruned } from './view.ts'

const NOTHING_STALE: ReadonlySet<RawPath> = new Set()

interface Scanned {
  readonly pending: PendingScan
  /** Changes by path, those that are not pending included. */
  readonly byPath: ReadonlyMap<RawPath, Change>
  /** Upper entries that are equal to the real ones. */
  readonly equal: ReadonlySet<RawPath>
}

export class StoppedView implements FrozenView {
  readonly busy: ReadonlySet<RawPath>
  readonly #ground: ViewGround
  readonly #pins: Pins
  readonly #thaw: () => void
  #scanned: Scanned | null = null
  #isOpen = true
  /** Tells the expected changes that were made real, once there is an answer. */
  #isReal: (path: RawPath) => boolean = () => false

  constructor(ground: ViewGround, pins: Pins, thaw: () => void) {
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

  expect(changes: readonly Change[]): void {
    const { record } = this.#ground
    record.awaited.clear()
    for (const { path, before, after } of changes) {
      const state = after === null ? null : realStateOf(after)
      record.awaited.set(path, { isNew: before === null, after: state })
    }
    record.save()
  }

  answered(isReal: (path: RawPath) => boolean): void {
    this.#isReal = isReal
    const { record } = this.#ground
    for (const path of record.awaited.keys()) if (!isReal(path)) record.awaited.delete(path)
    record.save()
  }

  async #look(): Promise<Scanned> {
    const { options, record, layers, keeper, stale } = this.#ground
    let tree = this.#ground.readUpper()
    if (record.awaited.size > 0) {
      const isMoved = await noteAwaited(this.#ground, tree, this.#pins, this.#isReal)
      if (isMoved) tree = this.#ground.readUpper()
    }
    await observe(tree, record, stale, keeper)
    const equal = new Set<RawPath>()
    const hiding = await hidingIn(tree, keeper)
    const scan = await scanLayers(layers, {
      marker: null,
      commandStartedAtMs: Number.POSITIVE_INFINITY,
      maxBytes: options.maxBytes,
      pathBytesMax: PATH_BYTES_MAX,
      scopeRoots: options.scopeRoots,
      isRoot: options.isRoot,
      ids: options.ids,
      exclude: options.exclude,
      hiding: new Set([...hiding].map(({ path }) => path)),
      onPair: ({ path }, isChanged) => {
        if (!isChanged) equal.add(path)
      },
    })
    const judged = new Judge(tree, record, equal).judge(scan.changes)
    this.#addBusyNames(tree)
    this.#noteEqual(equal, tree)
    record.save()
    const marks = new Map(
      judged.pending.map(({ path }) => [path, upperMark(tree.byPath.get(path))] as const),
    )
    const found = scan.findings.filter(({ code }) => code !== 'rehearsal.interfered')
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
    const placed = atTheirTops(tree, changes, found)
    const { findings } = withClosedDirectories({ changes, findings: placed }, options.isRoot)
    return {
      pending: { changes, findings, emptied, conflicts, stale: judged.stale, moved },
      byPath: new Map(scan.changes.map((change) => [change.path, change])),
      equal,
    }
  }

  /** Where view and real tree agree, later changes of the session are changes of what is real now. */
  #noteEqual(equal: ReadonlySet<RawPath>, tree: UpperTree): void {
    const { record } = this.#ground
    for (const path of equal) {
      const known = record.entries.get(path)
      const real = lookAt(path)
      if (known === undefined || real === null || !tree.byPath.has(path)) continue
      record.entries.set(path, { ...known, base: identityOf(real) })
    }
    for (const [path, { found }] of tree.byPath) {
      const known = record.entries.get(path)
      if (!found.isWhiteout || known === undefined || lookAt(path) !== null) continue
      record.entries.set(path, { ...known, base: 'nothing' })
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

  async prune(promoted: readonly Change[], isWatched = false): Promise<Pruned> {
    const { record, keeper } = this.#ground
    const applied = new Map(promoted.map((change) => [change.path, change]))
    this.#noteApplied(applied)
    this.#scanned ??= await this.#look()
    const scanned = this.#scanned
    const tree = this.#ground.readUpper()
    const isReal = ({ path, found }: UpperEntry): boolean => {
      if (found.isWhiteout) return lookAt(path) === null
      if (scanned.equal.has(path)) return true
      const after = scanned.byPath.get(path)?.after ?? null
      const known = record.entries.get(path)?.kept
      if (known !== undefined && isRealState(known, after)) return true
      const change = applied.get(path)
      return after !== null && change !== undefined && isSameState(change.after, after)
    }
    const plan = await planPrune({ tree, pins: this.#pins, record, keeper, isReal })
    const { removed, kept, merged, tasks } = plan
    await keeper.ask(tasks)
    removeEntries(removed, this.#ground.options.isRoot)
    for (const { path } of removed) record.entries.delete(path)
    for (const entry of kept) this.#noteKept(entry, applied.get(entry.path), scanned)
    const after = this.#ground.readUpper()
    await this.#stripOrigins(after)
    const isSame = removed.length + merged.length + applied.size === 0
    if (!isSame || !isWatched || this.#ground.isOld()) await this.#ground.remount()
    await observe(after, record, NOTHING_STALE, keeper, true)
    record.save()
    const changed = [...removed.map(({ path }) => path), ...applied.keys()]
    const stale = await this.#ground.verify(after, this.#pins, changed, scanned.pending.stale)
    this.#scanned = null
    return { pruned: removed.map(({ path }) => path), kept: kept.map(({ path }) => path), stale }
  }

  /** What this session made real is what it copied from now on. */
  #noteApplied(applied: ReadonlyMap<RawPath, Change>): void {
    const { record } = this.#ground
    for (const [path, { after }] of applied) {
      const known = record.entries.get(path)
      const real = lookAt(path)
      if (known === undefined) continue
      const isOurs = real !== null && after !== null && isLike(real, after)
      const base = real === null ? 'nothing' : isOurs ? identityOf(real) : 'unknown'
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
    const { record, keeper } = this.#ground
    // A real entry is seen again only where no directory above it hides it.
    if ((await hidingIn(this.#ground.readUpper(), keeper)).size > 0) await this.prune([])
    const scan = await this.scan()
    const inConflict = new Set(scan.conflicts.map(({ path }) => path))
    let tree = this.#ground.readUpper()
    const hiding = await hidingIn(tree, keeper)
    const refused: InUse[] = []
    const hidden: { path: RawPath; by: RawPath }[] = []
    const discarded: RawPath[] = []
    for (const path of [...paths].sort()) {
      for (const each of record.awaited.keys()) if (isBelow(each, path)) record.awaited.delete(each)
      const entry = tree.byPath.get(path) ?? coverOf(path, tree)
      if (entry === undefined || entry.isRoot) continue
      if (discarded.some((each) => isBelow(path, each))) continue
      const above = [...hiding].filter((each) => path.startsWith(`${each.path}/`))
      const users = [entry, ...above].flatMap((each) => this.#usersOf(each))
      if (users.length > 0 || above.length > 0) {
        refused.push({ path, processes: [...new Set(users)].map(named) })
        continue
      }
      if (entry.path !== path && !entry.found.isWhiteout) {
        hidden.push({ path, by: entry.path })
        continue
      }
      if (entry.path !== path) await reveal(this.#ground, entry, path, inConflict)
      else {
        const all = [...upwards(entry)]
        removeEntries(all, this.#ground.options.isRoot)
        for (const each of all) record.entries.delete(each.path)
      }
      discarded.push(path)
      tree = this.#ground.readUpper()
    }
    const after = this.#ground.readUpper()
    await this.#stripOrigins(after)
    await this.#ground.remount()
    record.save()
    await this.#ground.verify(after, this.#pins, discarded)
    this.#scanned = null
    return { discarded, refused, hidden }
  }

  rebase(paths: readonly RawPath[]): void {
    const { record } = this.#ground
    for (const path of paths) {
      const real = lookAt(path)
      // What lies below a directory that the session removed has no entry of its own.
      const known = record.entries.get(path) ?? hiddenEntry(path, record)
      if (known === undefined) continue
      const { kept: _, upper: __, ...rest } = known
      record.entries.set(path, { ...rest, base: real === null ? 'nothing' : identityOf(real) })
    }
    record.save()
    this.#scanned = null
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

/** Whether a real entry looks like what was put there; its bytes are not read again. */
function isLike(real: SeenEntry, { kind, mode, size, mtimeNs }: EntryState): boolean {
  if (real.kind !== kind) return false
  if (kind !== 'file') return true
  const apartNs = BigInt(real.mtimeNs) - BigInt(mtimeNs)
  return (
    real.mode === mode && real.size === String(size) && apartNs < SLACK_NS && apartNs > -SLACK_NS
  )
}

/** For a path without an entry: as if it had been removed together with what lies above it. */
function hiddenEntry(path: RawPath, { entries }: ViewRecord): Entry | undefined {
  for (let up = parentOfRaw(path); up !== '/'; up = parentOfRaw(up)) {
    const above = entries.get(up)
    if (above !== undefined) return { ...above, kind: 'gone' }
  }
  return undefined
}

/** Not every program sets times to the nanosecond. */
const SLACK_NS = 2000n

/** Everything that is real at a path. */
function revealed(path: RawPath): readonly { path: RawPath; inode: bigint }[] {
  const found: { path: RawPath; inode: bigint }[] = []
  const open = [path]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const real = lookQuietly(each)
    if (real === null) continue
    found.push({ path: each, inode: BigInt(real.inode) })
    if (real.kind === 'directory') open.push(...entriesIn(each))
  }
  return found
}

function named(pid: number): InUse['processes'][number] {
  return { pid, name: readableText(`/proc/${pid}/comm`).trim() }
}

function upperMark(entry: UpperEntry | undefined): string {
  return entry === undefined ? '' : markOf(entry.found)
}
