/**
 * Whether new objects of git hold what their names say. Git reads packs before loose objects and hashes
 * neither on a checkout, so a false object replaces the content of commits that are there already,
 * and no branch, index or file changes. Every new object is inflated and hashed here; what is too
 * large to be looked at, or cannot be read, is not checked.
 */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync } from 'node:fs'
import { bytesOfRaw, type Change, joinRaw, type RawPath, rawOfText } from '../../gate/index.ts'
import { openEntry } from '../../machine/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import type { ChangedView } from './changed-view.ts'
import { isTrueGraph } from './git-graph.ts'
import {
  entryHead,
  type GitObject,
  GitObjects,
  indexedNames,
  inflate,
  nameOf,
  patched,
  readAt,
} from './git-objects.ts'
import { beforePath, insidePath, readSmall } from './scripts.ts'

/** A false name, or a file that could not be checked. */
type Doubt = 'git_forged' | 'git_unchecked'

const OBJECT_BYTES_MAX = 256 * 1024 * 1024
const INDEX_BYTES_MAX = 64 * 1024 * 1024

/** What all packs of one act may make this inflate and rebuild. */
const OBJECTS_MAX = 200_000
const WHOLE_BYTES_MAX = 1024 * 1024 * 1024

const OBJECTS = /^(.+)\/objects\/(.+)$/s
const LOOSE = /^([0-9a-f]{2})\/([0-9a-f]{38}|[0-9a-f]{62})$/
const PACK = /^pack\/[^/]+\.(?:pack|idx)$/s
/** Files that git believes in place of objects, or that name other places of objects. */
const INSTEAD = /^(?:info\/(?:http-)?alternates|info\/commit-graphs\/.+|pack\/multi-pack-index.*)$/s
const GRAPH = 'info/commit-graph'
const REPLACED = /\/refs\/replace\//
const LARGE_FILE = /\/lfs\/objects\/[0-9a-f]{2}\/[0-9a-f]{2}\/([0-9a-f]{64})$/

export class GitForged {
  readonly #view: ChangedView
  readonly #layers: readonly Layer[]
  readonly #packs = new Map<string, Doubt | null>()
  readonly #budget = { objects: OBJECTS_MAX, bytes: WHOLE_BYTES_MAX }

  constructor(view: ChangedView, layers: readonly Layer[]) {
    this.#view = view
    this.#layers = layers
  }

  /** Null for an object with a true name, and for a file that holds no objects. */
  of({ path, after }: Change): Doubt | null {
    if (after === null || after.kind === 'directory') return null
    const large = LARGE_FILE.exec(path)?.[1]
    if (large !== undefined) return after.digest?.endsWith(large) === true ? null : 'git_forged'
    const [, repository, rest = ''] = OBJECTS.exec(path) ?? []
    // The beginning of a raw path, up to a slash.
    if (repository === undefined || !this.#isRepository(repository as RawPath)) {
      return REPLACED.test(path) && path.includes('/.git/') ? 'git_unchecked' : null
    }
    if (after.kind !== 'file' || INSTEAD.test(rest)) return 'git_unchecked'
    // As above.
    if (rest === GRAPH) return this.#graph(path, repository as RawPath)
    const loose = LOOSE.exec(rest)
    if (loose !== null) return this.#loose(path, `${loose[1]}${loose[2]}`)
    return PACK.test(rest) ? this.#pack(path.slice(0, path.lastIndexOf('.'))) : null
  }

