/** Participants elsewhere, as servers on the loopback that speak the protocols. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'

// biome-ignore lint/suspicious/noExplicitAny: what participants get is looked into by the tests
export type Asked = any

export interface Answered {
  readonly status?: number
  readonly body: unknown
}

export class Endpoint {
  readonly #server: Server
  readonly asked: Asked[] = []
  readonly headers: IncomingMessage['headers'][] = []

  constructor(serve: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#server = createServer(serve)
  }

  /** Answers each JSON document with another. */
  static json(answer: (asked: Asked, count: number) => Answered | Promise<Answered>): Endpoint {
    const endpoint: Endpoint = new Endpoint((request, response) => {
      void bodyOf(request).then(async (text) => {
        endpoint.headers.push(request.headers)
        endpoint.asked.push(JSON.parse(text))
        const { status = 200, body } = await answer(endpoint.asked.at(-1), endpoint.asked.length)
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
      })
    })
    return endpoint
  }

  /** An MCP server with one tool, over streamable HTTP. */
  static mcp(answer: (asked: Asked) => unknown): Endpoint {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'worker', version: '1' })
      server.registerTool(
        'work',
        { description: 'works', inputSchema: fromJsonSchema({ type: 'object' }) },
        async (asked: Asked) => {
          endpoint.asked.push(asked)
          return { content: [{ type: 'text', text: JSON.stringify(answer(asked)) }] }
        },
      )
      return server
    })
    const endpoint: Endpoint = new Endpoint((request, response) => {
      void bodyOf(request).then(async (text) => {
        const headers = new Headers(request.headers as Record<string, string>)
        const asked = new Request(`http://127.0.0.1${request.url ?? '/'}`, {
          method: request.method ?? 'GET',
          headers,
          ...(text === '' ? {} : { body: text }),
        })
        const answered = await handler.fetch(asked)
        response.writeHead(answered.status, Object.fromEntries(answered.headers))
        response.end(await answered.text())
      })
    })
    return endpoint
  }

  /** The address, once it listens. */
  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
