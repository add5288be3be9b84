/**
 * What a rehearsal changed, read off the layers (G-13). Exact, and at a cost that follows what was
 * written, not what exists.
 *
 * INVARIANT (before is what the run could see): every real entry behind a change is looked at again
 *   after it was read; one that changed since the marker, or while it was read, is
 *   `rehearsal.interfered`.
 * INVARIANT (nothing real changes): only permission bits in the upper layer are lent for reading, and
 *   given back.
 *
 * The layers must be still: every process of the run is dead.
 */
import { readlinkSync } from 'node:fs'
import type { Digest } from '../../base/index.ts'
import {
  type Change,
  type EntryState,
  isBelow,
  isSameState,
  type RawPath,
  rawOfText,
} from '../../gate/index.ts'
import type { Layer } from '../sandbox/driver.ts'
import {
  type Attributes,
  CAPABILITY,
  isEscaped,
  listUnder,
  NO_ATTRIBUTES,
  readAttributes,
} from './attributes.ts'
import { asFailure } from './failure.ts'
import { type DigestRequest, digestFiles } from './file-digest.ts'
import { Findings, type TreeFinding } from './findings.ts'
import { type Foothold, holdDirectory, kindOf, Loans, nodePath, statsOf } from './footing.ts'
import { type Emptied, LayerWalk, type Pair, type Side } from './layer-walk.ts'
import { findSplits, inodeOf, type Linked, linkGroups } from './links.ts'
import { changedSince, isSameRoot, type Marker, untrustedClock } from './marker.ts'
import { Pace } from './pace.ts'

/** How much the clock of files may be behind. */
const ROOT_TICK_MS = 5
/** The longest path that the kernel takes. */
export const PATH_BYTES_MAX = 4095

export interface ScanOptions {
  readonly marker: Marker
  /** When the first command on these layers began, by the clock that the marker was made with. */
  readonly commandStartedAtMs: number
  /** The most that may have been written, by apparent size. */
  readonly maxBytes: number
  readonly pathBytesMax: number
  readonly scopeRoots: readonly string[]
  /** Owners are compared and every entry can be read. */
  readonly isRoot: boolean
  /** Real paths that are left out with everything below them: writ's own stage. */
  readonly exclude: readonly string[]
  /** Of files of other stages below: their bytes are known also where nobody may read them. */
  readonly known?: ReadonlyMap<RawPath, Digest>
  /** Told of everything that was written, before it is read; some of it may turn out to be as before. */
  readonly onWalked?: (pairs: readonly Pair[]) => void
}

export interface Scan {
  /** Sorted by raw path. */
  readonly changes: readonly Change[]
  readonly findings: readonly TreeFinding[]
  /** Directories that were emptied and made anew: what others put into them is in the way. */
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
  readonly #findings = new Findings()
  readonly #pace = new Pace()
  readonly #loans: Loans
  readonly #held: Foothold[] = []
  readonly #pairs: Pair[] = []
  readonly #emptied: Emptied[] = []
  readonly #digests = new Map<Side, Digest>()
  readonly #attributes = new Map<RawPath, Attributes>()

  constructor(layers: readonly Layer[], options: ScanOptions) {
    this.#layers = layers
    this.#options = options
    this.#loans = new Loans(options.isRoot)
  }

