/**
 * Reads objects of a repository: loose ones, and those in packs with their deltas. What cannot be read
 * is not there. Alternates are not followed.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { ZlibOptions } from 'node:zlib'
import { bytesOfRaw, joinRaw, type RawPath, rawOfText } from '../../gate/index.ts'
import { readSmall } from './scripts.ts'

/** Where the files of a repository are found. */
interface GitFiles {
  /** Null when there is no such file. */
  place(path: RawPath): RawPath | null
  names(directory: RawPath): readonly RawPath[]
}

interface PackIndex {
  readonly pack: RawPath
  readonly bytes: Buffer
}

export interface GitObject {
  readonly type: string
  readonly bytes: Buffer
}

const INDEX_BYTES_MAX = 512 * 1024 * 1024
const OBJECT_BYTES_MAX = 256 * 1024 * 1024
const DELTAS_MAX = 200
const PACK_INDEX = 0xff744f63

export class GitObjects {
  readonly #files: GitFiles
  readonly #objects: RawPath
  #packs: readonly PackIndex[] | null = null

  constructor(files: GitFiles, common: RawPath) {
    this.#files = files
    this.#objects = joinRaw(common, rawOfText('objects'))
  }

  /** Whether the object is there and has bytes; they are not read. */
  has(hash: string): boolean {
    const loose = this.#files.place(this.#loosePath(hash))
    if (loose !== null && sizeOf(loose) > 0) return true
    return this.#indexes().some((index) => offsetIn(index, hash) !== null)
  }

  /** The bytes of an object that hash to its name; null without one. */
  read(hash: string): GitObject | null {
    try {
      const found = this.#loose(hash) ?? this.#packed(hash, 0)
      return found !== null && nameOf(found, hash.length) === hash ? found : null
    } catch {
      return null
    }
  }

  #loosePath(hash: string): RawPath {
    return joinRaw(this.#objects, rawOfText(`${hash.slice(0, 2)}/${hash.slice(2)}`))
  }

  #loose(hash: string): GitObject | null {
    const place = this.#files.place(this.#loosePath(hash))
    const packed = place === null ? null : readSmall(place, OBJECT_BYTES_MAX)
    if (packed === null || packed.length === 0) return null
    const whole = inflate(packed, { maxOutputLength: OBJECT_BYTES_MAX })
    const end = whole.indexOf(0)
    const [type = ''] = whole.subarray(0, end).toString('latin1').split(' ')
    return { type, bytes: whole.subarray(end + 1) }
  }

  #packed(hash: string, depth: number): GitObject | null {
    for (const index of this.#indexes()) {
      const offset = offsetIn(index, hash)
      if (offset === null) continue
      const handle = openSync(Buffer.from(bytesOfRaw(index.pack)), 'r')
      try {
        return this.#entry(handle, offset, hash.length / 2, depth)
      } finally {
        closeSync(handle)
      }
    }
    return null
  }

  #entry(handle: number, at: number, nameBytes: number, depth: number): GitObject | null {
    const { type, size, start, back, base: name } = entryHead(readAt(handle, at, 64), at, nameBytes)
    if (size > OBJECT_BYTES_MAX || depth > DELTAS_MAX) return null
    if (type !== undefined) return { type, bytes: inflatedAt(handle, start, size) }
    let base: GitObject | null = null
    if (back !== undefined) base = this.#entry(handle, back, nameBytes, depth + 1)
    else if (name !== undefined) base = this.#loose(name) ?? this.#packed(name, depth + 1)
    if (base === null) return null
    return { type: base.type, bytes: patched(base.bytes, inflatedAt(handle, start, size)) }
  }

  #indexes(): readonly PackIndex[] {
    this.#packs ??= this.#readIndexes()
    return this.#packs
  }

  #readIndexes(): readonly PackIndex[] {
    const folder = joinRaw(this.#objects, rawOfText('pack'))
    return this.#files.names(folder).flatMap((name) => {
      if (!name.endsWith('.idx')) return []
      // A raw name with another ASCII ending.
      const [index, pack] = [name, `${name.slice(0, -'idx'.length)}pack` as RawPath].map((each) =>
        this.#files.place(joinRaw(folder, each)),
      )
      const bytes = index == null ? null : readSmall(index, INDEX_BYTES_MAX)
      if (bytes === null || pack == null || sizeOf(pack) === 0) return []
      return bytes.length > TABLE_AT && bytes.readUInt32BE(0) === PACK_INDEX
        ? [{ pack, bytes }]
        : []
    })
  }
}

const TYPES: Readonly<Record<number, string>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const OFFSET_DELTA = 6
const NAMED_DELTA = 7
/** Two words, then 256 counts, then the names in order. */
const FANOUT_AT = 8
const TABLE_AT = FANOUT_AT + 1024

/** How an entry of a pack begins. Without a type, base and place it is none. */
interface EntryHead {
  readonly type?: string
  /** Of what is inflated: the object, or its delta. */
  readonly size: number
  /** Where the deflated bytes begin. */
  readonly start: number
  /** Where the base of a delta begins, or its name. */
  readonly back?: number
  readonly base?: string
}

