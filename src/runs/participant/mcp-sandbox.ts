/**
 * The line to an MCP server that runs as a command inside an attempt. Descriptor 3 of the process
 * carries what would be its standard input and output.
 *
 * The channel is one of lines that are answered in their order. So the process begins with an empty
 * line; a line is answered with the next request once no other request is under way, and with nothing
 * before that. A shell in front of the server drops empty lines, and closes its input at `END`. It says
 * `GONE` and the exit status when the server has ended: the shell itself would go on waiting for a line.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { LineFailure } from './line.ts'
import type { ParticipantRequest } from './participant-request.ts'

const END = 'END'
const GONE = 'GONE '
/** Between messages of one line; JSON never has it. */
const APART = '\u001e'

/**
 * `$0` is the program. Its output goes through a pipe: a program that makes its end of the channel
 * non-blocking would make it so for the shell as well.
 */
const WRAPPER = `( echo >&3
while IFS= read -r line <&3; do
  case "$line" in
    '') ;;
    *${END}) break ;;
    *) printf '%s\\n' "$line" | tr '\\036' '\\n' ;;
  esac
done ) | { "$0" "$@" 3>&-; printf '\\n${GONE}%s\\n' "$?"; } | cat >&3`

/** A server that does not end by itself when its input is closed is ended after this time. */
const ENDING_MS = 2_000

export class SandboxTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  readonly #asking: ParticipantRequest
  readonly #command: readonly string[]
  #outgoing: string[] = []
  /** Requests of ours that are not answered yet. */
  #underWay = 0
  #owed: ((text: string) => void) | null = null
  #isClosed = false
  /** END was sent to the shell. A second one would close the input of the next server. */
  #isToldEnd = false
  readonly #abort = new AbortController()
  /** Of the server, when it has ended. */
  #status: string | null = null
  #ended: Promise<void> = Promise.resolve()

  readonly #note: (message: string) => void

  /** `note` is called with the text of each message of the server. */
  constructor(
    asking: ParticipantRequest,
    command: readonly string[],
    note: (message: string) => void,
  ) {
    this.#asking = asking
    this.#command = command
    this.#note = note
  }

  async start(): Promise<void> {
    const { workspace } = this.#asking
    const attempt = await this.#asking.attempt()
    const running = attempt.run({
      argv: ['sh', '-c', WRAPPER, ...this.#command],
      cwd: workspace,
      // The attempt adds the secrets: what is handed in here is on the record.
      env: {},
      stdin: new Uint8Array(),
      onLine: (line) => this.#answer(line),
      abort: this.#abort.signal,
    })
    this.#ended = running.then(
      ({ exitCode, stderr, refused }) => {
        const errors =
          refused === null ? new TextDecoder().decode(stderr) : refused.codes.join(', ')
        this.#end(exitCode, errors)
      },
      (error: Error) => this.#end(null, error.message),
    )
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new LineFailure('the server has ended')
    this.#outgoing.push(JSON.stringify(message))
    // What needs no answer goes with the next that does: the server would have nothing to say to it.
    if (!('id' in message)) return
    if ('method' in message) this.#underWay++
    if (this.#owed !== null) this.#flush()
  }

  #flush(): void {
    const answer = this.#owed
    this.#owed = null
    answer?.(this.#taken())
  }

  #taken(): string {
    const text = this.#outgoing.join(APART)
    this.#isToldEnd ||= this.#outgoing.includes(END)
    this.#outgoing = []
    return text
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#outgoing.push(END)
    this.#flush()
    const isLate = await Promise.race([
      this.#ended.then(() => false),
      pause(ENDING_MS, true, { ref: false }),
    ])
    // The attempt may go on with another run, and has room for one at a time.
    if (isLate) this.#abort.abort()
    await this.#ended
    this.onclose?.()
  }

  #answer(line: string): Promise<string> {
    if (line.startsWith(GONE)) return Promise.resolve(this.#leave(line.slice(GONE.length)))
    if (line.trim() !== '') this.#hear(line)
    if (this.#outgoing.length > 0 || this.#underWay > 0) return Promise.resolve(this.#taken())
    if (this.#isClosed) return Promise.resolve('')
    return new Promise((resolve) => {
      this.#owed = resolve
    })
  }

  /** The server has ended: lets go of the shell, whose end tells what the server complained about. */
  #leave(status: string): string {
    this.#status = status
    if (this.#isToldEnd) return ''
    this.#outgoing = [END]
    if (this.#owed === null) return this.#taken()
    this.#flush()
    return ''
  }

  #hear(line: string): void {
    try {
      this.#note(line)
      // The client of the protocol checks the message.
      const message = JSON.parse(line) as JSONRPCMessage
      if (!('method' in message)) this.#underWay = Math.max(0, this.#underWay - 1)
      this.onmessage?.(message)
    } catch (error) {
      // Parsing and the client throw nothing but errors.
      this.onerror?.(error as Error)
    }
  }

  /** Why the server ended before it was closed; null if it did not. */
  failure: string | null = null

  #end(exitCode: number | null, errors: string): void {
    const status = this.#status ?? String(exitCode)
    if (!this.#isClosed) this.failure = `exit status ${status}: ${errors.slice(-500)}`
    const wasOpen = !this.#isClosed
    this.#isClosed = true
    if (wasOpen) this.onclose?.()
  }
}
