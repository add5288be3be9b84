/**
 * Which changed files of git hold what git's commands write: a reference names an object that is there
 * and its log keeps the value it had, a log goes on where it ended, packed references lose none, HEAD
 * names a branch, an index can be read. Finds and decides nothing; the answer is recorded.
 */
import {
  type Change,
  type GitPath,
  gitKindOf,
  gitPathOf,
  INDEX_BYTES_MAX,
  indexEntries,
  joinRaw,
  type RawPath,
  REFERENCE_NAME,
} from '../../gate/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import { ChangedView } from './changed-view.ts'
import { GitObjects } from './git-objects.ts'
import { beforePath, insidePath, readSmall } from './scripts.ts'

const LOG_BYTES_MAX = 64 * 1024 * 1024
const PACKED_BYTES_MAX = 64 * 1024 * 1024
const REFERENCE_BYTES_MAX = 4096

export function checkedGitPaths(
  changes: readonly Change[],
  layers: readonly Layer[],
): readonly RawPath[] {
  const files = changes.filter(({ path, after }) => after?.kind === 'file' && isChecked(path))
  if (files.length === 0) return []
  const check = new GitCheck(changes, layers)
  return files.map(({ path }) => path).filter((path) => check.isInOrder(path))
}

function isChecked(path: RawPath): boolean {
  const place = gitPathOf(path)
  const kind = place === null ? null : gitKindOf(place)
  return kind !== null && kind !== 'object' && kind !== 'under_way'
}

const HASH = /^([0-9a-f]{40}|[0-9a-f]{64})\n$/
const SYMBOLIC = /^ref: (refs\/.+)\n$/

class GitCheck {
  readonly #layers: readonly Layer[]
  readonly #view: ChangedView
  readonly #objects = new Map<RawPath, GitObjects>()
  readonly #packed = new Map<RawPath | null, ReadonlyMap<string, string>>()

  constructor(changes: readonly Change[], layers: readonly Layer[]) {
    this.#layers = layers
    this.#view = new ChangedView(changes, layers)
  }

  isInOrder(path: RawPath): boolean {
    const place = gitPathOf(path)
    if (place === null) return false
    switch (gitKindOf(place)) {
      case 'reference':
        return this.#isReference(path, place)
      case 'packed':
        return this.#isPacked(path, place)
      case 'log':
        return this.#isLog(path)
      case 'head':
        return this.#isHead(path, place)
      case 'index':
        return this.#isIndex(path)
      // Not a file that git writes by itself.
      default:
        return false
    }
  }

  /** A reference that moves is noted in its log with the value that it had. */
  #isReference(path: RawPath, place: GitPath): boolean {
    const text = this.#now(path, REFERENCE_BYTES_MAX) ?? ''
    const target = SYMBOLIC.exec(text)?.[1]
    if (target !== undefined) {
      const isOfRemote = /^refs\/remotes\/[^/]+\/HEAD$/.test(place.rest)
      return isOfRemote && target.startsWith('refs/remotes/') && this.#isThere(target, place)
    }
    const hash = HASH.exec(text)?.[1]
    if (hash === undefined || !this.#objectsOf(place).has(hash)) return false
    const last = this.#lastValue(path, place)
    if (last === null || last === hash) return true
    // `place.rest` is part of a raw path.
    return this.#isNoted(joinRaw(place.directory, `logs/${place.rest}` as RawPath), last, hash)
  }

  /** The act adds lines to the log that lead from the one value to the other. */
  #isNoted(log: RawPath, from: string, to: string): boolean {
    if (!this.#view.changes.has(log) || !this.#isLog(log)) return false
    const known = this.#then(log, LOG_BYTES_MAX)?.length ?? 0
    const lines = (this.#now(log, LOG_BYTES_MAX) ?? '').slice(known).split('\n').slice(0, -1)
    return lines[0]?.startsWith(`${from} `) === true && lines.at(-1)?.split(' ')[1] === to
  }

  /** What a reference was before; of one that was in disorder its text. */
  #lastValue(path: RawPath, place: GitPath): string | null {
    const loose = this.#then(path, REFERENCE_BYTES_MAX)
    if (loose !== null) return HASH.exec(loose)?.[1] ?? loose
    const packed = joinRaw(place.common, 'packed-refs' as RawPath) // ASCII.
    return this.#entries(beforePath(packed, this.#layers)).get(place.rest) ?? null
  }

