/**
 * Finds what a rehearsal changed by reading its layers (G-13). The result is exact; the cost depends on
 * what was written, not on what exists.
 *
 * INVARIANT (before is what the run could see): every real entry behind a change is looked at again
 *   after it was read; one that changed since the marker, or while it was read, is
 *   `rehearsal.interfered`.
 * INVARIANT (nothing real changes): only permission bits in the upper layer are lent for reading, and
 *   given back.
 *
 * The layers must be still: every process of the run is dead or, in a live view, stopped.
 */
import { readlinkSync } from 'node:fs'
import type { Digest } from '../base/index.ts'
import {
  type Change,
  type EntryState,
  isBelow,
  isSameState,
  type RawPath,
  rawOfText,
} from '../gate/index.ts'
import {
  type Attributes,
  asFailure,
  CAPABILITY,
  type DigestRequest,
  digestFiles,
  type HeldDirectory,
  holdDirectory,
  isEscaped,
  kindOf,
  LentPermissions,
  listUnder,
  NO_ATTRIBUTES,
  nodePath,
  Pace,
  readAttributes,
  statsOf,
  TooMuchText,
} from '../machine/index.ts'
import type { Layer } from '../sandbox/index.ts'
import { type TreeFinding, TreeFindings } from './findings.ts'
import { type Emptied, LayerWalk, type Pair, type SideEntry } from './layer-walk.ts'
import { findSplits, isLinked, type Linked, linkGroups } from './links.ts'
import { LostOwners, type OwnIds } from './lost-owners.ts'
import { changedSince, isSameRoot, type Marker, untrustedClock } from './marker.ts'

/** The most entries that one act may change: each takes memory until it is promoted. */
const ENTRIES_MAX = 400_000
/** The most text in the extended attributes of these: names, and values in hex. */
const ATTRIBUTE_TEXT_MAX = 64 * 1024 * 1024

const WHAT_TO_DO =
  'nothing was changed. Run the command in parts that change less each, or let it write caches and build output to /tmp'

function tooManyEntries(entries: number, entriesMax: number): string {
  const [found, most] = [entries, entriesMax].map((count) => count.toLocaleString('en'))
  return `${found} entries would be changed, and one act may change ${most}; ${WHAT_TO_DO}`
}

function tooMuchText(textMax: number): string {
  const most = `${Math.ceil(textMax / 1024 / 1024)} MB`
  return `the extended attributes of what would be changed hold more than ${most} of text, the most of one act; ${WHAT_TO_DO}`
}

/** How much the clock of files may be behind. */
const ROOT_TICK_MS = 5
/** The longest path that the kernel takes. */
export const PATH_BYTES_MAX = 4095

export interface ScanOptions {
  /** Null for a live view, whose owner compares the real tree with what the view copied. */
  readonly marker: Marker | null
  /** When the first command on these layers began, by the clock that the marker was made with. */
  readonly commandStartedAtMs: number
  /** The most that may have been written, by apparent size. */
  readonly maxBytes: number
  readonly pathBytesMax: number
  readonly scopeRoots: readonly string[]
  /** Only tests set other limits. */
  readonly entriesMax?: number
  readonly attributeTextMax?: number
  /** Owners are compared and every entry can be read. */
  readonly isRoot: boolean
  /** The sandbox knew these ids only; absent when it knew every owner. */
  readonly ids?: OwnIds | null
  /** Real paths that are left out with everything below them: writ's own stage. */
  readonly exclude: readonly string[]
  /** Directories that other acts made since the marker: the run could not see them. */
  readonly madeMeanwhile?: ReadonlySet<RawPath>
  /**
   * Of a live view: directories of the upper layers that hide the real ones. There the overlay cannot be
   * asked, because it may have cached that a name is missing which others made since.
   */
  readonly hiding?: ReadonlySet<RawPath>
  /** Called with each pair of entries that was compared, changed or not. */
  readonly onPair?: (pair: Pair, isChanged: boolean) => void
  /** Digests of files in the stages below: known also for files that this user may not read. */
  readonly known?: ReadonlyMap<RawPath, Digest>
}

export interface Scan {
  /** Sorted by raw path. */
  readonly changes: readonly Change[]
  readonly findings: readonly TreeFinding[]
  /** Directories that were emptied and made again: names that others add to them are conflicts. */
  readonly emptied: readonly Emptied[]
}