/** Reads the beginning of an entry from the bytes at its place in the pack. */
export function entryHead(head: Buffer, at: number, nameBytes: number): EntryHead {
  const first = head[0] ?? 0
  const number = (first >> 4) & 7
  let [size, shift, next] = [first & 15, 4, 1]
  for (let byte = first; (byte & 0x80) !== 0; shift += 7) {
    byte = head[next++] ?? 0
    size += (byte & 0x7f) * 2 ** shift
  }
  const type = TYPES[number]
  if (type !== undefined) return { type, size, start: at + next }
  if (number === NAMED_DELTA) {
    const base = head.subarray(next, next + nameBytes).toString('hex')
    return { size, start: at + next + nameBytes, base }
  }
  if (number !== OFFSET_DELTA) return { size, start: at + next }
  let byte = head[next++] ?? 0
  let distance = byte & 0x7f
  while ((byte & 0x80) !== 0) {
    byte = head[next++] ?? 0
    distance = (distance + 1) * 128 + (byte & 0x7f)
  }
  const isBefore = distance > 0 && distance < at
  return { size, start: at + next, ...(isBefore ? { back: at - distance } : {}) }
}

/** The names that an index of a pack holds with their places, in its order; null if it is none. */
export function indexedNames(bytes: Buffer, nameBytes: number): readonly IndexedName[] | null {
  if (bytes.length <= TABLE_AT || bytes.readUInt32BE(0) !== PACK_INDEX) return null
  if (bytes.readUInt32BE(4) !== 2) return null
  const count = bytes.readUInt32BE(FANOUT_AT + 255 * 4)
  const least = TABLE_AT + count * (nameBytes + 8) + 2 * nameBytes
  // Git refuses another size too, so that names of one length are never read as of another.
  if (bytes.length < least || bytes.length > least + Math.max(0, count - 1) * 8) return null
  const names: IndexedName[] = []
  for (let index = 0; index < count; index++) {
    const at = offsetAt(bytes, index, count, nameBytes)
    if (at === null) return null
    const start = TABLE_AT + index * nameBytes
    names.push({ name: bytes.toString('hex', start, start + nameBytes), at })
  }
  return names
}

interface IndexedName {
  readonly name: string
  /** Where its entry begins in the pack. */
  readonly at: number
}

function offsetIn({ bytes }: PackIndex, hash: string): number | null {
  const name = Buffer.from(hash, 'hex')
  const count = bytes.readUInt32BE(FANOUT_AT + 255 * 4)
  const first = name[0] ?? 0
  let low = first === 0 ? 0 : bytes.readUInt32BE(FANOUT_AT + (first - 1) * 4)
  let high = bytes.readUInt32BE(FANOUT_AT + first * 4)
  while (low < high) {
    const middle = (low + high) >>> 1
    const start = TABLE_AT + middle * name.length
    const order = name.compare(bytes.subarray(start, start + name.length))
    if (order === 0) return offsetAt(bytes, middle, count, name.length)
    if (order < 0) high = middle
    else low = middle + 1
  }
  return null
}

/** After the names come checksums, then offsets, then the long offsets of large packs. */
function offsetAt(bytes: Buffer, index: number, count: number, nameBytes: number): number | null {
  const offsets = TABLE_AT + count * (nameBytes + 4)
  if (offsets + count * 4 > bytes.length) return null
  const short = bytes.readUInt32BE(offsets + index * 4)
  if (short < 0x80000000) return short
  const long = offsets + count * 4 + (short - 0x80000000) * 8
  return long + 8 > bytes.length ? null : Number(bytes.readBigUInt64BE(long))
}

export function readAt(handle: number, at: number, length: number): Buffer {
  const buffer = Buffer.alloc(length)
  return buffer.subarray(0, readSync(handle, buffer, 0, length, at))
}

/**
 * Returns the inflated bytes. Fails if the bytes are no zlib stream or inflate to more than
 * `maxOutputLength`. Loads `node:zlib` at the first call, because few commands need it.
 */
export function inflate(bytes: Uint8Array, options: ZlibOptions): Buffer {
  return process.getBuiltinModule('node:zlib').inflateSync(bytes, options)
}

/** What does not shrink grows by little. */
function inflatedAt(handle: number, at: number, size: number): Buffer {
  const room = size + Math.ceil(size / 1000) + 1024
  return inflate(readAt(handle, at, room), { maxOutputLength: Math.max(1, size) })
}

/**
 * A delta: two sizes, then pieces that are copied from the base or stand in the delta itself. Fails if
 * the result has more bytes than `bytesMax`: a short delta can copy its base many times.
 */
export function patched(base: Buffer, delta: Buffer, bytesMax = OBJECT_BYTES_MAX): Buffer {
  let at = 0
  const next = (): number => delta[at++] ?? 0
  const skipSize = (): void => {
    while ((next() & 0x80) !== 0);
  }
  skipSize()
  skipSize()
  const pieces: Buffer[] = []
  let length = 0
  const take = (piece: Buffer): void => {
    length += piece.length
    if (length > bytesMax) throw new Error('a delta makes too large an object')
    pieces.push(piece)
  }
  while (at < delta.length) {
    const order = next()
    if ((order & 0x80) === 0) {
      take(delta.subarray(at, at + order))
      at += order
      continue
    }
    const number = (bits: readonly number[]): number =>
      bits.reduce((sum, bit, index) => sum + ((order & bit) === 0 ? 0 : next() * 256 ** index), 0)
    const from = number([1, 2, 4, 8])
    const count = number([16, 32, 64]) || 0x10000
    take(base.subarray(from, from + count))
  }
  return Buffer.concat(pieces)
}

/** The name of a file's bytes as an object, by a hash of the same kind as another name. */
export function blobName(bytes: Buffer, like: string): string {
  return nameOf({ type: 'blob', bytes }, like.length)
}

export function nameOf({ type, bytes }: GitObject, hexLength: number): string {
  return createHash(hexLength === 64 ? 'sha256' : 'sha1')
    .update(`${type} ${bytes.length}\0`)
    .update(bytes)
    .digest('hex')
}

function sizeOf(path: RawPath): number {
  return statSync(Buffer.from(bytesOfRaw(path)), { throwIfNoEntry: false })?.size ?? 0
}
