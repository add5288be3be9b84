/**
 * The two ways in: standard input and output for one caller, and HTTP requests whose caller the service
 * has found out. Both serve the current and the previous protocol generation.
 */
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Caller } from '../ledger/index.ts'
import { bearer, CallerGround, type McpHost } from './ground.ts'
import { mcpServer } from './server.ts'

const MESSAGE_BYTES_MAX = 8 << 20

/** Serves the bearer of `token` until the client closes its end. Fails if the token is no program's. */
export async function serveOverStdio(host: McpHost, token: string): Promise<void> {
  const underWay = new UnderWay()
  const rehearsals = underWay.over(host.rehearsals)
  const ground = new CallerGround({ ...host, rehearsals }, await bearer(host.home, token))
  const transport = new StdioServerTransport(process.stdin, process.stdout, {
    maxBufferSize: MESSAGE_BYTES_MAX,
  })
  const ended = new Promise<void>((resolve) => {
    const handle = serveStdio(() => mcpServer(ground), { transport })
    const stop = (): void => {
      handle.close().then(resolve, resolve)
    }
    process.stdin.once('end', stop).once('close', stop)
    host.stop.addEventListener('abort', stop, { once: true })
  })
  await ended
  await underWay.settled()
}

/** Acts that a client left behind end before the home is closed. */
class UnderWay {
  readonly #works = new Set<Promise<unknown>>()

  over(rehearsals: McpHost['rehearsals']): McpHost['rehearsals'] {
    return {
      pass: (work) => {
        const passed = rehearsals.pass(work)
        this.#works.add(passed)
        passed.then(
          () => this.#works.delete(passed),
          () => this.#works.delete(passed),
        )
        return passed
      },
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled([...this.#works])
  }
}

/** Answers one request of a caller; `body` is the parsed JSON. */
type McpDoor = (request: Request, caller: Caller, body: unknown) => Promise<Response>

export function mcpDoor(host: McpHost): McpDoor {
  return async (request, caller, body) => {
    const ground = new CallerGround(host, caller)
    const handler: McpHttpHandler = createMcpHandler(() => mcpServer(ground))
    return handler.fetch(request, body === undefined ? {} : { parsedBody: body })
  }
}
