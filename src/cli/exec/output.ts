/**
 * The command's output on its way to ours. When ours cannot be written any more (a reader that is gone,
 * a full disk), the command is ended as the kernel would end it, by SIGPIPE, and what it did is judged
 * and recorded like any other run's. A program that ignores the signal and goes on writing is ended
 * after a while.
 */
import { SYSTEM_CLOCK } from '../../machine/index.ts'

type Send = (name: NodeJS.Signals) => void

const TERM_AFTER_MS = 1_000
const KILL_AFTER_MS = 3_000

export class Output {
  readonly #send: Send
  readonly #brokenMs = new Map<NodeJS.WriteStream, number>()
  readonly #streams = [process.stdout, process.stderr]
  readonly #listeners = this.#streams.map((stream) => (error: NodeJS.ErrnoException) => {
    this.#onError(stream, error)
  })

  constructor(send: Send) {
    this.#send = send
  }

  begin(): void {
    for (const [index, stream] of this.#streams.entries()) {
      stream.on('error', this.#listeners[index] ?? (() => {}))
    }
  }

  end(): void {
    for (const [index, stream] of this.#streams.entries()) {
      stream.off('error', this.#listeners[index] ?? (() => {}))
    }
  }

  write(stream: NodeJS.WriteStream, bytes: Uint8Array): void {
    const sinceMs = this.#brokenMs.get(stream)
    if (sinceMs === undefined) {
      stream.write(bytes)
      return
    }
    const passedMs = SYSTEM_CLOCK.elapsedMs() - sinceMs
    this.#send(
      passedMs > KILL_AFTER_MS ? 'SIGKILL' : passedMs > TERM_AFTER_MS ? 'SIGTERM' : 'SIGPIPE',
    )
  }

  #onError(stream: NodeJS.WriteStream, { code = '' }: NodeJS.ErrnoException): void {
    // A terminal that went away ends the command by SIGHUP.
    if (code === 'EIO' || this.#brokenMs.has(stream)) return
    this.#brokenMs.set(stream, SYSTEM_CLOCK.elapsedMs())
    this.#send('SIGPIPE')
    if (code === 'EPIPE') return
    const name = stream === process.stdout ? 'standard output' : 'standard error'
    const why = WORDS[code] ?? code
    process.stderr.write(
      `writ exec: ${name} cannot be written (${why}), so the command was ended\n`,
    )
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'ENOSPC: no space is left on its disk',
  EDQUOT: 'EDQUOT: the disk quota is used up',
  EFBIG: 'EFBIG: the file is too large',
}
