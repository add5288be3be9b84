/**
 * Few plain files, copied out of a layer while somebody still decides whether they are to be staged:
 * a tool does it, and nobody has to wait for it then. Whoever stages takes the copies; what nobody took
 * goes with its stage.
 *
 * The stage is for this process's user alone, before the decision as after it.
 */
import { mkdirSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parentOfRaw, type RawPath, rawOfText } from '../gate/index.ts'
import {
  codeOf,
  type EntryStats,
  type Foothold,
  holdDirectory,
  isAbsence,
  kindOf,
  nodePath,
  statsOf,
} from '../machine/index.ts'
import type { Layer } from '../sandbox/index.ts'
import { areFewAndPlain, type CopiedAttributes, copyFew, removeAll } from './carry.ts'
import type { Pair, Side } from './layer-walk.ts'
import { isSameDevice, nameIn, type Sharable, share } from './share.ts'

/** What is copied for nothing when it is not staged. */
const BYTES_MAX = 1024 * 1024
/** Few files have few directories above them: of more than these nothing has to be looked at. */
const PAIRS_MAX = 256

interface Copied {
  readonly target: Foothold
  readonly attributes: CopiedAttributes
}

export class CopiesAhead {
  readonly #layer: Layer
  readonly #names: ReadonlySet<RawPath>
  /** In the stage. */
  readonly #directory: RawPath
  readonly #upper: Foothold
  readonly #target: Foothold
  readonly #copied: Promise<CopiedAttributes>
  #isTaken = false

  private constructor(layer: Layer, names: readonly RawPath[], directory: string, upper: Foothold) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    this.#layer = layer
    this.#names = new Set(names)
    this.#directory = rawOfText(directory)
    this.#upper = upper
    this.#target = holdDirectory(directory)
    this.#copied = copyFew({ upper, target: this.#target, names, units: [] })
    // Heard of by who takes them.
    this.#copied.catch(() => undefined)
  }

  /**
   * Null when there is nothing to be won: what is much, what has to be lent before it can be read, and
   * what fails is left to whoever stages.
   */
  static begin(
    pairs: readonly Pair[],
    layers: readonly Layer[],
    stage: string,
  ): CopiesAhead | null {
    if (pairs.length > PAIRS_MAX) return null
    const [part, ...others] = share(pairs.map(sharable), layers)
    if (part === undefined || others.length > 0) return null
    const { layer, name, changes } = part
    if (!changes.every(({ side }) => side !== null && isOpenToOwner(side.stats))) return null
    const names = changes.map(({ path }) => nameIn(layer, path))
    let upper: Foothold | null = null
    try {
      if (isSameDevice(layer, dirname(stage))) return null
      upper = holdDirectory(layer.upper)
      if (areFewAndPlain({ upper, names }, BYTES_MAX)) {
        return new CopiesAhead(layer, names, join(stage, name), upper)
      }
    } catch {
      // Told by who stages.
    }
    upper?.close()
    return null
  }

  /** The copies of these names, when all of them are; null when they have to be made. */
  async take(layer: Layer, names: readonly RawPath[]): Promise<Copied | null> {
    if (layer !== this.#layer || !names.every((name) => this.#names.has(name))) {
      await this.#clear()
      return null
    }
    this.#isTaken = true
    const attributes = await this.#copied
    return { target: this.#target, attributes }
  }

  /** When nobody works with the layer or the copies any more. */
  async end(): Promise<void> {
    if (!this.#isTaken) await this.#clear()
    this.#upper.close()
    this.#target.close()
  }

  /** Nobody wants them; a stage that has nothing else in it goes too. */
  async #clear(): Promise<void> {
    await this.#copied.catch(() => undefined)
    if (statsOf(this.#directory) !== null) removeAll(this.#directory)
    try {
      rmdirSync(nodePath(parentOfRaw(this.#directory)))
    } catch (error) {
      if (codeOf(error) !== 'ENOTEMPTY' && !isAbsence(error)) throw error
    }
  }
}

/** An entry with where it lies. */
function sharable({ path, before, after }: Pair): Sharable & { readonly side: Side | null } {
  return { path, before: kindAt(before), after: kindAt(after), side: after }
}

function kindAt(side: Side | null): Sharable['after'] {
  return side === null ? null : { kind: kindOf(side.stats) }
}

/** Links have no rights of their own. */
function isOpenToOwner(stats: EntryStats): boolean {
  return stats.isSymbolicLink() || process.getuid?.() === 0 || (stats.mode & 0o600) === 0o600
}
