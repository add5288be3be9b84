/**
 * What git's own commands do to the files in a `.git` directory, as a closed list: they create objects
 * and never change one, move references and note it in a log, and leave some files while something is
 * under way. What the list does not hold is not git's ordinary work, and is asked about (G-8b).
 *
 * References, logs, HEAD and the index depend on their bytes; the host looks at those and records the
 * paths that it found in order.
 */
import { nameOfRaw, type RawPath } from '../paths/raw-path.ts'
import type { Change, ChangeList } from './manifest.ts'

type GitKind = 'object' | 'reference' | 'packed' | 'log' | 'head' | 'index' | 'under_way'

/** A path inside a git directory. */
export interface GitPath {
  /** Of a repository, of a linked worktree, or of a submodule. */
  readonly directory: RawPath
  /** Where objects and references are: of a linked worktree those of its repository. */
  readonly common: RawPath
  readonly rest: string
}

/** Names at the top of a git directory; the name of a submodule ends before one of them. */
const TOP =
  /^(?:objects|refs|logs|info|hooks|branches|lfs|rr-cache|svn|rebase-merge|rebase-apply|sequencer|modules|worktrees|index|config|packed-refs|shallow|description|gc\.log|[A-Z_]+)(?:\..*)?$/

/** Null for a path that lies in no git directory. */
export function gitPathOf(path: RawPath): GitPath | null {
  const start = path.indexOf('/.git/')
  if (start === -1) return null
  const names = path.slice(start + '/.git/'.length).split('/')
  let [common, directory] = [0, 0]
  for (;;) {
    const at = directory
    if (names[at] === 'worktrees' && names.length > at + 2) directory = at + 2
    else if (names[at] === 'modules') {
      const end = names.findIndex((name, index) => index > at + 1 && TOP.test(name))
      if (end === -1) break
      directory = end
      common = end
    } else break
  }
  const place = (count: number): RawPath =>
    // A part of a raw path, up to the end of a name, is one.
    [path.slice(0, start + '/.git'.length), ...names.slice(0, count)].join('/') as RawPath
  return {
    directory: place(directory),
    common: place(common),
    rest: names.slice(directory).join('/'),
  }
}

const NAME = '(?!\\.)(?:(?!\\.\\.|\\.lock(?:/|$)|/\\.)[^\\x00-\\x20\\x7f~^:?*\\[\\\\])+'
const SHARED_NAME = `(?:heads|tags|remotes|notes)/${NAME}`
/** Names of references that git's commands set. */
export const REFERENCE_NAME: RegExp = new RegExp(`^refs/(?:${SHARED_NAME}|stash)$`)
const LOG_NAME = new RegExp(`^logs/(?:HEAD|refs/(?:${SHARED_NAME}|stash))$`)
const HEX = '(?:[0-9a-f]{40}|[0-9a-f]{64})'
const OBJECT = new RegExp(
  `^(?:objects/(?:[0-9a-f]{2}/(?:[0-9a-f]{38}|[0-9a-f]{62})|pack/pack-${HEX}\\.(?:pack|idx|rev))|lfs/objects/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{64})$`,
)
const UNDER_WAY =
  /^(?:(?:AUTO_MERGE|MERGE_HEAD|MERGE_MODE|MERGE_MSG|MERGE_RR|MERGE_AUTOSTASH|SQUASH_MSG|CHERRY_PICK_HEAD|REVERT_HEAD|REBASE_HEAD|ORIG_HEAD|FETCH_HEAD|COMMIT_EDITMSG|BISECT_[A-Z_]+)$|(?:rebase-merge|rebase-apply|sequencer)(?:\/|$))/
/** Git runs the lines of this file that begin with `exec`. */
const COMMANDS = /^rebase-merge\/git-rebase-todo/
const DIRECTORY =
  /^(?:objects(?:\/[0-9a-f]{2}|\/pack)?|lfs(?:\/objects(?:\/[0-9a-f]{2}){0,2})?|(?:logs|(?:logs\/)?refs(?:\/(?:heads|tags|remotes|notes)(?:\/.+)?)?))$/

/** Null for a file that git's ordinary commands do not write. */
export function gitKindOf({ rest }: GitPath): GitKind | null {
  if (OBJECT.test(rest)) return 'object'
  if (REFERENCE_NAME.test(rest)) return 'reference'
  if (LOG_NAME.test(rest)) return 'log'
  if (UNDER_WAY.test(rest)) return 'under_way'
  if (rest === 'HEAD') return 'head'
  if (rest === 'packed-refs') return 'packed'
  return rest === 'index' ? 'index' : null
}

const READABLE = 0o400

