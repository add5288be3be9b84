/**
 * The loop of every `--jsonl` command: one answer a line, in order, in bounded memory. Exits 1 if
 * any line was answered no.
 */
import { FaultError, fault } from '../../base/index.ts'
import { type CommandCall, EXIT, type Exit } from './command.ts'
import { LINE_BYTES_MAX } from './envelope.ts'
import { eachLine } from './lines.ts'
import { openSource } from './source.ts'
import { unreadable } from './unreadable.ts'

const FLUSH_LENGTH = 1 << 16

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
