/**
 * The live view of a kept sandbox. Order of a settle, with all processes stopped: scan, prepare, (the
 * caller makes changes real), prune, thaw.
 *
 * INVARIANT (the upper describes the view): upper entries with their marks say what the kernel has
 *   cached. An entry in use is not removed; a new directory hides the real one before that exists, and
 *   until it is free.
 * INVARIANT (no old inode comes back): no entry is revealed whose overlay inode is still in use.
 */
import { dirname } from 'node:path'
import { faultError } from '../base/index.ts'
import { parentOfRaw, type RawPath, rawOfText } from '../gate/index.ts'
import type { Keeper, Sandbox } from '../sandbox/index.ts'
import { StoppedView } from './frozen-view.ts'
import { ViewGround } from './ground.ts'
import { hidingIn, observe } from './observe.ts'
import { readWriters } from './pins.ts'
import { hasSameRights, lookQuietly } from './record.ts'
import { markOf, mergedAt, type UpperEntry, upperAt } from './upper.ts'
import type { FrozenView, LiveView, Refreshed, ViewOptions } from './view.ts'

export function openView(sandbox: Sandbox, options: ViewOptions): LiveView {
  const { keeper } = sandbox
  if (keeper === null) {
    throw faultError('sandbox.failed', '', 'a view needs a sandbox whose layers are kept')
  }
  return new OverlayView(sandbox, keeper, options)
}

class OverlayView implements LiveView {
  readonly #ground: ViewGround
  #frozen: StoppedView | null = null

  constructor(sandbox: Sandbox, keeper: Keeper, options: ViewOptions) {
    this.#ground = new ViewGround(sandbox, keeper, options)
  }

  async freeze(): Promise<FrozenView> {
    if (this.#frozen?.isOpen === true) {
      throw faultError('sandbox.failed', '', 'the view is frozen already')
    }
    const thaw = await this.#ground.sandbox.freeze()
    try {
      this.#frozen = new StoppedView(this.#ground, await this.#ground.readPins(), thaw)
      return this.#frozen
    } catch (error) {
      thaw()
      throw error
    }
  }

  async refresh(changed: readonly string[] = []): Promise<Refreshed> {
    const ground = this.#ground
    const removed = this.#removedOf(changed)
    const unsure = new Set([...ground.stale, ...removed])
    let tree = ground.readUpper()
    await observe(tree, ground.record, unsure, ground.keeper)
    if ((await hidingIn(tree, ground.keeper)).size > 0) return this.#refreshStopped(removed)
    await ground.remount()
    if (removed.length > 0) {
      // A process may have changed a removed file by its cached name until now.
      tree = ground.readUpper()
      await observe(tree, ground.record, unsure, ground.keeper)
    }
    ground.record.save()
    return { stale: await ground.verify(tree, await ground.readPins(), []) }
  }

  /** A directory that hides the real one becomes a merge with it only while everything is stopped. */
  async #refreshStopped(removed: readonly RawPath[]): Promise<Refreshed> {
    for (const path of removed) this.#ground.stale.add(path)
    const frozen = await this.freeze()
    try {
      return await frozen.prune([])
    } finally {
      frozen.thaw()
    }
  }

  /** Those of the paths whose real entries went after the last refresh. */
  #removedOf(paths: readonly string[]): readonly RawPath[] {
    const { refreshedNs } = this.#ground.record
    return paths.map(rawOfText).filter((path) => {
      if (lookQuietly(path) !== null) return false
      const above = lookQuietly(parentOfRaw(path))
      return above === null || BigInt(above.ctimeNs) >= refreshedNs
    })
  }

  hasNews(paths: readonly string[]): boolean {
    const { refreshedNs } = this.#ground.record
    return paths.some((path) => {
      const real = lookQuietly(rawOfText(path))
      if (real === null && this.#isUnknown(rawOfText(path))) return false
      return [real, lookQuietly(rawOfText(dirname(path)))].some(
        (each) => each !== null && BigInt(each.ctimeNs) >= refreshedNs,
      )
    })
  }

  /**
   * Whether neither the view nor its upper layer has the path. A file that came and went, such as the lock
   * that each `git status` outside takes, is no news: dropping all cached names for it costs more than the
   * command itself.
   */
  #isUnknown(path: RawPath): boolean {
    const layer = this.#ground.layerOf(path)
    if (layer === undefined) return false
    return lookQuietly(mergedAt(layer, path)) === null && lookQuietly(upperAt(layer, path)) === null
  }

  async hasPending(): Promise<boolean> {
    const { record } = this.#ground
    // What the session removed before the yes leaves no trace in the layers.
    if (record.awaited.size > 0) return true
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
    return [...readWriters(this.#ground.sandbox.allProcesses(), this.#ground.roots)]
  }

  close(): void {
    this.#frozen?.thaw()
    this.#ground.record.save()
  }
}