/** Returns whether git's commands do this to one of their files. `checked` are paths in order. */
export function isGitWork(
  { path, before, after }: Change,
  list: ChangeList,
  checked: ReadonlySet<RawPath>,
): boolean {
  const place = gitPathOf(path)
  if (place === null) return false
  const kind = gitKindOf(place)
  if (list === 'deleted') return kind === 'under_way' && before?.kind !== 'symlink'
  if (after === null || after.kind === 'symlink') return false
  if (after.kind === 'directory') {
    const isKnown = kind === 'under_way' || DIRECTORY.test(place.rest)
    return list === 'added' && isKnown && !place.rest.endsWith('.lock')
  }
  if ((after.mode & READABLE) === 0) return false
  if (kind === 'object') return list === 'added' && after.size > 0
  if (kind === 'under_way') return !COMMANDS.test(place.rest)
  return kind !== null && checked.has(path)
}

/** Returns whether a law's glob speaks of git directories by their name; no other glob reaches them. */
export function namesGit(text: string): boolean {
  return text.split('/').includes('.git')
}

export function isInGit(path: RawPath): boolean {
  return path.includes('/.git/')
}

/** Names of objects by SHA-1; an index with longer ones does not come out even, and is not the same. */
const SHA1_BYTES = 20
const HEADER_BYTES = 12
/** Times, device and inode before the mode; owner, group and size behind it. */
const MODE_AT = 24
const OBJECT_AT = 40
const EXTENDED = 0x4000
const SIGNATURE = 0x44495243
const VERSIONS = [2, 3, 4]
/** Extensions made of the rest, or of what was seen: trees, offsets, untracked names, the monitor's. */
const DERIVED = new Set(['TREE', 'EOIE', 'IEOT', 'UNTR', 'FSMN'])

/** A larger one is not compared, and so not the same. */
export const INDEX_BYTES_MAX = 64 * 1024 * 1024

/**
 * Compares the entries of two git indexes. The index caches the stat data of each file (times,
 * inode, owner, size), and even a reading command such as `git diff` rewrites it. A change of the
 * stat data alone is no effect.
 *
 * Compares names, object names, modes, stages, flags, and every extension that git does not derive
 * from the rest. An index that cannot be parsed is equal to no other. Of a repository, of one of its
 * other working trees, or of a module of it.
 */
export function isIndexPath(path: RawPath): boolean {
  return nameOfRaw(path) === 'index' && path.includes('/.git/')
}

export function holdsSameEntries(one: Uint8Array, other: Uint8Array): boolean {
  const [left, right] = [new IndexReader(one), new IndexReader(other)]
  if (!left.isIndex || left.version !== right.version || left.count !== right.count) return false
  for (let index = 0; index < left.count; index++) {
    const [mine, theirs] = [left.nextEntry(), right.nextEntry()]
    if (mine === null || theirs === null) return false
    if (!isSame(one, mine.mode, other, theirs.mode)) return false
    if (!isSame(one, mine.rest, other, theirs.rest)) return false
  }
  const [mine, theirs] = [left.extensions(), right.extensions()]
  if (mine === null || theirs === null || mine.length !== theirs.length) return false
  return mine.every((extension, index) => isSame(one, extension, other, theirs[index] ?? [0, 0]))
}

/**
 * The names that an index holds, relative to its working tree, a character a byte, each with the name
 * of its object in hex; null for what is no index with object names of this length.
 */
export function indexEntries(
  bytes: Uint8Array,
  nameBytes = SHA1_BYTES,
): ReadonlyMap<string, string> | null {
  const entries = new Map<string, string>()
  const isWhole = readEntries(bytes, nameBytes, (name, from) => {
    entries.set(name, hexOf(bytes, from, from + nameBytes))
  })
  return isWhole ? entries : null
}

export interface IndexNames {
  has(name: string): boolean
}

/**
 * The same without the names of objects. The index of a large tree has thousands of names for each one
 * that is asked for, so names are compared where they lie; version 4 writes no whole names, and is read.
 * An index that is not in git's order may miss a name, which then counts as untracked.
 */
export function indexNames(bytes: Uint8Array, nameBytes = SHA1_BYTES): IndexNames | null {
  const reader = new IndexReader(bytes, nameBytes)
  if (reader.version === 4) return indexEntries(bytes, nameBytes)
  if (!reader.isIndex) return null
  const places: Range[] = []
  for (let index = 0; index < reader.count; index++) {
    const entry = reader.nextEntry()
    if (entry === null) return null
    places.push(entry.name)
  }
  if (reader.extensions() === null) return null
  return { has: (name) => isIn(bytes, places, name) }
}

/** Searches names in the order of their bytes. */
function isIn(bytes: Uint8Array, places: readonly Range[], name: string): boolean {
  let [low, high] = [0, places.length - 1]
  while (low <= high) {
    const middle = (low + high) >>> 1
    const order = orderOf(bytes, places[middle] ?? [0, 0], name)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle - 1
  }
  return false
}

