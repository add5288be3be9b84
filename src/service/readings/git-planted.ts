/**
 * Which changed branches and indexes of git bring files that act later (G-15a): a commit made by
 * plumbing commands, or an entry of the index, holds a hook that no file of the tree shows, and the
 * next checkout writes it. What lies in the working tree with the same bytes is judged there. What
 * cannot be read counts as brought.
 */
import {
  type GateLists,
  type GitPath,
  gitKindOf,
  gitPathOf,
  INDEX_BYTES_MAX,
  indexEntries,
  joinRaw,
  newFileDeferral,
  parentOfRaw,
  type RawPath,
  rawOfText,
} from '../../gate/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import type { ChangedView } from './changed-view.ts'
import { blobName, GitObjects } from './git-objects.ts'
import { beforePath, insidePath, readSmall } from './scripts.ts'

const TEXT_BYTES_MAX = 64 * 1024 * 1024
const HASH = /^([0-9a-f]{40}|[0-9a-f]{64})\n$/
/** More new entries of trees are asked about unread: a few objects can name billions. */
const ENTRIES_MAX = 100_000

export interface GitTreeEntry {
  readonly hash: string
  readonly isTree: boolean
}

export class GitPlanted {
  readonly #view: ChangedView
  readonly #layers: readonly Layer[]
  readonly #lists: GateLists

  constructor(view: ChangedView, layers: readonly Layer[], lists: GateLists) {
    this.#view = view
    this.#layers = layers
    this.#lists = lists
  }

