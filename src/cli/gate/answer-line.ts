/**
 * One line from the person at the terminal. What was typed before the question stood there does not
 * count: neither keys pressed too early nor what a terminal itself answers to a command's queries.
 */
import { openSync } from 'node:fs'
import { ReadStream } from 'node:tty'

/** Long enough for a terminal's own answers, too short to be noticed. */
const DISCARD_MS = 120

/** `interrupted`: Ctrl-C or a wish to end. `gone`: the terminal is no longer there. */
export type Line = { readonly text: string } | 'interrupted' | 'gone'

export async function askLine(question: string): Promise<Line> {
  const input = openInput()
  if (input === null) return 'gone'
  try {
    await discardTypeAhead(input)
    const line = await readLine(input, question)
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

/** In raw mode, so that half a line is thrown away as well. */
function discardTypeAhead(input: ReadStream): Promise<void> {
  const forget = (): void => {}
  input.setRawMode(true)
  input.on('data', forget)
  input.resume()
  return new Promise((resolve) => {
    setTimeout(() => {
      input.off('data', forget)
      input.pause()
      input.setRawMode(false)
      resolve()
    }, DISCARD_MS)
  })
}

const LINE_BYTES_MAX = 4096

/** Listens before it asks: an answer can come at once. */
function readLine(input: ReadStream, question: string): Promise<Line> {
  return new Promise((resolve) => {
    let text = ''
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
      text += chunk.toString('utf8')
      const end = text.indexOf('\n')
      if (end !== -1) finish({ text: text.slice(0, end) })
      else if (text.length > LINE_BYTES_MAX) finish({ text: '' })
    }
    const onEnd = (): void => finish({ text: '' })
    const onGone = (): void => finish('gone')
    const onInterrupt = (): void => finish('interrupted')
    input.on('data', onData)
    input.on('end', onEnd)
    input.on('error', onGone)
    process.on('SIGINT', onInterrupt)
    process.on('SIGTERM', onInterrupt)
    process.on('SIGHUP', onGone)
    input.resume()
    process.stderr.write(question)
  })
}