  #isRepository(directory: RawPath): boolean {
    if (`${directory}/`.includes('/.git/')) return true
    const has = (name: string) => this.#view.kind(joinRaw(directory, rawOfText(name))) !== null
    return has('HEAD') && (has('refs') || has('commondir'))
  }

  #loose(path: RawPath, name: string): Doubt | null {
    const place = this.#placeNow(path)
    const packed = place === null ? null : readSmall(place, OBJECT_BYTES_MAX)
    if (packed === null) return 'git_unchecked'
    try {
      const whole = inflate(packed, { maxOutputLength: OBJECT_BYTES_MAX })
      const algorithm = name.length === 64 ? 'sha256' : 'sha1'
      const isTrue = createHash(algorithm).update(whole).digest('hex') === name
      return isTrue ? null : 'git_forged'
    } catch {
      return 'git_unchecked'
    }
  }

  #graph(path: RawPath, repository: RawPath): Doubt | null {
    const place = this.#placeNow(path)
    const bytes = place === null ? null : readSmall(place, INDEX_BYTES_MAX)
    if (bytes === null) return 'git_unchecked'
    const files = {
      place: (each: RawPath) => this.#placeNow(each),
      names: (directory: RawPath) => this.#view.names(directory),
    }
    try {
      return isTrueGraph(bytes, new GitObjects(files, repository)) ? null : 'git_forged'
    } catch {
      return 'git_unchecked'
    }
  }

  /** Once for a pack and its index; git reads neither without the other. */
  #pack(stem: string): Doubt | null {
    const known = this.#packs.get(stem)
    if (known !== undefined) return known
    // A raw path with another ASCII ending.
    const [index, pack] = ['idx', 'pack'].map((end) => this.#placeNow(`${stem}.${end}` as RawPath))
    const doubt = index == null || pack == null ? null : this.#checked(index, pack)
    this.#packs.set(stem, doubt)
    return doubt
  }

  #checked(index: RawPath, pack: RawPath): Doubt | null {
    const bytes = readSmall(index, INDEX_BYTES_MAX)
    if (bytes === null) return 'git_unchecked'
    let handle: number | null = null
    try {
      handle = openEntry(Buffer.from(bytesOfRaw(pack)), 'read')
      const isTrue = new PackCheck(handle, bytes, this.#budget).isTrue()
      return isTrue ? null : 'git_forged'
    } catch {
      return 'git_unchecked'
    } finally {
      if (handle !== null) closeSync(handle)
    }
  }

  #placeNow(path: RawPath): RawPath | null {
    if (this.#view.kind(path) !== 'file') return null
    const isChanged = this.#view.changes.has(path)
    return isChanged ? insidePath(path, this.#layers) : beforePath(path, this.#layers)
  }
}

/** How long a chain of deltas may be; git makes none that is longer than 250 unasked. */
const DELTAS_MAX = 300
/** How many bytes of objects are kept for the deltas that come after them. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024

/** One pack, read by its index. Everything that it throws means that the pack cannot be checked. */
class PackCheck {
  readonly #handle: number
  readonly #nameBytes: number
  readonly #names: readonly { readonly name: string; readonly at: number }[]
  /** Where each entry ends, by where it begins. */
  readonly #ends = new Map<number, number>()
  readonly #places = new Map<string, number>()
  readonly #budget: { objects: number; bytes: number }
  readonly #kept = new Map<number, GitObject>()
  #keptBytes = 0

  constructor(handle: number, index: Buffer, budget: { objects: number; bytes: number }) {
    const short = indexedNames(index, 20)
    const names = short ?? indexedNames(index, 32)
    if (names === null) throw new Error('the index of a pack cannot be read')
    this.#nameBytes = short === null ? 32 : 20
    this.#names = [...names].sort((one, other) => one.at - other.at)
    this.#handle = handle
    this.#budget = budget
    const { size } = fstatSync(handle)
    const starts = [...new Set(this.#names.map(({ at }) => at)), size - this.#nameBytes]
    for (const [order, at] of starts.slice(0, -1).entries()) {
      this.#ends.set(at, starts[order + 1] ?? at)
    }
    for (const { name, at } of this.#names) this.#places.set(name, at)
  }

  isTrue(): boolean {
    return this.#names.every(
      ({ name, at }) => nameOf(this.#object(at, 0), 2 * this.#nameBytes) === name,
    )
  }

  #object(at: number, depth: number): GitObject {
    const known = this.#kept.get(at)
    if (known !== undefined) return known
    const end = this.#ends.get(at)
    if (end === undefined || depth > DELTAS_MAX) throw new Error('a delta has no base here')
    const length = Math.min(end - at, OBJECT_BYTES_MAX)
    const bytes = readAt(this.#handle, at, length)
    const { type, size, start, back, base: name } = entryHead(bytes, at, this.#nameBytes)
    this.#spend(size)
    const inflated = inflate(bytes.subarray(start - at), {
      maxOutputLength: Math.max(1, size),
      chunkSize: Math.max(64, size),
    })
    if (inflated.length !== size) throw new Error('an entry has another size than it says')
    if (type !== undefined) return this.#keep(at, { type, bytes: inflated })
    const base = this.#object(back ?? this.#places.get(name ?? '') ?? -1, depth + 1)
    const whole = patched(base.bytes, inflated, this.#budget.bytes)
    this.#spend(whole.length)
    return this.#keep(at, { type: base.type, bytes: whole })
  }

  #spend(bytes: number): void {
    this.#budget.objects--
    this.#budget.bytes -= bytes
    const isSpent = this.#budget.objects < 0 || this.#budget.bytes < 0
    if (isSpent || bytes > OBJECT_BYTES_MAX)
      throw new Error('the packs hold too much to be checked')
  }

  /** Drops the oldest: a delta mostly lies near its base. */
  #keep(at: number, object: GitObject): GitObject {
    this.#kept.set(at, object)
    this.#keptBytes += object.bytes.length
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= KEPT_BYTES_MAX || oldest === at) break
      this.#kept.delete(oldest)
      this.#keptBytes -= bytes.length
    }
    return object
  }
}
