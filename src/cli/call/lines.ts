/**
 * Splits a byte stream into lines without holding more than one line and one chunk. A line that
 * passes the limit is not gathered: it is given as null, and reading goes on behind it.
 */
import type { Readable } from 'node:stream'

const NEWLINE = 0x0a

/** Calls `take` for every line in order; awaits what it returns, so a slow reader holds the stream. */
export async function eachLine(
  stream: Readable,
  bytesMax: number,
  take: (line: Buffer | null) => Promise<void> | undefined,
): Promise<void> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const piece of stream) {
    const chunk: Buffer = piece // The stream has no encoding.
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const bytes = restBytes + end - start
      const waited = take(bytes > bytesMax ? null : joined(rest, chunk.subarray(start, end)))
      if (waited !== undefined) await waited
      rest = []
      restBytes = 0
      start = end + 1
    }
    restBytes += chunk.length - start
    // Past the limit only the count is kept.
    if (restBytes > bytesMax) rest = []
    else if (start < chunk.length) rest.push(chunk.subarray(start))
  }
  if (restBytes > 0) await take(restBytes > bytesMax ? null : joined(rest, Buffer.alloc(0)))
}

function joined(rest: readonly Buffer[], last: Buffer): Buffer {
  return rest.length === 0 ? last : Buffer.concat([...rest, last])
}