  #isThere(name: string, place: GitPath): boolean {
    if (!REFERENCE_NAME.test(name)) return false
    // The name comes from a file that was read byte by byte.
    const loose = joinRaw(place.common, name as RawPath)
    if (this.#view.kind(loose) === 'file') return true
    return this.#packedNow(joinRaw(place.common, 'packed-refs' as RawPath)).has(name)
  }

  #isPacked(path: RawPath, place: GitPath): boolean {
    const [then, now] = [this.#entries(beforePath(path, this.#layers)), this.#packedNow(path)]
    for (const [name, hash] of then) if (now.get(name) !== hash) return false
    const objects = this.#objectsOf(place)
    return [...now].every(([name, hash]) => {
      if (then.has(name)) return true
      // The name comes from a file that was read byte by byte.
      const loose = joinRaw(place.common, name as RawPath)
      return (
        REFERENCE_NAME.test(name) &&
        this.#then(loose, REFERENCE_BYTES_MAX) === null &&
        objects.has(hash)
      )
    })
  }

  #isLog(path: RawPath): boolean {
    const [then, now] = [this.#then(path, LOG_BYTES_MAX), this.#now(path, LOG_BYTES_MAX)]
    if (now === null) return false
    if (this.#view.changes.get(path)?.before == null) return true
    return then !== null && now.startsWith(then)
  }

  #isHead(path: RawPath, place: GitPath): boolean {
    const target = SYMBOLIC.exec(this.#now(path, REFERENCE_BYTES_MAX) ?? '')?.[1]
    return target?.startsWith('refs/heads/') === true && this.#isThere(target, place)
  }

  #isIndex(path: RawPath): boolean {
    const place = insidePath(path, this.#layers)
    const bytes = place === null ? null : readSmall(place, INDEX_BYTES_MAX)
    return bytes !== null && [20, 32].some((length) => indexEntries(bytes, length) !== null)
  }

  #now(path: RawPath, bytesMax: number): string | null {
    return this.#view.kind(path) === 'file' ? this.#view.read(path, bytesMax) : null
  }

  #then(path: RawPath, bytesMax: number): string | null {
    const place = beforePath(path, this.#layers)
    return (place === null ? null : readSmall(place, bytesMax))?.toString('latin1') ?? null
  }

  #packedNow(path: RawPath): ReadonlyMap<string, string> {
    const isChanged = this.#view.changes.has(path)
    return this.#entries(
      isChanged ? insidePath(path, this.#layers) : beforePath(path, this.#layers),
    )
  }

  #entries(place: RawPath | null): ReadonlyMap<string, string> {
    const known = this.#packed.get(place)
    if (known !== undefined) return known
    const text = (place === null ? null : readSmall(place, PACKED_BYTES_MAX))?.toString('latin1')
    const entries = new Map<string, string>()
    for (const line of (text ?? '').split('\n')) {
      const [, hash, name] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? []
      if (hash !== undefined && name !== undefined) entries.set(name, hash)
    }
    this.#packed.set(place, entries)
    return entries
  }

  #objectsOf({ common }: GitPath): GitObjects {
    const known = this.#objects.get(common)
    if (known !== undefined) return known
    const objects = new GitObjects(
      { place: (path) => this.#placeNow(path), names: (path) => this.#view.names(path) },
      common,
    )
    this.#objects.set(common, objects)
    return objects
  }

  #placeNow(path: RawPath): RawPath | null {
    if (this.#view.kind(path) !== 'file') return null
    const isChanged = this.#view.changes.has(path)
    return isChanged ? insidePath(path, this.#layers) : beforePath(path, this.#layers)
  }
}