export async function scanLayers(layers: readonly Layer[], options: ScanOptions): Promise<Scan> {
  const scanner = new Scanner(layers, options)
  try {
    return await scanner.run()
  } catch (error) {
    throw asFailure(error, 'diff.unsupported', layers[0]?.root ?? '/')
  } finally {
    scanner.end()
  }
}

class Scanner {
  readonly #layers: readonly Layer[]
  readonly #options: ScanOptions
  readonly #findings = new TreeFindings()
  readonly #pace = new Pace()
  readonly #lent: LentPermissions
  readonly #held: HeldDirectory[] = []
  readonly #pairs: Pair[] = []
  readonly #emptied: Emptied[] = []
  readonly #uppers: RawPath[] = []
  readonly #owners = new Owners()
  #attributes: ReadonlyMap<RawPath, Attributes> = new Map()

  constructor(layers: readonly Layer[], options: ScanOptions) {
    this.#layers = layers
    this.#options = options
    this.#lent = new LentPermissions(options.isRoot)
  }

  async run(): Promise<Scan> {
    this.#checkRoots()
    const { entriesMax = ENTRIES_MAX, attributeTextMax = ATTRIBUTE_TEXT_MAX } = this.#options
    const written = { entries: 0, bytes: 0 }
    for (const layer of this.#layers) {
      const { count, bytes } = await this.#walk(layer, entriesMax - written.entries)
      written.entries += count
      written.bytes += bytes
    }
    // Nothing of it is read: a file may claim any size.
    if (written.bytes > this.#options.maxBytes) return this.#tooLarge(`${written.bytes} bytes`)
    if (written.entries > entriesMax) {
      return this.#tooLarge(tooManyEntries(written.entries, entriesMax))
    }
    this.#lendFiles()
    const attributes = this.#readAttributes(attributeTextMax)
    await Promise.all([this.#readDigests(), attributes])
    if (!(await attributes)) return this.#tooLarge(tooMuchText(attributeTextMax))
    const changes = this.#changes()
    return { changes, findings: this.#findings.list(), emptied: this.#emptied }
  }

  /** Nothing of it can be promoted. */
  #tooLarge(detail: string): Scan {
    this.#findings.add('diff.too_large', rawOfText(this.#layers[0]?.root ?? '/'), detail)
    return { changes: [], findings: this.#findings.list(), emptied: [] }
  }

  end(): void {
    this.#lent.giveBack()
    for (const held of this.#held.splice(0)) held.close()
  }

  #checkRoots(): void {
    for (const identity of this.#options.marker?.roots ?? []) {
      if (isSameRoot(identity)) continue
      const path = rawOfText(identity.root)
      this.#findings.add('rehearsal.interfered', path, 'is another directory now')
    }
    for (const root of this.#options.scopeRoots) {
      const filesystem = untrustedClock(root)
      if (filesystem !== null) this.#findings.add('diff.clock', rawOfText(root), filesystem)
    }
  }

  /** How many entries and bytes were written there. */
  async #walk(layer: Layer, entriesMax: number): Promise<Pick<LayerWalk, 'count' | 'bytes'>> {
    const root = rawOfText(layer.root)
    const nested = this.#layers
      .map((other) => rawOfText(other.root))
      .filter((other) => other !== root && isBelow(other, root))
    const walk = new LayerWalk(
      {
        root,
        upper: this.#holdUpper(layer.upper),
        real: this.#hold(layer.lower ?? layer.root),
        merged: this.#hold(layer.merged),
        exclude: new Set([...nested, ...this.#options.exclude.map(rawOfText)]),
        pathBytesMax: this.#options.pathBytesMax,
        entriesMax,
        madeMeanwhile: this.#options.madeMeanwhile ?? NOTHING_MADE,
        hiding: this.#options.hiding ?? null,
      },
      this.#findings,
      this.#lent,
      this.#pace,
    )
    await walk.run()
    for (const pair of walk.pairs) this.#pairs.push(pair)
    for (const path of walk.emptied) this.#emptied.push(path)
    return walk
  }

  #holdUpper(path: string): RawPath {
    const prefix = this.#hold(path)
    this.#uppers.push(prefix)
    return prefix
  }

  #hold(path: string): RawPath {
    const held = holdDirectory(path)
    this.#held.push(held)
    return held.prefix
  }

  /** After the walk: the other names of a linked file would show the lent mode. */
  #lendFiles(): void {
    for (const { after } of this.#pairs) {
      if (after?.stats.isFile() === true) this.#lent.lend(after.stats, after.at)
    }
  }

  async #readDigests(): Promise<void> {
    await digestFiles(this.#digestRequests(), this.#pace)
  }

  *#digestRequests(): Generator<DigestRequest> {
    for (const { path, before, after } of this.#pairs) {
      for (const side of [before, after]) {
        if (side === null || !side.stats.isFile()) continue
        const settle = (digest: Digest | null) => {
          const known = side === before ? this.#options.known?.get(path) : undefined
          side.digest = digest ?? known ?? null
          if (side.digest === null) this.#findings.add('diff.unsupported', path, 'cannot be read')
        }
        yield { path: side.at, size: side.stats.size, settle }
      }
    }
  }

  /**
   * One process for any number of entries, and none when nothing was written. False when there is too
   * much text in them.
   */
  async #readAttributes(textMax: number): Promise<boolean> {
    if (!this.#pairs.some((pair) => this.#isWritten(pair))) return true
    const sides = { [Symbol.iterator]: () => attributedSides(this.#pairs) }
    const batch = await readAttributes(
      { [Symbol.iterator]: () => placesOf(sides) },
      (at) => (this.#uppers.some((upper) => isBelow(at, upper)) ? 'upper' : 'real'),
      textMax,
    ).catch((error: unknown) => {
      if (error instanceof TooMuchText) return null
      throw error
    })
    if (batch === null) return false
    this.#attributes = batch.byPath
    const unreadable = new Set(batch.unreadable)
    // The empty path means that `getfattr` complained without naming a path.
    if (unreadable.delete('' as RawPath)) this.#unreadable(rawOfText(this.#layers[0]?.root ?? '/'))
    if (unreadable.size === 0) return true
    for (const [path, { at }] of sides) if (unreadable.has(at)) this.#unreadable(path)
    return true
  }

  #unreadable(path: RawPath): void {
    this.#findings.add('diff.unsupported', path, 'attributes unreadable')
  }

  /** The roots of layers are always there: one counts when it changed since the run began. */
  #isWritten({ isRoot, after }: Pair): boolean {
    if (!isRoot) return true
    const changedMs = Number((after?.stats.ctimeNs ?? 0n) / 1_000_000n)
    return changedMs >= this.#options.commandStartedAtMs - ROOT_TICK_MS
  }

  #changes(): readonly Change[] {
    const after = this.#groupsOf(({ after }) => after)
    const before = this.#groupsOf(({ before }) => before)
    const hasLinks = this.#pairs.some(isLinked)
    const { ids } = this.#options
    const owners = ids == null ? null : new LostOwners(ids)
    const linked: Linked[] = []
    const changes: Change[] = []
    // Each pair is let go of when its change is made: there may be very many.
    const pairs = this.#pairs.reverse()
    for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
      const change = {
        path: pair.path,
        before: this.#state(pair.before, before),
        after: this.#state(pair.after, after),
      }
      const isDropped = isSameState(change.before, pair.isRoot ? rooted(change) : change.after)
      if (hasLinks) linked.push({ pair, change, isDropped })
      if (!isDropped) changes.push(change)
      if (!isDropped) owners?.note(pair)
      this.#checkCarried(pair, isDropped)
      this.#options.onPair?.(pair, !isDropped)
      if (!isDropped || pair.isWatched) this.#checkInterference(pair)
    }
    findSplits(linked, this.#options.scopeRoots.map(rawOfText), this.#findings)
    changes.sort((one, other) => (one.path < other.path ? -1 : 1))
    return owners?.settle(changes, this.#findings) ?? changes
  }

  #groupsOf(pick: (pair: Pair) => SideEntry | null): ReadonlyMap<string, RawPath> {
    return linkGroups(statsIn(this.#pairs, pick))
  }

  #state(side: SideEntry | null, groups: ReadonlyMap<string, RawPath>): EntryState | null {
    if (side === null) return null
    const { stats } = side
    const isFile = stats.isFile()
    const { mode } = stats
    const { kept } = this.#attributesOf(side)
    return {
      kind: kindOf(stats),
      mode,
      size: isFile ? stats.size : 0,
      digest: side.digest,
      target: stats.isSymbolicLink() ? targetOf(side.at) : null,
      attributes: kept.length === 0 ? NONE : kept.map((one) => listUnder(mode, one)),
      owner: this.#options.isRoot ? this.#owners.of(stats) : null,
      mtimeNs: String(stats.mtimeNs),
      linkGroup: isFile && stats.nlink > 1 ? (groups.get(stats.inode) ?? null) : null,
    }
  }

  #attributesOf(side: SideEntry): Attributes {
    if (this.#attributes.size === 0) return NO_ATTRIBUTES
    return this.#attributes.get(side.at) ?? NO_ATTRIBUTES
  }

  /** Attributes that would be lost on the way, or must not be put on a real file. */
  #checkCarried({ path, before, after }: Pair, isDropped: boolean): void {
    for (const side of [before, after]) {
      if (side === null) continue
      const { foreign, kept } = this.#attributesOf(side)
      const isCapable = side === after && kept.some(([name]) => name === CAPABILITY)
      const written = side === after ? this.#newLabels(before, side) : []
      const bad = [...(isCapable ? [CAPABILITY] : []), ...written]
      // On an entry that is otherwise unchanged, only attributes that the run wrote count.
      const names = isDropped ? foreign.filter(isEscaped) : [...foreign, ...bad]
      const [name] = names
      if (name !== undefined) this.#findings.add('diff.unsupported', path, `attribute ${name}`)
    }
  }

  /** Labels that the run wrote: those that the entry did not have before. */
  #newLabels(before: Pair['before'], after: NonNullable<Pair['after']>): readonly string[] {
    const { labels = [] } = this.#attributesOf(after)
    if (labels.length === 0) return []
    const { labels: old = [] } = before === null ? NO_ATTRIBUTES : this.#attributesOf(before)
    const had = new Map(old)
    return labels.filter(([name, value]) => had.get(name) !== value).map(([name]) => name)
  }

