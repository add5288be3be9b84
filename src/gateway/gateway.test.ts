/** The gateway, with a real server as the model. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ModelGateway } from './gateway.ts'

const KEY = 'sk-outside'
const PLACEHOLDER = 'placeholder'

let model: Server
let door: Server
let gateway: ModelGateway
let seen: { url: string; headers: IncomingHttpHeaders; body: string }[]

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    // A server that listens on a port has such an address.
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

async function open(value: string | null, budget = { requests: null, tokens: null } as never) {
  const port = await listen(model)
  gateway = new ModelGateway(
    [
      {
        name: 'm',
        upstream: new URL(`http://127.0.0.1:${port}/base`),
        calls: [
          { method: 'POST', path: '/v1/messages' },
          { method: 'GET', path: '/v1/models/*' },
        ],
        key: { header: 'x-api-key', prefix: '', placeholder: PLACEHOLDER, name: 'A_KEY', value },
        isLogin: (credential) => credential === 'own-login',
      },
    ],
    budget,
    undefined,
    ['allowed.example'],
  )
  door = createServer((asked, answer) => gateway.serve('m', asked.url ?? '', asked, answer))
  return `http://127.0.0.1:${await listen(door)}`
}

beforeEach(() => {
  seen = []
  model = createServer((asked, answer) => {
    let body = ''
    asked.on('data', (chunk) => {
      body += chunk
    })
    asked.on('end', () => {
      seen.push({ url: asked.url ?? '', headers: asked.headers, body })
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      answer.write('data: {"message":{"usage":{"input_tokens":10,"output_tokens":1}}}\n\n')
      answer.end('data: {"usage":{"output_tokens":5}}\n\n')
    })
  })
})
afterEach(() => {
  door.closeAllConnections()
  door.close()
  model.close()
})

describe('a gateway', () => {
  it('puts the key in place of the placeholder, outside', async () => {
    const url = await open(KEY)
    const answer = await fetch(`${url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'x-api-key': PLACEHOLDER, 'anthropic-version': 'v' },
      body: '{"q":1}',
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('usage')])
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({
      url: '/base/v1/messages?beta=true',
      body: '{"q":1}',
      headers: { 'x-api-key': KEY, 'anthropic-version': 'v' },
    })
    expect(gateway.use).toMatchObject({ requests: 1, failures: 0, input: 10, output: 5 })
  })

  it('refuses other credentials, other calls and a missing key', async () => {
    const url = await open(KEY)
    const post = { method: 'POST', body: '{}' }
    const foreign = [
      { authorization: 'Bearer theirs' },
      { 'x-api-key': 'theirs' },
      { cookie: 'session=theirs' },
    ]
    for (const headers of foreign) {
      const answer = await fetch(`${url}/v1/messages`, { ...post, headers })
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('key')])
    }
    expect((await fetch(`${url}/v1/messages?key=theirs`, post)).status).toBe(403)
    for (const path of ['/v1/files', '/v1/messages/batches', '/v1/models/a/b', '/v1/../v1/files']) {
      expect((await fetch(`${url}${path}`, post)).status).toBe(403)
    }
    expect(seen).toEqual([])
  })

  it('refuses paths and drops headers that mean another call', async () => {
    const url = await open(KEY)
    for (const path of [
      '/v1/models/..%2ffiles',
      '/v1/models/%2e%2e%5cfiles',
      '/v1/models/a%252fb',
    ]) {
      expect((await fetch(`${url}${path}`)).status).toBe(403)
    }
    const headers = { 'x-http-method-override': 'DELETE', 'x-forwarded-host': 'evil', 'x-a': 'b' }
    expect((await fetch(`${url}/v1/models/m`, { headers })).status).toBe(200)
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain('x-http-method-override')
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain('x-forwarded-host')
    expect(seen).toMatchObject([{ headers: { 'x-a': 'b' } }])
  })

  it('refuses bodies that make the provider reach hosts of their own', async () => {
    const url = await open(KEY)
    const post = async (body: string, headers = {}) => {
      const answer = await fetch(`${url}/v1/messages`, { method: 'POST', body, headers })
      return [answer.status, answer.status === 200 ? '' : await answer.text()]
    }
    const image = { type: 'image', source: { type: 'url', url: 'https://evil.example/?q=tree' } }
    const refused = [
      { mcp_servers: [{ type: 'url', url: 'https://evil.example' }] },
      { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
      { tools: [{ type: 'mcp', server_url: 'https://evil.example/sse' }] },
      { tools: [{ urlContext: {} }] },
      { messages: [{ role: 'user', content: [{ type: 'tool_result', content: [image] }] }] },
      { messages: [{ role: 'user', content: nested(image, 9) }] },
    ].map((body) => JSON.stringify(body))
    // The second of two equal keys counts, here and there.
    const twice = '{"mcp_servers":[{"url":"https://evil.example"}],"mcp_servers":[]}'
    for (const body of refused) {
      expect(await post(body)).toEqual([403, expect.stringContaining('--net HOST')])
    }
    for (const body of ['x', '{"a":NaN}']) {
      expect(await post(body)).toEqual([403, expect.stringContaining('no JSON')])
    }
    expect((await post('{}', { 'content-encoding': 'zstd' }))[0]).toBe(403)
    expect([seen, gateway.use.requests]).toEqual([[], 0])
    expect(await post(twice)).toEqual([200, ''])
    const fine = {
      mcp_servers: [{ url: 'https://allowed.example/x' }],
      tools: [{ type: 'custom' }],
    }
    expect(await post(JSON.stringify(fine))).toEqual([200, ''])
    expect(seen.map(({ body }) => body)).toEqual(['{"mcp_servers":[]}', JSON.stringify(fine)])
  })

  it('names the command that keeps a key, and passes the login of the agent', async () => {
    const url = await open(null)
    const without = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}' })
    expect([without.status, await without.text()]).toEqual([
      401,
      expect.stringContaining('writ secret set A_KEY'),
    ])
    const headers = { authorization: 'Bearer own-login' }
    const own = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}', headers })
    expect(own.status).toBe(200)
    expect(seen[0]?.headers.authorization).toBe('Bearer own-login')
  })

  it('ends with its budget', async () => {
    const url = await open(KEY, { requests: 1, tokens: null } as never)
    const order = { method: 'POST', body: '{}' }
    expect((await fetch(`${url}/v1/messages`, order)).status).toBe(200)
    const spent = await fetch(`${url}/v1/messages`, order)
    // Clients repeat what they get a 429 for.
    expect([spent.status, await spent.text()]).toEqual([403, expect.stringContaining('1 requests')])
    expect(seen).toHaveLength(1)
    gateway.allow({ requests: null, tokens: 30 })
    for (const status of [200, 403]) {
      const answer = await fetch(`${url}/v1/messages`, order)
      expect([answer.status, (await answer.text()).includes('30 of its 30 tokens')]).toEqual([
        status,
        status === 403,
      ])
    }
  })

  it('says that the model cannot be reached', async () => {
    const url = await open(KEY)
    await new Promise((resolve) => model.close(resolve))
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}' })
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('reached')])
    expect(gateway.use.failures).toBe(1)
  })
})

/** Deeper than any interface of a model has it. */
function nested(block: unknown, levels: number): unknown {
  return levels === 0 ? block : { type: 'tool_result', content: nested(block, levels - 1) }
}
