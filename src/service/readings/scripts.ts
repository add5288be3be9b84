/**
 * Which `package.json` files have other scripts than before (G-15a), or other keys that package managers
 * and git hooks obey: those run by themselves at the next install or commit. A file that cannot be read as one counts as changed.
 */
import { closeSync, fstatSync, readSync } from 'node:fs'
import { canonicalJson } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import {
  bytesOfRaw,
  type Change,
  isBelow,
  nameOfRaw,
  type RawPath,
  rawOfText,
} from '../../gate/index.ts'
import { openEntry } from '../../machine/index.ts'
import type { Layer } from '../../sandbox/index.ts'

const MANIFEST_BYTES_MAX = 4 * 1024 * 1024

export function changedScripts(
  changes: readonly Change[],
  layers: readonly Layer[],
): ReadonlySet<RawPath> {
  const changed = new Set<RawPath>()
  for (const { path, before, after } of changes) {
    if (nameOfRaw(path) !== 'package.json') continue
    // What a link leads to may be anything, and changes with what it leads to.
    if (after?.kind === 'symlink') changed.add(path)
    if (after?.kind !== 'file') continue
    const now = scriptsOf(insidePath(path, layers))
    const then = before?.kind === 'file' ? scriptsOf(beforePath(path, layers)) : NO_SCRIPTS
    if (now === null || now !== then) changed.add(path)
  }
  return changed
}

const NO_SCRIPTS = '{}'

/** What package managers, git hooks and their helpers run without a person starting it. */
const RUN_KEYS = [
  'scripts',
  'gypfile',
  'packageManager',
  'devEngines',
  'lint-staged',
  'simple-git-hooks',
  'husky',
  'gitHooks',
  'pre-commit',
  'pre-push',
  'ghooks',
] as const

/** An empty object runs nothing. */
function isSet(value: unknown): boolean {
  return value !== undefined && canonicalJson(value) !== NO_SCRIPTS
}

/** Where the path is seen with everything that the rehearsal did. */
export function insidePath(path: RawPath, layers: readonly Layer[]): RawPath | null {
  return pathIn(path, layerOf(path, layers), 'upper')
}

/** Where the path was before: in the real tree, unless other stages lie over it. */
export function beforePath(path: RawPath, layers: readonly Layer[]): RawPath | null {
  const layer = layerOf(path, layers)
  return layer?.lower === undefined ? path : pathIn(path, layer, 'lower')
}

/** The innermost layer that holds a path is the one that was written to. */
function layerOf(path: RawPath, layers: readonly Layer[]): Layer | undefined {
  const [layer] = layers
    .filter(({ root }) => isBelow(path, rawOfText(root)))
    .sort((one, other) => other.root.length - one.root.length)
  return layer
}

function pathIn(path: RawPath, layer: Layer | undefined, side: 'upper' | 'lower'): RawPath | null {
  const place = layer?.[side]
  if (layer === undefined || place === undefined) return null
  // Two raw paths, joined.
  return `${rawOfText(place)}${path.slice(rawOfText(layer.root).length)}` as RawPath
}

/** Returns the scripts of a manifest as text; null if it cannot be read. */
function scriptsOf(path: RawPath | null): string | null {
  const bytes = path === null ? null : readSmall(path, MANIFEST_BYTES_MAX)
  if (bytes === null) return null
  try {
    const manifest: unknown = JSON.parse(bytes.toString('utf8'))
    if (!isObject(manifest)) return NO_SCRIPTS
    const run = RUN_KEYS.map((key) => [key, manifest[key]] as const).filter(([, value]) =>
      isSet(value),
    )
    return canonicalJson(Object.fromEntries(run))
  } catch {
    return null
  }
}

/** A whole file of at most so many bytes; null when there is none. */
export function readSmall(path: RawPath, bytesMax: number): Buffer | null {
  let handle: number
  try {
    handle = openEntry(Buffer.from(bytesOfRaw(path)), 'read')
  } catch {
    return null
  }
  try {
    const { size } = fstatSync(handle)
    if (size > bytesMax) return null
    const buffer = Buffer.alloc(size)
    return buffer.subarray(0, readSync(handle, buffer, 0, size, 0))
  } finally {
    closeSync(handle)
  }
}