  async run(): Promise<Scan> {
    this.#checkRoots()
    let bytes = 0n
    for (const layer of this.#layers) bytes += await this.#walk(layer)
    if (bytes > BigInt(this.#options.maxBytes)) {
      // Nothing of it is read: a file may claim any size.
      const root = rawOfText(this.#layers[0]?.root ?? '/')
      this.#findings.add('diff.too_large', root, `${bytes} bytes`)
      return { changes: [], findings: this.#findings.list(), emptied: [] }
    }
    this.#lendFiles()
    const attributes = this.#readAttributes()
    this.#options.onWalked?.(this.#pairs)
    await Promise.all([this.#readDigests(), attributes])
    const changes = this.#changes()
    return { changes, findings: this.#findings.list(), emptied: this.#emptied }
  }

  end(): void {
    this.#loans.giveBack()
    for (const held of this.#held.splice(0)) held.close()
  }

  #checkRoots(): void {
    for (const identity of this.#options.marker.roots) {
      if (isSameRoot(identity)) continue
      const path = rawOfText(identity.root)
      this.#findings.add('rehearsal.interfered', path, 'is another directory now')
    }
    for (const root of this.#options.scopeRoots) {
      const filesystem = untrustedClock(root)
      if (filesystem !== null) this.#findings.add('diff.clock', rawOfText(root), filesystem)
    }
  }

  /** How many bytes were written there. */
  async #walk(layer: Layer): Promise<bigint> {
    const root = rawOfText(layer.root)
    const nested = this.#layers
      .map((other) => rawOfText(other.root))
      .filter((other) => other !== root && isBelow(other, root))
    const walk = new LayerWalk(
      {
        root,
        upper: this.#hold(layer.upper),
        real: this.#hold(layer.lower ?? layer.root),
        merged: this.#hold(layer.merged),
        exclude: new Set([...nested, ...this.#options.exclude.map(rawOfText)]),
        pathBytesMax: this.#options.pathBytesMax,
      },
      this.#findings,
      this.#loans,
      this.#pace,
    )
    await walk.run()
    for (const pair of walk.pairs) this.#pairs.push(pair)
    this.#emptied.push(...walk.emptied)
    return walk.bytes
  }

  #hold(path: string): RawPath {
    const held = holdDirectory(path)
    this.#held.push(held)
    return held.prefix
  }

  /** After the walk: the other names of a linked file would show the lent mode. */
  #lendFiles(): void {
    for (const { after } of this.#pairs) {
      if (after?.stats.isFile() === true) this.#loans.lend(after.stats, after.at)
    }
  }

  async #readDigests(): Promise<void> {
    const requests: DigestRequest[] = []
    for (const { path, before, after } of this.#pairs) {
      for (const side of [before, after]) {
        if (side === null || !side.stats.isFile()) continue
        const settle = (digest: Digest | null) => {
          const known = side === before ? this.#options.known?.get(path) : undefined
          const found = digest ?? known ?? null
          if (found !== null) this.#digests.set(side, found)
          else this.#findings.add('diff.unsupported', path, 'cannot be read')
        }
        requests.push({ path: side.at, size: side.stats.size, settle })
      }
    }
    await digestFiles(requests, this.#pace)
  }

  /** One process for any number of entries, and none when nothing was written. */
  async #readAttributes(): Promise<void> {
    if (!this.#pairs.some((pair) => this.#isWritten(pair))) return
    const upper = new Map<RawPath, RawPath>()
    const real = new Map<RawPath, RawPath>()
    for (const { path, before, after } of this.#pairs) {
      // Symbolic links carry no attributes that anybody may write.
      if (after?.stats.isSymbolicLink() === false) upper.set(after.at, path)
      if (before?.stats.isSymbolicLink() === false) real.set(before.at, path)
    }
    const { byPath, unreadable } = await readAttributes([...upper.keys(), ...real.keys()], (at) =>
      upper.has(at) ? 'upper' : 'real',
    )
    for (const [at, found] of byPath) this.#attributes.set(at, found)
    for (const at of unreadable) {
      const path = upper.get(at) ?? real.get(at) ?? rawOfText(this.#layers[0]?.root ?? '/')
      this.#findings.add('diff.unsupported', path, 'attributes unreadable')
    }
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
    const linked: Linked[] = []
    for (const pair of this.#pairs) {
      const change = {
        path: pair.path,
        before: this.#state(pair.before, before),
        after: this.#state(pair.after, after),
      }
      const isDropped = isSameState(change.before, pair.isRoot ? rooted(change) : change.after)
      linked.push({ pair, change, isDropped })
      this.#checkCarried(pair, isDropped)
      if (!isDropped || pair.isWatched) this.#checkInterference(pair)
    }
    findSplits(linked, this.#options.scopeRoots.map(rawOfText), this.#findings)
    return linked
      .filter(({ isDropped }) => !isDropped)
      .map(({ change }) => change)
      .sort((one, other) => (one.path < other.path ? -1 : 1))
  }

  #groupsOf(pick: (pair: Pair) => Side | null): ReadonlyMap<string, RawPath> {
    const sides: (readonly [RawPath, Side['stats']])[] = []
    for (const pair of this.#pairs) {
      const side = pick(pair)
      if (side !== null) sides.push([pair.path, side.stats])
    }
    return linkGroups(sides)
  }

  #state(side: Side | null, groups: ReadonlyMap<string, RawPath>): EntryState | null {
    if (side === null) return null
    const { stats, at } = side
    const isFile = stats.isFile()
    const mode = Number(stats.mode & 0o7777n)
    const { kept } = this.#attributes.get(at) ?? NO_ATTRIBUTES
    return {
      kind: kindOf(stats),
      mode,
      size: isFile ? Number(stats.size) : 0,
      digest: this.#digests.get(side) ?? null,
      target: stats.isSymbolicLink() ? targetOf(at) : null,
      attributes: kept.map((one) => listUnder(mode, one)),
      owner: this.#options.isRoot ? { uid: Number(stats.uid), gid: Number(stats.gid) } : null,
      mtimeNs: String(stats.mtimeNs),
      linkGroup: isFile && stats.nlink > 1n ? (groups.get(inodeOf(stats)) ?? null) : null,
    }
  }

  /** Attributes that would be lost on the way, or must not be put on a real file. */
  #checkCarried({ path, before, after }: Pair, isDropped: boolean): void {
    for (const side of [before, after]) {
      if (side === null) continue
      const { foreign, kept } = this.#attributes.get(side.at) ?? NO_ATTRIBUTES
      const isCapable = side === after && kept.some(([name]) => name === CAPABILITY)
      const written = side === after ? this.#newLabels(before, side) : []
      const bad = [...(isCapable ? [CAPABILITY] : []), ...written]
      // Of what is otherwise as it was, only what the run itself wrote counts.
      const names = isDropped ? foreign.filter(isEscaped) : [...foreign, ...bad]
      const [name] = names
      if (name !== undefined) this.#findings.add('diff.unsupported', path, `attribute ${name}`)
    }
  }

  /** Labels that the run wrote: those that the entry did not have before. */
  #newLabels(before: Pair['before'], after: NonNullable<Pair['after']>): readonly string[] {
    const { labels = [] } = this.#attributes.get(after.at) ?? NO_ATTRIBUTES
    if (labels.length === 0) return []
    const { labels: old = [] } =
      before === null ? NO_ATTRIBUTES : (this.#attributes.get(before.at) ?? NO_ATTRIBUTES)
    const had = new Map(old)
    return labels.filter(([name, value]) => had.get(name) !== value).map(([name]) => name)
  }

  #checkInterference({ path, before }: Pair): void {
    if (before === null) return
    const isLater = changedSince(this.#options.marker, this.#options.commandStartedAtMs)
    const now = statsOf(before.at)
    if (now === null) this.#findings.add('rehearsal.interfered', path, 'was removed meanwhile')
    else if (now.ctimeNs !== before.stats.ctimeNs || isLater(now.ctimeNs)) {
      this.#findings.add('rehearsal.interfered', path, 'was changed meanwhile')
    }
  }
}

function targetOf(at: RawPath): RawPath {
  return readlinkSync(nodePath(at), 'latin1') as RawPath
}

/**
 * The root of an upper layer is made anew, not copied from the real one: attributes that it lacks were
 * not taken away by the run.
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