  /**
   * Returns the first files that act later and that a branch or an index brings; null if it brings none,
   * or the path is neither. What cannot be read brings files without names.
   */
  brought(path: RawPath): readonly RawPath[] | null {
    const place = gitPathOf(path)
    const kind = place === null ? null : gitKindOf(place)
    if (place === null || (kind !== 'index' && !/^refs\/heads\//.test(place.rest))) return null
    const look = { place, objects: this.#objects(place), left: ENTRIES_MAX }
    const names: RawPath[] = []
    try {
      const fresh = kind === 'index' ? this.#ofIndex(path) : this.#ofBranch(path, look)
      for (const [name, hash] of fresh) {
        // Names in git are bytes, one character each.
        if (this.#isPlanted(name, hash, look)) names.push(name as RawPath)
        if (names.length === NAMES_MAX) break
      }
      return names.length === 0 ? null : names
    } catch {
      return names
    }
  }

  *#ofIndex(path: RawPath): Generator<readonly [string, string]> {
    const read = (place: RawPath | null): ReadonlyMap<string, string> => {
      const bytes = place === null ? null : readSmall(place, INDEX_BYTES_MAX)
      const entries = bytes === null ? null : (indexEntries(bytes) ?? indexEntries(bytes, 32))
      if (place !== null && entries === null) throw new Error('an index cannot be read')
      return entries ?? new Map()
    }
    const then = read(beforePath(path, this.#layers))
    for (const [name, hash] of read(this.#placeNow(path))) {
      if (then.get(name) !== hash) yield [name, hash]
    }
  }

  *#ofBranch(path: RawPath, look: Look): Generator<readonly [string, string]> {
    if (this.#view.kind(path) === null) return
    const now = HASH.exec(this.#view.read(path, TEXT_BYTES_MAX) ?? '')?.[1]
    if (now === undefined) throw new Error('a branch names no commit')
    const then = this.#commitBefore(path, look.place)
    const old = then === undefined ? null : treeOf(look.objects, then)
    yield* freshIn(look, '', treeOf(look.objects, now), old)
  }

  #isPlanted(name: string, hash: string, look: Look): boolean {
    const top = this.#worktree(look.place)
    // Names in git are bytes, one character each.
    const path = joinRaw(top, name as RawPath)
    if (newFileDeferral(this.#lists, top, path)?.kind !== 'ask') return false
    const file = this.#placeNow(path)
    const bytes = file === null ? null : readSmall(file, TEXT_BYTES_MAX)
    return bytes === null || blobName(bytes, hash) !== hash
  }

  /** A linked worktree has a file that names it. */
  #worktree({ directory, common }: GitPath): RawPath {
    const named = this.#view.read(joinRaw(directory, rawOfText('gitdir')), TEXT_BYTES_MAX)
    // As above.
    return parentOfRaw(named === null ? common : (named.trim() as RawPath))
  }

  /** What the branch named before, loose or packed; of a new one the branch that HEAD is on. */
  #commitBefore(path: RawPath, { common, rest }: GitPath): string | undefined {
    const loose = HASH.exec(this.#then(path) ?? '')?.[1]
    if (loose !== undefined) return loose
    const packed = this.#then(joinRaw(common, rawOfText('packed-refs'))) ?? ''
    const row = packed.split('\n').find((line) => line.endsWith(` ${rest}`))
    if (row !== undefined) return row.slice(0, row.indexOf(' '))
    const head = this.#then(joinRaw(common, rawOfText('HEAD'))) ?? ''
    const branch = /^ref: (refs\/heads\/.+)\n$/.exec(head)?.[1]
    if (branch === undefined || branch === rest) return HASH.exec(head)?.[1]
    const other = { common, directory: common, rest: branch }
    // As above.
    return this.#commitBefore(joinRaw(common, branch as RawPath), other)
  }

  #then(path: RawPath): string | null {
    const place = beforePath(path, this.#layers)
    return (place === null ? null : readSmall(place, TEXT_BYTES_MAX))?.toString('latin1') ?? null
  }

  #placeNow(path: RawPath): RawPath | null {
    if (this.#view.kind(path) !== 'file') return null
    const isChanged = this.#view.changes.has(path)
    return isChanged ? insidePath(path, this.#layers) : beforePath(path, this.#layers)
  }

  #objects({ common }: GitPath): GitObjects {
    const names = (path: RawPath) => this.#view.names(path)
    return new GitObjects({ place: (path) => this.#placeNow(path), names }, common)
  }
}

/** So many files of one branch or index are named. */
const NAMES_MAX = 20

interface Look {
  readonly place: GitPath
  readonly objects: GitObjects
  /** How many entries of trees may still be looked at. */
  left: number
}

/** Files of a tree that another tree does not hold with the same bytes. Fails if there are too many. */
function* freshIn(
  look: Look,
  folder: string,
  now: string,
  then: string | null,
): Generator<readonly [string, string]> {
  if (now === then) return
  const known = then === null ? new Map<string, GitTreeEntry>() : entriesOf(look.objects, then)
  for (const [name, { hash, isTree }] of entriesOf(look.objects, now)) {
    if (--look.left < 0) throw new Error('the trees hold too many entries')
    const old = known.get(name)
    if (old?.hash === hash) continue
    if (!isTree) yield [`${folder}${name}`, hash]
    else yield* freshIn(look, `${folder}${name}/`, hash, old?.isTree === true ? old.hash : null)
  }
}

/** Fails if there is no such commit. */
export function treeOf(objects: GitObjects, commit: string): string {
  const found = objects.read(commit)
  const text = found?.type === 'commit' ? found.bytes.toString('latin1') : ''
  const tree = /^tree ([0-9a-f]+)\n/.exec(text)?.[1]
  if (tree === undefined) throw new Error('a commit cannot be read')
  return tree
}

/** Fails if there is no such tree. A tree holds for each entry a mode, a name and the bytes of a hash. */
export function entriesOf(objects: GitObjects, hash: string): ReadonlyMap<string, GitTreeEntry> {
  const found = objects.read(hash)
  if (found?.type !== 'tree') throw new Error('a tree cannot be read')
  const { bytes } = found
  const entries = new Map<string, GitTreeEntry>()
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at)
    if (end === -1) throw new Error('a tree cannot be read')
    const [mode = '', ...name] = bytes.toString('latin1', at, end).split(' ')
    const next = end + 1 + hash.length / 2
    const isTree = mode === '40000'
    // A submodule is a commit of another repository.
    if (mode !== '160000') {
      entries.set(name.join(' '), { hash: bytes.toString('hex', end + 1, next), isTree })
    }
    at = next
  }
  return entries
}
