/**
 * One line from the person at the terminal. What was typed before the question stood there does not
 * count: neither keys pressed too early nor what a terminal itself answers to a command's queries.
 */

/** Long enough for a terminal's own answers, too short to be noticed. */
const DISCARD_MS = 120

/** `interrupted`: Ctrl-C or a wish to end. `gone`: the terminal is no longer there. */
export type Line = { readonly text: string } | 'interrupted' | 'gone'

export async function askLine(question: string): Promise<Line> {
  await discardTypeAhead()
  const line = await readLine(question)
  if (typeof line === 'string') process.stderr.write('\n')
  return line
}

/** In raw mode, so that half a line is thrown away as well. */
function discardTypeAhead(): Promise<void> {
  const { stdin } = process
  const forget = (): void => {}
  stdin.setRawMode?.(true)
  stdin.on('data', forget)
  stdin.resume()
  return new Promise((resolve) => {
    setTimeout(() => {
      stdin.off('data', forget)
      stdin.pause()
      stdin.setRawMode?.(false)
      resolve()
    }, DISCARD_MS)
  })
}

const LINE_BYTES_MAX = 4096

/** Listens before it asks: an answer can come at once. */
function readLine(question: string): Promise<Line> {
  const { stdin } = process
  return new Promise((resolve) => {
    let text = ''
    const finish = (line: Line): void => {
      stdin.off('data', onData)
      stdin.off('end', onEnd)
      stdin.off('error', onGone)
      process.off('SIGINT', onInterrupt)
      process.off('SIGTERM', onInterrupt)
      process.off('SIGHUP', onGone)
      stdin.pause()
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
    stdin.on('data', onData)
    stdin.on('end', onEnd)
    stdin.on('error', onGone)
    process.on('SIGINT', onInterrupt)
    process.on('SIGTERM', onInterrupt)
    process.on('SIGHUP', onGone)
    stdin.resume()
    process.stderr.write(question)
  })
}
