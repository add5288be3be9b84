/** What all parts of a view work on: the layers, the record, the keeper; and what the view really shows. */
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parentOfRaw, type RawPath, rawOfText } from '../gate/index.ts'
import type { Keeper, Layer, Sandbox } from '../sandbox/index.ts'
import { TICK_MS_MAX } from '../tree/index.ts'
import { hidingIn } from './observe.ts'
import { type Pins, readPins } from './pins.ts'
import { hasSameRights, lookAt, lookQuietly, ViewRecord } from './record.ts'
import { mergedAt, readUpper, type UpperEntry, type UpperTree } from './upper.ts'
import type { Stale, ViewOptions } from './view.ts'

const OLD_NS = 10_000_000_000n

export class ViewGround {
  readonly layers: readonly Layer[]
  readonly roots: readonly RawPath[]
  readonly exclude: ReadonlySet<RawPath>
  readonly record: ViewRecord
  /** Paths whose real entries the view does not show, as far as is known. */
  readonly stale = new Set<RawPath>()
  readonly sandbox: Sandbox
  readonly keeper: Keeper
  readonly options: ViewOptions
  readonly #clock: string

  constructor(sandbox: Sandbox, keeper: Keeper, options: ViewOptions) {
    this.sandbox = sandbox
    this.keeper = keeper
    this.options = options
    this.layers = sandbox.layers
    this.roots = sandbox.layers.map(({ root }) => rawOfText(root))
    this.exclude = new Set(options.exclude.map(rawOfText))
    this.#clock = join(options.directory, 'view.clock')
    writeFileSync(this.#clock, '')
    // Layers with entries and without a record lost it: nothing is known of what they were copied from.
    const isNew = this.readUpper().roots.every(({ children }) => children.length === 0)
    this.record = new ViewRecord(options.directory, () => (isNew ? this.nowNs() : 0n))
  }

  /** By the clock of files, which ticks every few milliseconds. */
  nowNs(): bigint {
    utimesSync(this.#clock, 0, 0)
    return BigInt(lookAt(rawOfText(this.#clock))?.ctimeNs ?? 0)
  }

  /** A moment that is later than every change that was made until now. */
  async laterNs(): Promise<bigint> {
    const [beforeNs, until] = [this.nowNs(), performance.now() + TICK_MS_MAX]
    for (;;) {
      const nowNs = this.nowNs()
      if (nowNs > beforeNs || performance.now() > until) return nowNs
      await nextTurn()
    }
  }

  readPins(): Promise<Pins> {
    return readPins(this.sandbox.allProcesses(), this.roots, this.keeper)
  }

  readUpper(): UpperTree {
    return readUpper(this.layers, this.exclude, this.options.isRoot)
  }

  layerOf(path: RawPath): Layer | undefined {
    return this.layers
      .filter(({ root }) => path === rawOfText(root) || path.startsWith(`${rawOfText(root)}/`))
      .sort((one, other) => other.root.length - one.root.length)[0]
  }

  /** Whether names were dropped so long ago that a change which no watch told of may be hidden. */
  isOld(): boolean {
    return this.nowNs() - this.record.refreshedNs > OLD_NS
  }

  async remount(): Promise<void> {
    const nowNs = await this.laterNs()
    for (const layer of this.layers) await this.keeper.remount(layer)
    this.record.refreshedNs = nowNs
  }

  /**
   * Compares what the view shows with what it should, for paths in use and those given. Of those that were
   * `judged` to be hidden, returns the ones that still are.
   */
  async verify(
    tree: UpperTree,
    pins: Pins,
    changed: Iterable<RawPath>,
    judged: readonly Stale[] = [],
  ): Promise<readonly Stale[]> {
    const hiding = await hidingIn(tree, this.keeper)
    this.stale.clear()
    const found = judged.filter(({ path }) => tree.byPath.has(path) || isHidden(path, tree, hiding))
    for (const path of new Set([...changed, ...pins.paths()])) {
      const why = this.#mismatch(path, tree, hiding)
      if (why === null) continue
      this.stale.add(path)
      found.push({ path, why })
    }
    return found
  }

  #mismatch(path: RawPath, tree: UpperTree, hiding: ReadonlySet<UpperEntry>): string | null {
    const layer = this.layerOf(path)
    if (layer === undefined) return null
    const entry = tree.byPath.get(path)
    const shown = lookQuietly(mergedAt(layer, path))
    if (entry === undefined && isHidden(path, tree, hiding)) return null
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

/** Whether an upper entry above the path, or a mark on one, keeps the real entry from being seen. */
function isHidden(path: RawPath, tree: UpperTree, hiding: ReadonlySet<UpperEntry>): boolean {
  for (let up = path; up !== '/'; up = parentOfRaw(up)) {
    const entry = tree.byPath.get(up)
    if (entry !== undefined) return entry.found.kind !== 'directory' || hiding.has(entry)
  }
  return false
}
