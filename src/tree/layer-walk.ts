/**
 * Walks one layer: pairs each entry of the upper directory with the entry at the same place in the real
 * one. The cost depends on what was written, not on what exists: the walk enters the real tree only
 * below directories that were deleted, replaced or emptied.
 *
 * A directory is opaque when a name of the real one is missing in both layers together. That is asked
 * of the overlay itself, so that a child of an opaque directory, which carries no mark, is opaque too.
 */
import { opendirSync } from 'node:fs'
import { type Digest, invariant } from '../base/index.ts'
import { isBelow, joinRaw, type RawPath } from '../gate/index.ts'
import {
  codeOf,
  type EntryStats,
  flatPath,
  holdLongList,
  isAbsent,
  itselfAt,
  type LentPermissions,
  LONG_LIST,
  namesIn,
  nodePath,
  type Pace,
  statsOf,
} from '../machine/index.ts'
import type { TreeFindings } from './findings.ts'

/** Where the entries of one side of a layer are reached from this process. */
interface Ground {
  readonly prefix: RawPath
  /** How much of a path is above the layer. */
  readonly above: number
}

export class SideEntry {
  readonly stats: EntryStats
  /** Of a file, once it was read. */
  digest: Digest | null = null
  readonly #ground: Ground
  readonly #path: RawPath

  constructor(ground: Ground, path: RawPath, stats: EntryStats) {
    this.stats = stats
    this.#ground = ground
    this.#path = path
  }

  /** Where it is reached from this process; made when asked for, since there may be very many. */
  get at(): RawPath {
    return placeOn(this.#ground, this.#path)
  }
}

function placeOn({ prefix, above }: Ground, path: RawPath): RawPath {
  return within(prefix, path.slice(above))
}

/** A directory that was emptied and made again, with every name that the real one has. */
export interface Emptied {
  readonly path: RawPath
  readonly names: readonly RawPath[]
}

export interface Pair {
  readonly path: RawPath
  /** The root of the layer itself. */
  readonly isRoot: boolean
  readonly before: SideEntry | null
  readonly after: SideEntry | null
  /** Below something deleted or opaque: changes by others count even when nothing differs. */
  readonly isWatched: boolean
}

interface WalkedLayer {
  readonly root: RawPath
  readonly upper: RawPath
  readonly real: RawPath
  readonly merged: RawPath
  /** Real paths that are left out with everything below them. */
  readonly exclude: ReadonlySet<RawPath>
  readonly pathBytesMax: number
  /** More pairs are counted and not kept. */
  readonly entriesMax: number
  /** Directories that other acts made since the run began. */
  readonly madeMeanwhile: ReadonlySet<RawPath>
  /**
   * Of a live view: which directories hide the real ones. Others may remove what the view removed, and
   * that is no interference.
   */
  readonly hiding: ReadonlySet<RawPath> | null
}

interface Frame {
  readonly path: RawPath
  /** Below the roots: empty, or beginning with a slash. */
  readonly below: string
  readonly stats: EntryStats
  readonly hasReal: boolean
  readonly isOpaque: boolean
  /** Which pair is the directory itself. */
  readonly index: number
}

export class LayerWalk {
  /** Empty when there are too many. */
  readonly pairs: Pair[] = []
  /** How many entries were written or taken away. */
  count = 0
  readonly emptied: Emptied[] = []
  /** Apparent size of everything written, hard links once. */
  bytes = 0
  readonly #layer: WalkedLayer
  readonly #findings: TreeFindings
  readonly #lent: LentPermissions
  readonly #pace: Pace
  readonly #inodes = new Set<string>()
  readonly #upper: Ground
  readonly #real: Ground

  constructor(layer: WalkedLayer, findings: TreeFindings, lent: LentPermissions, pace: Pace) {
    this.#layer = layer
    this.#findings = findings
    this.#lent = lent
    this.#pace = pace
    const above = layer.root === '/' ? 0 : layer.root.length
    this.#upper = { prefix: layer.upper, above }
    this.#real = { prefix: layer.real, above }
  }

