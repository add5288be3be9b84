/** A home that MCP clients use: official clients over `writ mcp` and over `writ serve`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Json } from '../cli-gate/place.ts'
import { ServicePlace } from '../server/service-place.ts'

/** The two generations that a server has to speak. */
export const GENERATIONS = ['legacy', 'auto'] as const
export type Generation = (typeof GENERATIONS)[number]

type Opener = (url: string) => { readonly action: 'accept' | 'cancel' }

export class McpPlace extends ServicePlace {
  readonly clients: Client[] = []

  /** `opens`: what the client does with an address that a person should open. */
  async stdio(
    token: string,
    generation: Generation = 'auto',
    options: readonly string[] = [],
    opens?: Opener,
  ) {
    const [command, ...args] = this.argv(['mcp', ...options])
    // The environment of a place is made of texts.
    const env = this.env({ token }) as Record<string, string>
    const transport = new StdioClientTransport({ command, args, env, cwd: this.project })
    return this.#connect(transport, generation, opens)
  }

  async http(token: string, generation: Generation = 'auto') {
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', this.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    })
    return this.#connect(transport, generation)
  }

  async #connect(
    transport: Parameters<Client['connect']>[0],
    mode: Generation,
    opens?: Opener,
  ): Promise<Client> {
    const capabilities = opens === undefined ? {} : { elicitation: { url: {} } }
    const versionNegotiation = { mode }
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation, capabilities })
    if (opens !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }: Json) => opens(params.url))
    }
    await client.connect(transport)
    this.clients.push(client)
    return client
  }

  async leave(): Promise<void> {
    for (const client of this.clients) await client.close().catch(() => undefined)
    await this.end()
    this.remove()
  }
}

/** Calls a tool; the answer is its structured content, or the text of its refusal. */
export async function call(client: Client, name: string, args: Json = {}): Promise<Json> {
  const answer: Json = await client.callTool({ name, arguments: args })
  if (answer.isError === true) return { refused: answer.content[0].text }
  return answer.structuredContent
}

export async function read(client: Client, uri: string): Promise<Json> {
  const { contents }: Json = await client.readResource({ uri })
  return JSON.parse(contents[0].text)
}
