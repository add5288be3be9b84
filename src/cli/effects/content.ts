/**
 * What a file holds, as far as it can be shown: text, something else, or more than is read here.
 * Streams are read to a limit and never held beyond it; longer ones are only counted.
 */
import { isUtf8 } from 'node:buffer'

export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary' }
  /** `lines` is null when even counting would take too long. */
  | { readonly kind: 'long'; readonly lines: number | null }
  /** What was there a moment ago cannot be read any more. */
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Bytes of a file that are read to compare it line by line; `whole` is the limit of the full view. */
export const READ_BYTES_MAX = { usual: 4 << 20, whole: 64 << 20 } as const
const COUNTED_BYTES_MAX = 256 << 20
const LINE_FEED = 10

export async function readContent(
  stream: AsyncIterable<unknown>,
  size: number,
  bytesMax: number,
): Promise<Content> {
  try {
    return size > bytesMax ? await countLines(stream, size) : await readText(stream, bytesMax)
  } catch (thrown) {
    // Streams of files fail with errors of the system.
    const { code, message } = thrown as NodeJS.ErrnoException
    return { kind: 'unreadable', reason: code ?? message }
  }
}

/** The bytes of a small file; null for none, one that is larger, and one that cannot be read. */
export async function readContentBytes(
  stream: AsyncIterable<unknown> | null,
  bytesMax: number,
): Promise<Buffer | null> {
  if (stream === null) return null
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of bytesOf(stream)) {
      pieces.push(piece)
      length += piece.length
      if (length > bytesMax) return null
    }
  } catch {
    return null
  }
  return Buffer.concat(pieces)
}

async function readText(stream: AsyncIterable<unknown>, bytesMax: number): Promise<Content> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of bytesOf(stream)) {
    pieces.push(piece)
    length += piece.length
    // The size was checked before: the file has grown since, and its new bytes are not promoted.
    if (length > bytesMax) return { kind: 'long', lines: null }
  }
  const bytes = Buffer.concat(pieces)
  if (!isUtf8(bytes) || bytes.includes(0)) return { kind: 'binary' }
  return { kind: 'text', text: bytes.toString('utf8') }
}

async function countLines(stream: AsyncIterable<unknown>, size: number): Promise<Content> {
  if (size > COUNTED_BYTES_MAX) return { kind: 'long', lines: null }
  let lines = 0
  for await (const piece of bytesOf(stream)) {
    if (piece.includes(0)) return { kind: 'binary' }
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, at + 1))
      lines++
  }
  return { kind: 'long', lines }
}

async function* bytesOf(stream: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    // A stream of bytes gives buffers, or texts if it has an encoding.
    yield typeof piece === 'string' ? Buffer.from(piece) : (piece as Uint8Array)
  }
}
