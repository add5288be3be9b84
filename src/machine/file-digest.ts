/**
 * Digests of files, never following a link and never waiting on anything that is no file. Small files
 * are read in one go; large ones in pieces, a few files at a time, so that memory stays bounded.
 */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { type Digest, digestBytes } from '../base/index.ts'
import type { RawPath } from '../gate/index.ts'
import { codeOf, nodePath } from './held-directory.ts'
import { openEntry, openFile } from './no-follow.ts'
import type { Pace } from './pace.ts'

const SMALL_BYTES_MAX = 65_536
const PIECE_BYTES = 1 << 20
const AT_ONCE = 3

export interface DigestRequest {
  readonly path: RawPath
  readonly size: number
  /** Null when the file could not be read, or is no file any more. */
  readonly settle: (digest: Digest | null) => void
}

export async function digestFiles(requests: Iterable<DigestRequest>, pace: Pace): Promise<void> {
  const large: DigestRequest[] = []
  const buffer = Buffer.allocUnsafe(SMALL_BYTES_MAX + 1)
  for (const request of requests) {
    const digest = request.size > SMALL_BYTES_MAX ? undefined : digestSmall(request.path, buffer)
    if (digest === undefined) large.push(request)
    else request.settle(digest)
    await pace.step()
  }
  const queue = large.values()
  const lane = async () => {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (const { path, settle } of queue) settle(await digestLarge(path, piece))
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, large.length) }, lane))
}

/** Undefined when the file is larger than it was said to be. */
function digestSmall(path: RawPath, buffer: Buffer): Digest | null | undefined {
  let file: number
  try {
    file = openEntry(nodePath(path), 'read')
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
  try {
    if (!fstatSync(file).isFile()) return null
    let filled = 0
    for (let read = -1; read !== 0 && filled < buffer.length; filled += read) {
      read = readSync(file, buffer, filled, buffer.length - filled, filled)
    }
    return filled === buffer.length
      ? undefined
      : inOnePiece(digestBytes(buffer.subarray(0, filled)))
  } finally {
    closeSync(file)
  }
}

/** Texts that were added up are kept in parts, which take more memory. */
function inOnePiece(digest: Digest): Digest {
  return digest.split(':').join(':') as Digest
}

async function digestLarge(path: RawPath, piece: Buffer): Promise<Digest | null> {
  let file: FileHandle
  try {
    file = await openFile(nodePath(path))
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
  try {
    if (!(await file.stat()).isFile()) return null
    const hash = createHash('sha256')
    for (let at = 0; ; ) {
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0) break
      hash.update(piece.subarray(0, bytesRead))
      at += bytesRead
    }
    // The shape of a digest, made here.
    return `sha256:${hash.digest('hex')}` as Digest
  } finally {
    await file.close()
  }
}

function isUnreadable(error: unknown): boolean {
  const code = codeOf(error)
  return ['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EIO'].includes(code)
}
