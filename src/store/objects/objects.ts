/**
 * The content-addressed store of bodies, named by the SHA-256 of what is in them. Here as files,
 * `objects/ab/cdef…`; of a home on PostgreSQL they lie there (`postgres-objects.ts`).
 *
 * PROMISE (durable): when `put` resolves, the bytes and the name are synced, so a fact that names the
 *   body can be appended. A file under its name is complete at every moment.
 * PROMISE (true): `get` gives the bytes that the name promises, or a failure; never others.
 * Concurrent calls of any processes are fine. Dropping is final and leaves the facts alone; that a
 * body may be dropped is for the caller to know.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Digest,
  digestBytes,
  type FaultError,
  faultError,
  invariant,
  isDigest,
  showName,
} from '../../base/index.ts'
import type { StoredObject } from '../../ledger/index.ts'
import { errnoOf, namesIfThere, readLines, syncPath } from '../../machine/index.ts'
import { failureOf } from '../database/sqlite-connection.ts'

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700
/** Larger bodies go through the thread pool even in an inline store. */
const SMALL_BYTES = 64 * 1024

export interface ObjectStore {
  put(object: StoredObject): Promise<void>
  /** The same for a body that is made piece by piece and never held whole; gives its name. */
  putPieces(pieces: Iterable<Uint8Array>): Promise<Digest>
  /** The lines of a body; the bytes are checked before the first one. */
  lines(digest: Digest): Promise<Iterable<string>>
  get(digest: Digest): Promise<Uint8Array>
  has(digest: Digest): Promise<boolean>
  /** In bytes; null when the body is not kept. */
  size(digest: Digest): Promise<number | null>
  /** Removes a body for good; false when there was none. */
  drop(digest: Digest): Promise<boolean>
}

export class FileObjects implements ObjectStore {
  readonly #directory: string
  readonly #isInline: boolean

  /** Where `isInline`, small bodies are written with synchronous calls: the program has no other work. */
  constructor(directory: string, isInline = false) {
    this.#directory = directory
    this.#isInline = isInline
  }

