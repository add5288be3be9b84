/**
 * Small files that must never be seen half written: under another name first, synced, then renamed.
 * And reading what may be gone or closed to this user: `readable…` takes that as empty.
 *
 * Texts with one item a line are written and read piece by piece: lists of an act may have hundreds of
 * thousands of lines, and are never held as one text.
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type Digest, FaultError, fault, showName } from '../base/index.ts'
import { isAbsent } from './failure.ts'
import { holdLongList, LONG_LIST } from './pace.ts'
import { syncDirectory, syncPath } from './sync.ts'

/**
 * Replaces a file whole. `owner` names the only writer that uses this word: it removes what its own
 * interrupted write left.
 */
export function writeWhole(file: string, text: string, mode: number, owner?: string): void {
  put(file, text, mode, owner, true)
}

/** The same, but after a power cut the old text may be there again, or none. */
export function replaceFile(file: string, text: string, mode: number): void {
  put(file, text, mode, undefined, false)
}

function put(
  file: string,
  text: string,
  mode: number,
  owner: string | undefined,
  isDurable: boolean,
): void {
  const temporary = `${file}.${owner ?? randomBytes(6).toString('hex')}.tmp`
  try {
    if (owner !== undefined) rmSync(temporary, { force: true })
    const handle = openSync(temporary, 'wx', mode)
    try {
      writeSync(handle, text)
      if (isDurable) fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(temporary, file)
    if (isDurable) syncDirectory(dirname(file))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw unwritable(file, error)
  }
}

/** The same as `writeWhole`, while this process goes on with other work: the disk takes milliseconds. */
export async function writeWholeAside(
  file: string,
  text: string,
  mode: number,
  owner: string,
): Promise<void> {
  const temporary = `${file}.${owner}.tmp`
  try {
    rmSync(temporary, { force: true })
    writeFileSync(temporary, text, { mode, flag: 'wx' })
    await syncPath(temporary)
    renameSync(temporary, file)
    await syncPath(dirname(file))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw unwritable(file, error)
  }
}

/** Makes a file whose name says all; durable when it resolves. An empty file is whole at once. */
export async function makeEmptyFile(file: string, mode: number): Promise<void> {
  try {
    closeSync(openSync(file, 'a', mode))
    await syncPath(dirname(file))
  } catch (error) {
    throw unwritable(file, error)
  }
}

/** Makes a folder and those above it; tells whether it was not there before. */
export function makeFolder(folder: string, mode: number): boolean {
  try {
    return mkdirSync(folder, { recursive: true, mode }) !== undefined
  } catch (error) {
    throw unwritable(folder, error)
  }
}

/** In order; none when there is no such folder. */
export function namesIfThere(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

/** Null when there is no such file. */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return null
    const reason = reasonOf(error)
    const message = `${showName(file)} cannot be read (${reason})`
    throw new FaultError(fault('cli.file_unreadable', file, { file, reason }, { message }))
  }
}

export function readableNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

export function readableText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Of the entry itself, if it is a link. */
export function readableStats(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

export function unwritable(file: string, error: unknown): FaultError {
  const reason = reasonOf(error)
  const message = `${showName(file)} cannot be written (${reason})`
  return new FaultError(fault('cli.file_unwritable', file, { file, reason }, { message }))
}

function reasonOf(error: unknown): string {
  // Errors of the system have a code; others may lack it.
  return (error as NodeJS.ErrnoException).code ?? 'unknown reason'
}

const PIECE_CHARACTERS = 1 << 16
const PIECE_BYTES = 1 << 18
export const LINE_FEED = 0x0a

/** Returns the lines as bytes, several at a time. */
export function* piecesOf(lines: Iterable<string>): Generator<Buffer> {
  let text = ''
  for (const line of lines) {
    text += line
    if (text.length < PIECE_CHARACTERS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

/** Writes the lines, each with its line break; gives the digest of all. */
export function writeLines(handle: number, lines: Iterable<string>): Digest {
  const hash = createHash('sha256')
  for (const piece of piecesOf(lines)) {
    hash.update(piece)
    for (let from = 0; from < piece.length; ) from += writeSync(handle, piece, from)
  }
  // The shape of a digest, made here.
  return `sha256:${hash.digest('hex')}` as Digest
}

/** The lines of a file that are whole, without their line breaks; `onPiece` sees every byte of it. */
export function* readLines(
  file: string,
  onPiece: (piece: Uint8Array) => void = () => {},
): Generator<string> {
  const handle = openSync(file, 'r')
  let count = 0
  try {
    let rest = Buffer.alloc(0)
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (let read = readSync(handle, piece); read > 0; read = readSync(handle, piece)) {
      onPiece(piece.subarray(0, read))
      const last = piece.subarray(0, read).lastIndexOf(LINE_FEED)
      if (last === -1) {
        rest = Buffer.concat([rest, piece.subarray(0, read)])
        continue
      }
      for (const line of linesOf(Buffer.concat([rest, piece.subarray(0, last)]))) {
        if (++count > LONG_LIST) holdLongList()
        yield line
      }
      rest = Buffer.from(piece.subarray(last + 1, read))
    }
  } finally {
    closeSync(handle)
  }
}

function* linesOf(bytes: Buffer): Generator<string> {
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(LINE_FEED, from)
    const end = found === -1 ? bytes.length : found
    yield bytes.toString('utf8', from, end)
    from = end + 1
  }
}
