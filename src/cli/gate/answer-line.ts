/**
 * One line from the person at the terminal. What was typed before the question stood there does not
 * count: neither keys pressed too early nor what a terminal itself answers to a command's queries.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { ReadStream } from 'node:tty'

/** Long enough for a terminal's own answers, too short to be noticed. */
const DISCARD_MS = 120

/** `interrupted`: Ctrl-C or a wish to end. `ended`: Ctrl-D. `gone`: the terminal is no longer there. */
type Line = { readonly text: string } | 'interrupted' | 'ended' | 'gone'

/**
 * Asks until the line is an answer that `read` knows; null from `read` asks again. Ctrl-C, Ctrl-D, a
 * signal and a terminal that goes away are no answer: `later`.
 */
export async function askWord<Word extends string>(
  question: string,
  read: (line: string) => Word | null,
): Promise<Word | 'later'> {
  for (;;) {
    const line = await askLine(question)
    const word = typeof line === 'string' ? 'later' : read(line.text)
    if (word !== null) return word
  }
}

export async function askLine(question: string): Promise<Line> {
  const input = openInput()
  if (input === null) return 'gone'
  try {
    const line = await readLine(input, question, await discardTypeAhead(input))
    if (typeof line === 'string') process.stderr.write('\n')
    return line
  } finally {
    if (input !== process.stdin) input.destroy()
  }
}

/** A command that read to the end of what was typed has ended our own input; the terminal is there. */
function openInput(): ReadStream | null {
  const { stdin } = process
  if (!stdin.readableEnded && !stdin.destroyed) return stdin
  try {
    return new ReadStream(openSync('/dev/tty', 'r'))
  } catch {
    return null
  }
}

/**
 * Throws away what was typed so far: for a while what comes in, then, right before the question, what
 * the terminal still holds. A timer alone is not enough: a process that was stopped meanwhile runs the
 * timer before it reads what was typed. In raw mode, so that half a line is thrown away as well.
 * Returns a function that does the last part again and says when the terminal was empty.
 */
function discardTypeAhead(input: ReadStream): Promise<Discard> {
  const forget = (): void => {}
  input.setRawMode(true)
  input.on('data', forget)
  input.resume()
  return new Promise((resolve) => {
    setTimeout(() => {
      input.off('data', forget)
      input.pause()
      resolve(() => {
        input.setRawMode(true)
        while (input.read() !== null);
        drain()
        const emptyMs = performance.now()
        input.setRawMode(false)
        return emptyMs
      })
    }, DISCARD_MS)
  })
}

type Discard = () => number

/** Reads what the terminal holds until it is empty. */
function drain(): void {
  const terminal = openTerminal()
  const buffer = Buffer.alloc(4096)
  try {
    // A read of a terminal that holds nothing fails with EAGAIN.
    while (readSync(terminal, buffer) > 0);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown
  } finally {
    closeSync(terminal)
  }
}

/** The terminal of the session, which also another user may open after `su`; else the input itself. */
function openTerminal(): number {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
  try {
    return openSync('/dev/tty', flags)
  } catch {
    return openSync('/proc/self/fd/0', flags)
  }
}

/** Longer than it takes to write a question, shorter than it takes to press a key. */
const STALL_MS = 20

/** Writes the question when nothing typed is left; once more if the process was stopped meanwhile. */
function ask(question: string, discard: Discard): void {
  for (;;) {
    const emptyMs = discard()
    process.stderr.write(question)
    if (performance.now() - emptyMs < STALL_MS) return
    process.stderr.write('\n')
  }
}

const LINE_BYTES_MAX = 4096

/** Reads one line. Discards what was typed before the question was written. */
function readLine(input: ReadStream, question: string, discard: Discard): Promise<Line> {
  return new Promise((resolve) => {
    let text = ''
    let isAsked = false
    const finish = (line: Line): void => {
      input.off('data', onData)
      input.off('end', onEnd)
      input.off('error', onGone)
      process.off('SIGINT', onInterrupt)
      process.off('SIGTERM', onInterrupt)
      process.off('SIGHUP', onGone)
      input.pause()
      resolve(line)
    }
    const onData = (chunk: Buffer): void => {
      if (!isAsked) return
      text += chunk.toString('utf8')
      const end = text.indexOf('\n')
      if (end !== -1) finish({ text: text.slice(0, end) })
      else if (text.length > LINE_BYTES_MAX) finish({ text: '' })
    }
    const onEnd = (): void => finish('ended')
    const onGone = (): void => finish('gone')
    const onInterrupt = (): void => finish('interrupted')
    input.on('data', onData)
    input.on('end', onEnd)
    input.on('error', onGone)
    process.on('SIGINT', onInterrupt)
    process.on('SIGTERM', onInterrupt)
    process.on('SIGHUP', onGone)
    try {
      ask(question, discard)
    } catch {
      // A terminal that cannot be emptied is not asked at.
      return finish('gone')
    }
    isAsked = true
    input.resume()
  })
}

export function yesOrNo(line: string): 'no' | 'yes' {
  return /^y(?:es)?$/i.test(line.trim()) ? 'yes' : 'no'
}