  async run(): Promise<void> {
    const { root } = this.#layer
    const [after, before] = [this.#side(this.#upper, root), this.#side(this.#real, root)]
    invariant(after !== null && before !== null, 'the roots of a layer are held open')
    this.#keep({ path: root, isRoot: true, before, after, isWatched: false })
    const { stats } = after
    const open: Frame[] = [
      { path: root, below: '', stats, hasReal: true, isOpaque: false, index: 0 },
    ]
    for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
      for (const next of await this.#enter(frame)) open.push(next)
      await this.#pace.step()
    }
  }

  /** Everything in one directory of the upper layer; the directories to enter next. */
  async #enter(frame: Frame): Promise<readonly Frame[]> {
    const names = this.#writtenNames(frame)
    const isOpaque = frame.hasReal && (await this.#readReal(frame, new Set(names)))
    const next: Frame[] = []
    for (const name of names) {
      const path = this.#admit(frame.path, name)
      if (path === null) continue
      const child = await this.#compare(path, { ...frame, isOpaque }, name)
      if (child !== null) next.push(child)
    }
    return next
  }

  #writtenNames(frame: Frame): readonly RawPath[] {
    const { upper, merged } = this.#layer
    try {
      this.#lent.lend(frame.stats, within(frame.hasReal ? merged : upper, frame.below))
      return namesIn(within(upper, frame.below))
    } catch (error) {
      this.#unreadable(frame.path, error)
      return []
    }
  }

  /** One name of the upper layer; what to enter when it is a directory. */
  async #compare(path: RawPath, frame: Frame, name: RawPath): Promise<Frame | null> {
    const below = `${frame.below}/${name}`
    const after = this.#side(this.#upper, path)
    if (after === null) return null
    // A directory that another act made meanwhile was not there for this run, nor what is in it.
    const isLater = after.stats.isDirectory() && this.#layer.madeMeanwhile.has(path)
    const before = frame.hasReal && !isLater ? this.#side(this.#real, path) : null
    if (isWhiteout(after.stats)) {
      // An overlay makes a whiteout only for an existing name: another process has removed it since.
      if (before !== null) await this.#deleted(path, before)
      else if (this.#layer.hiding === null) this.#gone(path)
      return null
    }
    const isDirectory = after.stats.isDirectory()
    const hasReal = before?.stats.isDirectory() === true
    this.#measure(after.stats)
    this.#pair(path, before, after, frame.isOpaque)
    if (!isDirectory) {
      if (hasReal && before !== null) await this.#deletedBelow(path, before)
      return null
    }
    const index = this.pairs.length - 1
    return { path, below, stats: after.stats, hasReal, isOpaque: frame.isOpaque, index }
  }

  #gone(path: RawPath): void {
    this.#findings.add('rehearsal.interfered', path, 'was removed meanwhile')
  }

