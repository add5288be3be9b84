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
}

const REPORT_BYTES_MAX = 1024 * 1024
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
    refuse(answer, 404, 'there is nothing here')
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
      const told = await this.#parts.onReport(JSON.parse(await bodyOf(asked)))
      answer.writeHead(200, { 'content-type': 'application/json' })
      answer.end(JSON.stringify(told))
    } catch (error) {
      refuse(answer, 400, error instanceof Error ? error.message : String(error))
    }
  }
}

async function bodyOf(asked: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of asked) {
    // A request without an encoding gives buffers.
    const chunk = piece as Buffer
    bytes += chunk.length
    if (bytes > REPORT_BYTES_MAX) throw new Error('the report is longer than 1 MB')
    pieces.push(chunk)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function isSame(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
