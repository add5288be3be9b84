/**
 * Writes and reads texts with one item a line, piece by piece: lists of an act may have hundreds of
 * thousands of lines, and are never held as one text.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import type { Digest } from '../base/index.ts'
import { holdLongList, LONG_LIST } from './heap.ts'

const PIECE_CHARACTERS = 1 << 16
const PIECE_BYTES = 1 << 18
export const LINE_FEED = 0x0a

/** The lines as bytes, several at a time. */
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
