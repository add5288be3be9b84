/**
 * The line to an MCP server that runs as a command inside an attempt. Descriptor 3 of the process is
 * put in place of its standard input and output. The channel is one of lines that are answered in
 * their order, so the process begins with an empty line, and each line it writes is answered with
 * whatever is to be sent by then.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Asking } from './asking.ts'
import { LineFailure } from './line.ts'

/** `$0` is the program; the first line asks for the first message. */
const WRAPPER = 'echo >&3; exec "$0" "$@" <&3 >&3'

export class SandboxTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  readonly #asking: Asking
  readonly #command: readonly string[]
  #outgoing: string[] = []
  #owed: ((text: string) => void) | null = null
  #isClosed = false

  constructor(asking: Asking, command: readonly string[]) {
    this.#asking = asking
    this.#command = command
  }

  async start(): Promise<void> {
    const { workspace, secrets } = this.#asking
    const attempt = await this.#asking.attempt()
    const ended = attempt.run({
      argv: ['sh', '-c', WRAPPER, ...this.#command],
      cwd: workspace,
      env: secrets,
      stdin: new Uint8Array(),
      onLine: (line) => this.#answer(line),
    })
    ended.then(
      ({ exitCode, stderr }) => this.#end(exitCode, new TextDecoder().decode(stderr)),
      (error: Error) => this.onerror?.(error),
    )
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new LineFailure('the server has ended')
    const text = JSON.stringify(message)
    if (this.#owed === null) {
      this.#outgoing.push(text)
      return
    }
    const answer = this.#owed
    this.#owed = null
    answer(text)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#owed?.('')
    this.#owed = null
    this.onclose?.()
  }

  /** Waits until there is something to send, unless the line needs no answer. */
  #answer(line: string): Promise<string> {
    if (line.trim() !== '') this.#hear(line)
    const ready = this.#outgoing.join('\n')
    this.#outgoing = []
    if (ready !== '' || this.#isClosed) return Promise.resolve(ready)
    return new Promise((resolve) => {
      this.#owed?.('')
      this.#owed = resolve
    })
  }

  #hear(line: string): void {
    try {
      this.onmessage?.(JSON.parse(line) as JSONRPCMessage)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #end(exitCode: number | null, errors: string): void {
    if (exitCode !== 0 && errors !== '') this.onerror?.(new LineFailure(errors.slice(0, 500)))
    this.#isClosed = true
    this.onclose?.()
  }
}
