/**
 * Divides changes among layers, and names the directory of each layer in the stage. A path belongs to the
 * innermost layer that contains it: that layer was written to.
 */
import { statSync } from 'node:fs'
import { type Change, isBelow, parentOfRaw, type RawPath, rawOfText } from '../gate/index.ts'
import { type LentPermissions, statsOf } from '../machine/index.ts'
import type { Layer } from '../sandbox/index.ts'
import type { Load } from './carry.ts'

/** The changes of one layer that have to be staged. */
export interface Share {
  readonly layer: Layer
  /** Its directory in the stage. */
  readonly name: string
  readonly changes: readonly Change[]
  readonly units: ReadonlySet<RawPath>
}

export function share(changes: readonly Change[], layers: readonly Layer[]): readonly Share[] {
  const inner = [...layers].sort((one, other) => other.root.length - one.root.length)
  const parts = new Map<Layer, Change[]>()
  for (const change of changes) {
    if (!isStaged(change)) continue
    const layer = inner.find(({ root }) => isBelow(change.path, rawOfText(root)))
    if (layer === undefined) continue
    const part = parts.get(layer)
    if (part === undefined) parts.set(layer, [change])
    else part.push(change)
  }
  return [...parts].map(([layer, part]) => {
    const directories = new Set(
      part.flatMap(({ path, after }) => (after?.kind === 'directory' ? [path] : [])),
    )
    const units = part.filter(({ path }) => !directories.has(parentOfRaw(path)))
    const sorted = part.sort((one, other) => (one.path < other.path ? -1 : 1))
    return {
      layer,
      name: String(layers.indexOf(layer)),
      changes: sorted,
      units: new Set(units.map(({ path }) => path)),
    }
  })
}

function isStaged({ before, after }: Change): boolean {
  if (after === null) return false
  return after.kind !== 'directory' || before?.kind !== 'directory'
}

/** The name of a path below the root of its layer. */
export function nameIn({ root }: Layer, path: RawPath): RawPath {
  return path.slice(rawOfText(root === '/' ? '' : root).length + 1) as RawPath
}

export function isSameDevice({ upperDevice }: Layer, stage: string): boolean {
  return upperDevice !== null && statSync(stage).dev === upperDevice
}

/**
 * Everything on the way to each name, and the name itself. Files are lent the right to write too: a
 * copy is made with the mode of its source, and takes attributes only if it may be written.
 */
export function lendForCopying(
  { upper, names }: Pick<Load, 'upper' | 'names'>,
  lent: LentPermissions,
): void {
  const done = new Set<string>()
  const lend = (part: string) => {
    if (done.has(part)) return
    done.add(part)
    // Parts of raw names, below a raw prefix.
    const at = `${upper.prefix}/${part}` as RawPath
    const stats = statsOf(at)
    if (stats === null || stats.isSymbolicLink()) return
    lent.lend(stats, at, stats.isDirectory() ? 0o700 : 0o600)
  }
  lend('.')
  for (const name of names) {
    for (let end = name.indexOf('/'); end !== -1; end = name.indexOf('/', end + 1)) {
      lend(name.slice(0, end))
    }
    lend(name)
  }
}