  #pair(
    path: RawPath,
    before: SideEntry | null,
    after: SideEntry | null,
    isWatched: boolean,
  ): void {
    const sides = { before: this.#supported(path, before), after: this.#supported(path, after) }
    if (sides.before === null && sides.after === null) return
    this.#keep({ path, isRoot: false, ...sides, isWatched })
  }

  #keep(pair: Pair): void {
    // The root of a layer is always there.
    if (!pair.isRoot) this.count++
    if (this.count > LONG_LIST) holdLongList()
    if (this.count <= this.#layer.entriesMax) this.pairs.push(pair)
    else this.pairs.length = 0
  }

  /** Whether the directory is opaque; what it hides from the real one is then deleted. */
  async #readReal(frame: Frame, written: ReadonlySet<RawPath>): Promise<boolean> {
    const real = within(this.#layer.real, frame.below)
    if (!frame.isOpaque && !this.#isOpaque(frame, real, written)) return false
    const names = this.#realNames(frame.path, real)
    const hidden = names
      .filter((name) => !written.has(name))
      .flatMap((name) => {
        const path = this.#admit(frame.path, name)
        return path === null ? [] : [{ path, name }]
      })
    const isAsked = !frame.isOpaque && this.#layer.hiding === null
    if (isAsked && this.#isPartlyShown(frame, hidden)) return false
    const pair = this.pairs[frame.index]
    if (pair !== undefined) this.pairs[frame.index] = { ...pair, isWatched: true }
    this.emptied.push({ path: frame.path, names })
    for (const { path } of hidden) {
      const child = this.#side(this.#real, path)
      if (child !== null) await this.#deleted(path, child)
    }
    return true
  }

  /**
   * A run can empty a directory, but not hide single names without a trace. What is hidden so is marked
   * in the real tree, by attributes or devices that overlays take for their own.
   */
  #isPartlyShown(
    frame: Frame,
    hidden: readonly { readonly path: RawPath; readonly name: RawPath }[],
  ): boolean {
    const unseen = hidden.filter(({ name }) => !this.#isShown(frame, name))
    if (unseen.length === hidden.length) return false
    for (const { path } of unseen) {
      this.#findings.add('diff.unsupported', path, 'is hidden from rehearsals')
    }
    return true
  }

  #isShown(frame: Frame, name: RawPath): boolean {
    return statsOf(within(this.#layer.merged, `${frame.below}/${name}`)) !== null
  }

  /** Asks for one name of the real directory that the upper one does not have. */
  #isOpaque(frame: Frame, real: RawPath, written: ReadonlySet<RawPath>): boolean {
    const { hiding } = this.#layer
    if (hiding !== null) return hiding.has(frame.path)
    const probe = this.#firstMissing(frame, real, written)
    if (probe === null) return false
    try {
      return !this.#isShown(frame, probe)
    } catch (error) {
      this.#findings.add('diff.unsupported', frame.path, `cannot be looked into: ${codeOf(error)}`)
      return false
    }
  }

  #firstMissing(frame: Frame, real: RawPath, written: ReadonlySet<RawPath>): RawPath | null {
    try {
      // Node takes a Buffer as the path and `buffer` as the encoding; its types leave both out.
      const directory = opendirSync(nodePath(real) as string, { encoding: 'buffer' as never })
      try {
        for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
          // With this encoding names are bytes, which the types do not know.
          const name = (entry.name as unknown as Buffer).toString('latin1') as RawPath
          if (!written.has(name) && !this.#layer.exclude.has(joinRaw(frame.path, name))) return name
        }
        return null
      } finally {
        directory.closeSync()
      }
    } catch (error) {
      this.#unreadable(frame.path, error)
      return null
    }
  }

  async #deleted(path: RawPath, before: SideEntry): Promise<void> {
    this.#pair(path, before, null, true)
    if (before.stats.isDirectory()) await this.#deletedBelow(path, before)
  }

  /** Everything below a directory of the real tree that is gone. */
  async #deletedBelow(path: RawPath, before: SideEntry): Promise<void> {
    const open = [{ path, at: before.at }]
    for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
      for (const name of this.#realNames(frame.path, frame.at)) {
        const child = this.#admit(frame.path, name)
        const side = child === null ? null : this.#side(this.#real, child)
        if (child === null || side === null) continue
        this.#pair(child, side, null, true)
        if (side.stats.isDirectory()) open.push({ path: child, at: side.at })
      }
      await this.#pace.step()
    }
  }

  #realNames(path: RawPath, at: RawPath): readonly RawPath[] {
    try {
      return namesIn(at)
    } catch (error) {
      this.#unreadable(path, error)
      return []
    }
  }

  #unreadable(path: RawPath, error: unknown): void {
    if (isAbsent(error)) this.#gone(path)
    else if (codeOf(error) === 'ENAMETOOLONG') this.#findings.add('diff.path_too_long', path)
    else this.#findings.add('diff.unsupported', path, `cannot be read: ${codeOf(error)}`)
  }

  /** The path of a name in a directory; null when it is left out or longer than paths may be. */
  #admit(directory: RawPath, name: RawPath): RawPath | null {
    const path = flatPath(directory, name)
    if (this.#layer.exclude.has(path)) return null
    if (path.length <= this.#layer.pathBytesMax) return path
    this.#findings.add('diff.path_too_long', directory, `${path.length} bytes`)
    return null
  }

  #side(ground: Ground, path: RawPath): SideEntry | null {
    try {
      const stats = statsOf(placeOn(ground, path))
      return stats === null ? null : new SideEntry(ground, path, stats)
    } catch (error) {
      this.#unreadable(path, error)
      return null
    }
  }

  #supported(path: RawPath, side: SideEntry | null): SideEntry | null {
    if (side === null) return null
    const { stats } = side
    if (stats.isFile() || stats.isDirectory() || stats.isSymbolicLink()) return side
    this.#findings.add('diff.unsupported', path, specialKind(stats))
    return null
  }

  #measure(stats: EntryStats): void {
    // The sum counts only where the entries are not too many.
    if (!stats.isFile() || this.count > this.#layer.entriesMax) return
    const isLinked = stats.nlink > 1
    if (isLinked && this.#inodes.has(stats.inode)) return
    if (isLinked) this.#inodes.add(stats.inode)
    this.bytes += stats.size
  }
}

function within(prefix: RawPath, below: string): RawPath {
  // `below` is the rest of a raw path.
  return below === '' ? itselfAt(prefix) : (`${prefix}${below}` as RawPath)
}

/** How overlays write down that something is gone. */
function isWhiteout(stats: EntryStats): boolean {
  return stats.isCharacterDevice() && stats.rdev === 0n
}

function specialKind(stats: EntryStats): string {
  if (stats.isFIFO()) return 'is a fifo'
  return stats.isSocket() ? 'is a socket' : 'is a device'
}

/** Whether the path is one of the roots or lies below one. */
export function isInside(path: RawPath, roots: readonly RawPath[]): boolean {
  return roots.some((root) => isBelow(path, root))
}