  #checkInterference({ path, before }: Pair): void {
    if (before === null) return
    const { marker, commandStartedAtMs } = this.#options
    const isLater = marker === null ? never : changedSince(marker, commandStartedAtMs)
    const now = statsOf(before.at)
    if (now === null) this.#findings.add('rehearsal.interfered', path, 'was removed meanwhile')
    else if (now.ctimeNs !== before.stats.ctimeNs || isLater(now.ctimeNs)) {
      this.#findings.add('rehearsal.interfered', path, 'was changed meanwhile')
    }
  }
}

const NONE: EntryState['attributes'] = []
const never = (): boolean => false
const NOTHING_MADE: ReadonlySet<RawPath> = new Set()

type Owner = NonNullable<EntryState['owner']>

/** Few owners own many entries. */
class Owners {
  readonly #known = new Map<string, Owner>()

  of({ uid, gid }: Owner): Owner {
    const key = `${uid}:${gid}`
    const known = this.#known.get(key) ?? { uid, gid }
    this.#known.set(key, known)
    return known
  }
}

function* statsIn(
  pairs: Iterable<Pair>,
  pick: (pair: Pair) => SideEntry | null,
): Generator<readonly [RawPath, SideEntry['stats']]> {
  for (const pair of pairs) {
    const side = pick(pair)
    if (side !== null) yield [pair.path, side.stats]
  }
}

/** Leaves symbolic links out: no user may write attributes on them. */
function* attributedSides(pairs: readonly Pair[]): Generator<readonly [RawPath, SideEntry]> {
  for (const { path, before, after } of pairs) {
    if (after?.stats.isSymbolicLink() === false) yield [path, after]
    if (before?.stats.isSymbolicLink() === false) yield [path, before]
  }
}

function* placesOf(sides: Iterable<readonly [RawPath, SideEntry]>): Generator<RawPath> {
  for (const [, { at }] of sides) yield at
}

function targetOf(at: RawPath): RawPath {
  // In latin1 each byte is a character, as in a raw path.
  return readlinkSync(nodePath(at), 'latin1') as RawPath
}

/**
 * Returns the state of a layer's root after the run. writ makes the root of an upper layer and does not
 * copy it from the real one: the run did not remove the attributes that it lacks.
 */
function rooted({ before, after }: Change): EntryState | null {
  if (before === null || after === null) return after
  const has = new Set(after.attributes.map(([name]) => name))
  const lacking = before.attributes.filter(([name]) => !has.has(name))
  const attributes = [...after.attributes, ...lacking].sort(([one], [other]) =>
    one < other ? -1 : 1,
  )
  return { ...after, attributes }
}
