/**
 * A tool of an MCP server: the document is its arguments, the answer is its structured result or its
 * text. Over streamable HTTP, or over standard input and output of a command. A command runs in the
 * attempt's sandbox: its descriptor 3 carries what would be its standard input and output.
 */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { canonicalJson, DOCUMENT_LIMITS, readJson } from '../../base/index.ts'
import { twiceIn } from '../../flow/index.ts'
import { isAddress } from '../programs/participant-command.ts'
import { Declined, heard, InvalidAnswer, LineFailure, withDeadline } from './line.ts'
import { SandboxTransport } from './mcp-sandbox.ts'
import { notedMessages } from './noted-messages.ts'
import { isObject, type ParticipantRequest, type Said } from './participant-request.ts'
import { patientFetch } from './patient-fetch.ts'
import { converse } from './tool-calls.ts'

export function callTool(asking: ParticipantRequest): Promise<Said> {
  return heard(async () => {
    const messages = new Messages()
    const text = await withDeadline(asking, (signal, extend) =>
      session(asking, signal, messages, (client) =>
        answerOf(asking, client, messages, signal, extend),
      ),
    )
    return { text, tokens: 0 }
  })
}

/** The protocol's own limit never holds: the node's time does, and progress begins it again. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1

function answerOf(
  asking: ParticipantRequest,
  client: Client,
  messages: Messages,
  signal: AbortSignal,
  extend: () => void,
): Promise<string> {
  const name = 'tool' in asking.participant ? asking.participant.tool : ''
  const options = { signal, timeout: TIMEOUT_MS_MAX, onprogress: extend }
  return converse(asking, async (document) => {
    const result = await client.callTool({ name, arguments: { ...document } }, options)
    messages.refuseTwice()
    return textOf(result)
  })
}

/** The messages of a server as they came: a name that is twice in one object is lost when they are parsed. */
class Messages {
  #twice: { readonly text: string; readonly why: string } | null = null

  readonly note = (text: string): void => {
    const why = twiceIn(text)
    if (why !== null) this.#twice ??= { text, why }
  }

  /** Fails if a message had a name twice in one object. */
  refuseTwice(): void {
    if (this.#twice !== null) throw new InvalidAnswer(this.#twice.why, this.#twice.text)
  }
}

/** The names of the tools that a server has. */
export function toolsOf(asking: ParticipantRequest): Promise<readonly string[]> {
  return withDeadline(asking, (signal) =>
    session(asking, signal, new Messages(), async (client) => {
      const { tools } = await client.listTools({}, { signal, timeout: TIMEOUT_MS_MAX })
      return tools.map(({ name }) => name)
    }),
  )
}

async function session<T>(
  asking: ParticipantRequest,
  signal: AbortSignal,
  messages: Messages,
  talk: (client: Client) => Promise<T>,
): Promise<T> {
  await asking.refuseHalted()
  const transport = transportOf(asking, messages)
  const client = new Client({ name: 'writ', version: '1' })
  try {
    await client.connect(transport, { signal, timeout: TIMEOUT_MS_MAX })
    return await talk(client)
  } catch (error) {
    if (error instanceof InvalidAnswer) throw error
    // A program that ends by itself is no failure of the line.
    const ended = transport instanceof SandboxTransport ? transport.failure : null
    if (ended !== null) throw new Declined(`the server ended: ${ended}`)
    throw isPermanent(error) ? new Declined((error as Error).message) : error
  } finally {
    await client.close().catch(() => {})
  }
}

function transportOf(asking: ParticipantRequest, { note }: Messages): Transport {
  const { participant, secrets } = asking
  const server = 'mcp' in participant ? participant.mcp : ''
  if (typeof server !== 'string') return new SandboxTransport(asking, server, note)
  if (!isAddress(server)) return new SandboxTransport(asking, server.split(/\s+/), note)
  const [token] = Object.values(secrets)
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new StreamableHTTPClientTransport(new URL(server), {
    fetch: async (to, init) => notedMessages(await patientFetch(to, init), note),
    requestInit: { headers },
  })
}

/**
 * Returns the answer in a result: its structured part, behind texts that say something else. A text that is
 * the structured part once more, as servers send it for older clients, is left out.
 */
function textOf(result: unknown): string {
  // The client has checked that the result is an object; each field may be absent.
  const { isError, structuredContent, content } = result as {
    readonly isError?: boolean
    readonly structuredContent?: unknown
    readonly content?: unknown
  }
  const parts = Array.isArray(content) ? content : []
  const texts = parts.map((part: unknown) =>
    isObject(part) && part['type'] === 'text' ? String(part['text']) : '',
  )
  if (isError === true) throw new Declined(texts.join('\n').slice(0, 500))
  if (!isObject(structuredContent)) return texts.join('\n')
  const structured = JSON.stringify(structuredContent)
  const others = texts.filter((text) => text.trim() !== '' && !isSameJson(text, structured))
  return [...others, structured].join('\n')
}

function isSameJson(text: string, other: string): boolean {
  const [one, two] = [readJson(text, DOCUMENT_LIMITS), readJson(other, DOCUMENT_LIMITS)]
  return one.ok && two.ok && canonicalJson(one.value) === canonicalJson(two.value)
}

/** The server is there and says no: an unknown tool, wrong arguments. */
function isPermanent(error: unknown): boolean {
  if (error instanceof LineFailure || error instanceof Declined) return false
  const { code } = error as { readonly code?: unknown }
  return code === METHOD_NOT_FOUND || code === INVALID_PARAMS
}

const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
