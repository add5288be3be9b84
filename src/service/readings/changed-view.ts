/**
 * The tree as it would be after a promotion: what changed from the layers of the rehearsal, and all
 * else from below them. Reads entries, links and small files; changes nothing.
 */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import {
  bytesOfRaw,
  type Change,
  type EntryState,
  joinRaw,
  nameOfRaw,
  parentOfRaw,
  type RawPath,
  rawOfBytes,
} from '../../gate/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import { beforePath, insidePath, readSmall } from './scripts.ts'

/** Where a path leads, and every entry that was looked up on the way. */
interface Resolved {
  readonly path: RawPath
  readonly visited: readonly RawPath[]
}

type EntryKind = EntryState['kind'] | 'other'

const LINKS_MAX = 40

export class ChangedView {
  readonly changes: ReadonlyMap<RawPath, Change>
  readonly #layers: readonly Layer[]
  #added: Map<RawPath, RawPath[]> | null = null
  /** Of what did not change. The same directories are on the way to most places. */
  readonly #kinds = new Map<RawPath, EntryKind | null>()

  constructor(changes: readonly Change[], layers: readonly Layer[]) {
    this.changes = new Map(changes.map((change) => [change.path, change]))
    this.#layers = layers
  }

  /** Null when there is nothing. */
  kind(path: RawPath): EntryKind | null {
    const change = this.changes.get(path)
    if (change !== undefined) return change.after?.kind ?? null
    const known = this.#kinds.get(path)
    if (known !== undefined) return known
    const kind = this.#kindBelow(path)
    this.#kinds.set(path, kind)
    return kind
  }

  #kindBelow(path: RawPath): EntryKind | null {
    const below = beforePath(path, this.#layers)
    if (below === null) return null
    try {
      const found = lstatSync(Buffer.from(bytesOfRaw(below)), { throwIfNoEntry: false })
      if (found === undefined) return null
      if (found.isDirectory()) return 'directory'
      return found.isFile() ? 'file' : found.isSymbolicLink() ? 'symlink' : 'other'
    } catch {
      return null
    }
  }

  /** The text of a file of at most so many bytes, one character a byte; null when there is none. */
  read(path: RawPath, bytesMax: number): string | null {
    const place = this.changes.has(path)
      ? insidePath(path, this.#layers)
      : beforePath(path, this.#layers)
    return (place === null ? null : readSmall(place, bytesMax))?.toString('latin1') ?? null
  }

  /** The names in a directory, those that are new included; those that `isWanted` tells, if given. */
  names(directory: RawPath, isWanted: (name: RawPath) => boolean = () => true): readonly RawPath[] {
    this.#added ??= addedNames(this.changes.values())
    const below = beforePath(directory, this.#layers)
    const all = [...(this.#added.get(directory) ?? []), ...namesBelow(below)]
    const names = new Set(all.filter(isWanted))
    return [...names].filter((name) => {
      const change = this.changes.get(joinRaw(directory, name))
      return change === undefined || change.after !== null
    })
  }

  /** Follows every link on the way, the last one too. What is missing stays as it is written. */
  resolve(path: RawPath): Resolved {
    const visited: RawPath[] = []
    let rest = path.split('/').filter((name) => name !== '')
    // Parts of a raw path, joined by slashes, are a raw path again.
    let place = '' as RawPath
    let links = 0
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      if (name === '.') continue
      if (name === '..') {
        // The part of a raw path before a slash.
        place = place.slice(0, Math.max(0, place.lastIndexOf('/'))) as RawPath
        continue
      }
      const next = `${place}/${name}` as RawPath // Both are parts of raw paths.
      visited.push(next)
      const target =
        this.kind(next) === 'symlink' && links++ < LINKS_MAX ? this.#target(next) : null
      if (target === null) {
        place = next
        continue
      }
      rest = [...target.split('/').filter((one) => one !== ''), ...rest]
      if (target.startsWith('/')) place = '' as RawPath // The root.
    }
    return { path: place, visited }
  }

  #target(path: RawPath): RawPath | null {
    const change = this.changes.get(path)
    if (change !== undefined) return change.after?.target ?? null
    const below = beforePath(path, this.#layers)
    if (below === null) return null
    try {
      return rawOfBytes(readlinkSync(Buffer.from(bytesOfRaw(below)), 'buffer'))
    } catch {
      return null
    }
  }
}

function addedNames(changes: Iterable<Change>): Map<RawPath, RawPath[]> {
  const added = new Map<RawPath, RawPath[]>()
  for (const { path, before, after } of changes) {
    if (before !== null || after === null) continue
    const directory = parentOfRaw(path)
    const names = added.get(directory)
    if (names === undefined) added.set(directory, [nameOfRaw(path)])
    else names.push(nameOfRaw(path))
  }
  return added
}

function namesBelow(directory: RawPath | null): readonly RawPath[] {
  if (directory === null) return []
  try {
    // In latin1 each byte is a character, as in a raw path.
    return readdirSync(Buffer.from(bytesOfRaw(directory)), 'latin1') as RawPath[]
  } catch {
    return []
  }
}
