/**
 * Lists of an act, written and read line by line: there may be as many lines as files were changed, and
 * no such text is ever held whole.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import type { Digest } from '../../base/index.ts'

const CHUNK_CHARACTERS = 1 << 16

/** Writes lines, each with its line break, and returns the digest of all of them. */
export function writeLines(handle: number, lines: Iterable<string>): Digest {
  const hash = createHash('sha256')
  let text = ''
  const flush = (): void => {
    const bytes = Buffer.from(text)
    hash.update(bytes)
    for (let from = 0; from < bytes.length; ) from += writeSync(handle, bytes, from)
    text = ''
  }
  for (const line of lines) {
    text += line
    if (text.length >= CHUNK_CHARACTERS) flush()
  }
  flush()
  return `sha256:${hash.digest('hex')}` as Digest
}

const CHUNK_BYTES = 1 << 16
const LINE_FEED = 0x0a

/** The lines of a file without their breaks; an unfinished last one is left out. Fails if there is no file. */
export function* readLines(
  file: string,
  onBytes: (bytes: Uint8Array) => void = () => {},
): Generator<string> {
  const handle = openSync(file, 'r')
  try {
    let rest = Buffer.alloc(0)
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let read = readSync(handle, chunk); read > 0; read = readSync(handle, chunk)) {
      onBytes(chunk.subarray(0, read))
      rest = Buffer.concat([rest, chunk.subarray(0, read)])
      let from = 0
      for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED, from)) {
        yield rest.toString('utf8', from, end)
        from = end + 1
      }
      rest = rest.subarray(from)
    }
  } finally {
    closeSync(handle)
  }
}