  async put({ digest, bytes }: StoredObject): Promise<void> {
    invariant(digestBytes(bytes) === digest, 'an object is named by its contents')
    const file = this.#fileOf(digest)
    try {
      if (this.#isInline && bytes.length <= SMALL_BYTES) {
        return await putSmall(this.#directory, file, bytes)
      }
      await this.#makeDirectory(dirname(file))
      if (!(await hasSize(file, bytes.length))) await this.#write(file, bytes)
      // Also when the file was there: the process that wrote it may not have synced the directory yet.
      await syncPath(dirname(file))
    } catch (error) {
      throw failureOf(error, file)
    }
  }

  async putPieces(pieces: Iterable<Uint8Array>): Promise<Digest> {
    const scratch = join(this.#directory, 'tmp')
    const temporary = join(scratch, randomBytes(12).toString('hex'))
    try {
      await this.#makeDirectory(scratch)
      const digest = await writePieces(temporary, pieces)
      const file = this.#fileOf(digest)
      await this.#makeDirectory(dirname(file))
      await rename(temporary, file)
      await syncPath(dirname(file))
      return digest
    } catch (error) {
      await rm(temporary, { force: true })
      throw failureOf(error, temporary)
    }
  }

  /** The body is never held whole. */
  async lines(digest: Digest): Promise<Iterable<string>> {
    const file = this.#fileOf(digest)
    const found = await digestFile(file).catch((error: unknown) => {
      throw isAbsent(error) ? missing(digest) : failureOf(error, file)
    })
    if (found !== digest) throw altered(digest)
    return readLines(file)
  }

  async get(digest: Digest): Promise<Uint8Array> {
    const file = this.#fileOf(digest)
    const bytes = await readFile(file).catch((error: unknown) => {
      throw isAbsent(error) ? missing(digest) : failureOf(error, file)
    })
    if (digestBytes(bytes) === digest) return bytes
    throw altered(digest)
  }

  async has(digest: Digest): Promise<boolean> {
    return (await this.size(digest)) !== null
  }

  async size(digest: Digest): Promise<number | null> {
    const file = this.#fileOf(digest)
    return this.#isInline ? sizeNow(file) : sizeOf(file)
  }

  async drop(digest: Digest): Promise<boolean> {
    const file = this.#fileOf(digest)
    try {
      await unlink(file)
      await syncPath(dirname(file))
      return true
    } catch (error) {
      if (isAbsent(error)) return false
      throw failureOf(error, file)
    }
  }

  /** The names of all bodies. */
  all(): readonly Digest[] {
    return namesIfThere(this.#directory).flatMap((folder) =>
      namesIfThere(join(this.#directory, folder)).flatMap((name) => {
        const digest = `sha256:${folder}${name}`
        return isDigest(digest) ? [digest] : []
      }),
    )
  }

  async #write(file: string, bytes: Uint8Array): Promise<void> {
    const scratch = join(this.#directory, 'tmp')
    await this.#makeDirectory(scratch)
    const temporary = join(scratch, randomBytes(12).toString('hex'))
    try {
      const handle = await open(temporary, 'wx', FILE_MODE)
      try {
        await handle.writeFile(bytes)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(temporary, file)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  /** The directory, and its name in the one above, durable. */
  async #makeDirectory(directory: string): Promise<void> {
    const first = await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
    if (first === undefined) return
    for (let made = directory; made.length >= first.length; made = dirname(made)) {
      await syncPath(dirname(made))
    }
  }

  #fileOf(digest: Digest): string {
    invariant(isDigest(digest), 'a body is named by a digest')
    const hex = digest.slice('sha256:'.length)
    return join(this.#directory, hex.slice(0, 2), hex.slice(2))
  }
}

/** Writes and syncs; gives the digest of what was written. */
async function writePieces(file: string, pieces: Iterable<Uint8Array>): Promise<Digest> {
  const hash = createHash('sha256')
  const handle = await open(file, 'wx', FILE_MODE)
  try {
    for (const piece of pieces) {
      hash.update(piece)
      await handle.appendFile(piece)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  // The shape of a digest, made here.
  return `sha256:${hash.digest('hex')}` as Digest
}

const PIECE_BYTES = 1 << 20

async function digestFile(file: string): Promise<Digest> {
  const hash = createHash('sha256')
  const handle = await open(file, 'r')
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (;;) {
      const { bytesRead } = await handle.read(piece, 0, piece.length)
      if (bytesRead === 0) break
      hash.update(piece.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
  // The shape of a digest, made here.
  return `sha256:${hash.digest('hex')}` as Digest
}

async function hasSize(file: string, bytes: number): Promise<boolean> {
  return (await sizeOf(file)) === bytes
}

async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (isAbsent(error)) return null
    throw failureOf(error, file)
  }
}

function sizeNow(file: string): number | null {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? null
  } catch (error) {
    throw failureOf(error, file)
  }
}

function isAbsent(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT'
}

export function altered(digest: Digest): FaultError {
  const message = `the body ${showName(digest)} has other contents than its name says`
  return faultError('body.altered', digest, message)
}

export function missing(digest: Digest): FaultError {
  const message = `the body ${showName(digest)} is not kept here`
  const hint =
    '`writ ledger verify` names the first fact that needs it, unless a fact says that it was dropped; a backup, or a bundle of `writ ledger export --bodies`, has it'
  return faultError('body.missing', digest, message, hint)
}

/**
 * Writes one small body with synchronous calls, except for the syncs: a round trip through Node's thread
 * pool takes longer than most steps, but not longer than a sync. `objects.ts` does every step through
 * the pool. The order of steps and the promise are the same: when `putSmall` resolves, the bytes and the
 * name are synced, and a file under its name is complete at every moment.
 */
async function putSmall(directory: string, file: string, bytes: Uint8Array): Promise<void> {
  const holders = makeDirectory(dirname(file))
  const found = statSync(file, { throwIfNoEntry: false })
  const written = found?.size === bytes.length ? [] : [write(join(directory, 'tmp'), file, bytes)]
  await Promise.all([...written, ...holders.map(syncPath)])
  // Also when the file was there: the process that wrote it may not have synced the directory yet.
  await syncPath(dirname(file))
}

async function write(scratch: string, file: string, bytes: Uint8Array): Promise<void> {
  const holders = makeDirectory(scratch)
  const temporary = join(scratch, randomBytes(12).toString('hex'))
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: FILE_MODE })
    await syncPath(temporary)
    await Promise.all(holders.map(syncPath))
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** The directories in which a name came by this, which is not durable before they are synced. */
function makeDirectory(directory: string): readonly string[] {
  const first = mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE })
  const holders: string[] = []
  if (first === undefined) return holders
  for (let made = directory; made.length >= first.length; made = dirname(made)) {
    holders.push(dirname(made))
  }
  return holders
}
