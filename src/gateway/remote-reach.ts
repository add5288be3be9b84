/**
 * What the body of a call makes the provider of a model reach on the session's behalf: MCP servers, pages
 * that it fetches, pictures and files by their address. The provider is outside of writ's proxy, so each
 * host must be one that the session may reach itself.
 *
 * Not seen: what a tool of the provider looks for by words (`web_search`), and what runs in a container
 * of the provider.
 */

type Json = Readonly<Record<string, unknown>>

/** Returns why a call is refused; null if it reaches nothing else. */
export function reachRefusal(body: unknown, mayReach: (host: string) => boolean): string | null {
  for (const { what, address } of reachesOf(body)) {
    const host = address === null ? null : hostOf(address)
    if (host !== null && mayReach(host)) continue
    const where = host ?? 'hosts that cannot be known'
    return `the call makes the model's provider reach ${where} (${what}); a person can allow a host with \`writ run --net HOST\``
  }
  return null
}

interface Reach {
  readonly what: string
  /** Null if the body does not say where. */
  readonly address: string | null
}

function* reachesOf(body: unknown): Generator<Reach> {
  const whole = objectOf(body)
  for (const key of ['mcp_servers', 'mcpServers']) {
    for (const server of listOf(whole[key])) yield mcpReach(objectOf(server), key)
  }
  for (const tool of listOf(whole['tools'])) yield* toolReaches(objectOf(tool))
  for (const key of ['system', 'messages', 'input', 'contents', 'systemInstruction']) {
    yield* contentReaches(whole[key], 0)
  }
}

function mcpReach(server: Json, what: string): Reach {
  return { what, address: textOf(server['url'] ?? server['server_url']) }
}

/** Tools of the Messages, Responses and Gemini interfaces that the provider itself runs. */
function* toolReaches(tool: Json): Generator<Reach> {
  const type = textOf(tool['type']) ?? ''
  if (type === 'mcp' || tool['mcp_server'] !== undefined || tool['mcpServers'] !== undefined) {
    yield mcpReach(tool, 'a remote MCP tool')
  }
  if (type.startsWith('web_fetch')) {
    const domains = listOf(tool['allowed_domains'])
    if (domains.length === 0) yield { what: type, address: null }
    for (const domain of domains) yield { what: type, address: `https://${String(domain)}` }
  }
  for (const name of ['url_context', 'urlContext']) {
    if (tool[name] !== undefined) yield { what: name, address: null }
  }
}

/** Contents are nested a few levels: a message, its blocks, the blocks of a tool's result. */
const DEPTH_MAX = 6

function* contentReaches(value: unknown, depth: number): Generator<Reach> {
  if (typeof value !== 'object' || value === null) return
  // What is not looked at is not passed on.
  if (depth > DEPTH_MAX) return yield { what: 'contents nested deeper than known', address: null }
  if (Array.isArray(value)) {
    for (const one of value) yield* contentReaches(one, depth)
    return
  }
  const block = objectOf(value)
  const source = objectOf(block['source'])
  const file = objectOf(block['fileData'] ?? block['file_data'])
  const addresses = [
    source['type'] === 'url' ? source['url'] : undefined,
    textOf(block['image_url']) ?? objectOf(block['image_url'])['url'],
    block['file_url'],
    file['fileUri'] ?? file['file_uri'],
  ]
  for (const address of addresses) {
    if (typeof address !== 'string' || !/^\s*https?:/i.test(address)) continue
    yield { what: 'an address in a message', address }
  }
  for (const key of ['content', 'parts', 'output']) yield* contentReaches(block[key], depth + 1)
}

function hostOf(address: string): string | null {
  try {
    return new URL(address).host
  } catch {
    return null
  }
}

function objectOf(value: unknown): Json {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Json) : {} // An object has keys of text.
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
