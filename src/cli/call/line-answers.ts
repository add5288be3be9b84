/**
 * The loop of every `--jsonl` command: one answer a line, in order, in bounded memory. Exits 1 if
 * any line was answered no.
 */

import type { Readable } from 'node:stream'
import { FaultError, fault } from '../../base/index.ts'
import { type CommandCall, EXIT, type Exit } from './command.ts'
import { LINE_BYTES_MAX } from './envelope.ts'
import { openSource, unreadable } from './source.ts'

const FLUSH_LENGTH = 1 << 16
const NEWLINE = 0x0a

export interface LineAnswer {
  readonly text: string
  readonly valid: boolean
}

export async function answerLines(
  call: CommandCall,
  answer: (line: Buffer | null) => LineAnswer,
): Promise<Exit> {
  const [file = '-', ...others] = call.arguments
  if (others.length > 0)
    throw new FaultError(
      fault('cli.usage', '', null, { message: '`--jsonl` reads one file, or standard input' }),
    )
  let pending = ''
  let allValid = true
  try {
    await eachLine(openSource(file), LINE_BYTES_MAX, (line) => {
      const { text, valid } = answer(line)
      allValid &&= valid
      pending += text
      if (pending.length < FLUSH_LENGTH) return undefined
      const flushed = call.terminal.out(pending)
      pending = ''
      return flushed
    })
  } catch (thrown) {
    // Only errors of the system name a system call.
    throw (thrown as NodeJS.ErrnoException).syscall === undefined
      ? thrown
      : new FaultError(unreadable(file, thrown))
  }
  await call.terminal.out(pending)
  return allValid ? EXIT.yes : EXIT.no
}

/**
 * Splits a byte stream into lines without holding more than one line and one chunk. A line that
 * passes the limit is not gathered: it is given as null, and reading goes on behind it.
 *
 * Calls `take` for every line in order; awaits what it returns, so a slow reader holds the stream.
 */
async function eachLine(
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
