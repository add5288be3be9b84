/**
 * The one channel of a session (S-13): an HTTP server on the loopback inside, under a token that is
 * valid for this session only. It serves reports of hooks, the gateway to models, held pushes and commands,
 * and nothing that approves, undoes, or reads other acts.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type CommandKeeper, serveCommand } from './command-server.ts'
import { type ModelGateway, refuse } from './gateway.ts'
import { type PushKeeper, servePush } from './push-server.ts'

interface ChannelParts {
  readonly token: string
  readonly gateway: ModelGateway
  readonly pushes: PushKeeper
  readonly commands: CommandKeeper
  /** What a hook reported; returns the answer for the agent. */
  readonly onReport: (report: unknown) => Promise<unknown>
  /** Returns the real version of a file in conflict. Fails for every other path. */
  readonly onRead: (path: string) => Uint8Array
  /** An event in the words of a host; null if no such host is known. */
  readonly onEvent: (
    host: string,
    event: string | null,
    input: string,
  ) => Promise<EventAnswer | null>
}

/** What the hook program prints, and how it leaves. */
interface EventAnswer {
  readonly stdout: string
  readonly stderr: string
  readonly status: number
}

const REPORT_BYTES_MAX = 1024 * 1024
/** An event also holds what the tool answered. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024
const HEADERS_MS = 15_000

export class SessionChannel {
  readonly #parts: ChannelParts
  readonly #server: Server

  constructor(parts: ChannelParts) {
    this.#parts = parts
    this.#server = createServer({ headersTimeout: HEADERS_MS }, (asked, answer) =>
      this.#serve(asked, answer),
    )
    // A model may think for long before its answer ends.
    this.#server.requestTimeout = 0
    this.#server.on('clientError', (_, socket) => socket.destroy())
  }

  accept(socket: Socket): void {
    this.#server.emit('connection', socket)
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #serve(asked: IncomingMessage, answer: ServerResponse): void {
    const [, token = '', kind = '', name = '', ...rest] = (asked.url ?? '').split('/')
    if (!isSame(token, this.#parts.token)) return refuse(answer, 404, 'there is nothing here')
    if (kind === 'model')
      return this.#parts.gateway.serve(name, `/${rest.join('/')}`, asked, answer)
    if (kind === 'push') return void this.#push(name, rest.join('/'), asked, answer)
    if (kind === 'command') return void serveCommand(this.#parts.commands, name, asked, answer)
    // Hooks ask whether they run in a session.
    if (kind === 'ping') return void answer.end()
    if (kind === 'report' && asked.method === 'POST') return void this.#report(asked, answer)
    if (kind === 'hook' && asked.method === 'POST')
      return void this.#event(name, rest[0] ?? null, asked, answer)
    if (kind === 'real') return this.#read(name, answer)
    refuse(answer, 404, 'there is nothing here')
  }

  #read(name: string, answer: ServerResponse): void {
    try {
      answer.end(this.#parts.onRead(decodeURIComponent(name)))
    } catch (error) {
      refuse(answer, 404, error instanceof Error ? error.message : String(error))
    }
  }

  /** Status 200 with what the hook prints, or 422 with what it says when it blocks. */
  async #event(
    host: string,
    event: string | null,
    asked: IncomingMessage,
    answer: ServerResponse,
  ): Promise<void> {
    try {
      const input = await bodyOf(asked, EVENT_BYTES_MAX)
      const printed = await this.#parts.onEvent(host, event, input)
      if (printed === null) return refuse(answer, 404, `no agent is called ${host}`)
      const { status, stdout, stderr } = printed
      const body = Buffer.from(status === 0 ? stdout : stderr)
      answer.writeHead(status === 0 ? 200 : 422, { 'content-length': body.length })
      answer.end(body)
    } catch (error) {
      refuse(answer, 400, error instanceof Error ? error.message : String(error))
    }
  }

  async #push(
    scheme: string,
    path: string,
    asked: IncomingMessage,
    answer: ServerResponse,
  ): Promise<void> {
    try {
      await servePush(this.#parts.pushes, scheme, path, asked, answer)
    } catch (error) {
      refuse(answer, 400, error instanceof Error ? error.message : String(error))
    }
  }

  async #report(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    try {
      const told = await this.#parts.onReport(JSON.parse(await bodyOf(asked, REPORT_BYTES_MAX)))
      answer.writeHead(200, { 'content-type': 'application/json' })
      answer.end(JSON.stringify(told))
    } catch (error) {
      refuse(answer, 400, error instanceof Error ? error.message : String(error))
    }
  }
}

async function bodyOf(asked: IncomingMessage, most: number): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of asked) {
    // A request without an encoding gives buffers.
    const chunk = piece as Buffer
    bytes += chunk.length
    if (bytes > most) throw new Error(`the report is longer than ${most} bytes`)
    pieces.push(chunk)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function isSame(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