function orderOf(bytes: Uint8Array, [from, to]: Range, name: string): number {
  const length = Math.min(to - from, name.length)
  for (let offset = 0; offset < length; offset++) {
    const apart = (bytes[from + offset] ?? 0) - name.charCodeAt(offset)
    if (apart !== 0) return apart
  }
  return to - from - name.length
}

/** Returns whether it is an index from its beginning to its end. */
function readEntries(
  bytes: Uint8Array,
  nameBytes: number,
  take: (name: string, objectAt: number) => void,
): boolean {
  const reader = new IndexReader(bytes, nameBytes)
  if (!reader.isIndex) return false
  let last = ''
  for (let index = 0; index < reader.count; index++) {
    const entry = reader.nextEntry()
    if (entry === null) return false
    const kept = entry.dropped >= last.length ? '' : last.slice(0, last.length - entry.dropped)
    last = `${kept}${textOf(bytes, entry.name)}`
    take(last, entry.rest[0])
  }
  return reader.extensions() !== null
}

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hexOf(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at++) text += HEX_BYTES[bytes[at] ?? 0]
  return text
}

/** Names have no more bytes than a call may have arguments. */
function textOf(bytes: Uint8Array, [from, to]: Range): string {
  // Reads elements by index alone, as of an array.
  return String.fromCharCode.apply(null, bytes.subarray(from, to) as unknown as number[])
}

type Range = readonly [from: number, to: number]

function isSame(one: Uint8Array, mine: Range, other: Uint8Array, theirs: Range): boolean {
  const length = mine[1] - mine[0]
  if (theirs[1] - theirs[0] !== length) return false
  for (let offset = 0; offset < length; offset++) {
    if (one[mine[0] + offset] !== other[theirs[0] + offset]) return false
  }
  return true
}

interface IndexEntry {
  readonly mode: Range
  /** From the object's name to the end of the path. */
  readonly rest: Range
  /** What is written of the path. */
  readonly name: Range
  /** How many characters of the last path's end are not part of this one. */
  readonly dropped: number
}

class IndexReader {
  readonly isIndex: boolean
  readonly version: number
  readonly count: number
  readonly #flagsAt: number
  readonly #bytes: Uint8Array
  readonly #view: DataView
  /** Where the checksum begins. */
  readonly #end: number
  #at = HEADER_BYTES

  constructor(bytes: Uint8Array, nameBytes = SHA1_BYTES) {
    this.#bytes = bytes
    this.#flagsAt = OBJECT_AT + nameBytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#end = bytes.length - nameBytes
    const isLongEnough = this.#end >= HEADER_BYTES
    this.version = isLongEnough ? this.#view.getUint32(4) : 0
    this.count = isLongEnough ? this.#view.getUint32(8) : 0
    this.isIndex =
      isLongEnough && this.#view.getUint32(0) === SIGNATURE && VERSIONS.includes(this.version)
  }

  /** Null when it is cut off. */
  nextEntry(): IndexEntry | null {
    const start = this.#at
    const flags = start + this.#flagsAt
    if (flags + 2 > this.#end) return null
    const isExtended = (this.#view.getUint16(flags) & EXTENDED) !== 0
    const path = this.#pathStart(flags + (isExtended ? 4 : 2))
    const end = path === null ? -1 : this.#bytes.indexOf(0, path.at)
    if (path === null || end === -1 || end >= this.#end) return null
    // Up to version 3 entries are filled up to a multiple of eight, with one zero at least.
    const length = end + 1 - start
    this.#at = start + (this.version === 4 ? length : Math.ceil(length / 8) * 8)
    return {
      mode: [start + MODE_AT, start + MODE_AT + 4],
      rest: [start + OBJECT_AT, end],
      name: [path.at, end],
      // Up to version 3 every entry holds its whole name.
      dropped: this.version === 4 ? path.dropped : Number.POSITIVE_INFINITY,
    }
  }

  /** Reads the number before a path of version 4: how many bytes to cut off the previous path. */
  #pathStart(at: number): { readonly at: number; readonly dropped: number } | null {
    if (this.version !== 4) return { at, dropped: 0 }
    let dropped = 0
    for (let place = at; place < this.#end; place++) {
      const byte = this.#bytes[place] ?? 0
      dropped = dropped * 128 + (byte & 0x7f)
      if ((byte & 0x80) === 0) return { at: place + 1, dropped }
      // Each further byte counts from one higher, so that no number is written in two ways.
      dropped += 1
    }
    return null
  }

  /** Those that count, each with its name and size; null when they do not come out even. */
  extensions(): readonly Range[] | null {
    const ranges: Range[] = []
    while (this.#at < this.#end) {
      const start = this.#at
      if (start + 8 > this.#end) return null
      this.#at = start + 8 + this.#view.getUint32(start + 4)
      const name = String.fromCharCode(...this.#bytes.subarray(start, start + 4))
      if (!DERIVED.has(name)) ranges.push([start, this.#at])
    }
    return this.#at === this.#end ? ranges : null
  }
}
