/** The gateway, with a real server as the model. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GatewayBudget, type ModelPrice, NO_BUDGET, type SpentBudget } from './budget.ts'
import { ModelGateway } from './gateway.ts'

const KEY = 'sk-outside'
const PLACEHOLDER = 'placeholder'

let model: Server
let door: Server
let gateway: ModelGateway
/** What a person does about a budget that is used up; returns what the agent hears. */
let onSpent: (spent: SpentBudget) => Promise<string>
let seen: { url: string; headers: IncomingHttpHeaders; body: string }[]

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    // A server that listens on a port has such an address.
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

async function open(
  value: string | null,
  budget: Partial<GatewayBudget> = {},
  prices: readonly ModelPrice[] = [],
) {
  const port = await listen(model)
  gateway = new ModelGateway({
    endpoints: [
      {
        name: 'm',
        upstream: new URL(`http://127.0.0.1:${port}/base`),
        calls: [
          { method: 'POST', path: '/v1/messages' },
          { method: 'POST', path: '/v1/chat/completions' },
          { method: 'GET', path: '/v1/models/*' },
        ],
        key: { header: 'x-api-key', prefix: '', placeholder: PLACEHOLDER, name: 'A_KEY', value },
        isLogin: (credential) => credential === 'own-login',
      },
    ],
    budget: { ...NO_BUDGET, ...budget },
    prices,
    hosts: ['allowed.example'],
    onSpent: (spent) => onSpent(spent),
  })
  door = createServer((asked, answer) => gateway.serve('m', asked.url ?? '', asked, answer))
  return `http://127.0.0.1:${await listen(door)}`
}

beforeEach(() => {
  seen = []
  onSpent = async () => 'a person can give more'
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
    const url = await open(KEY, { requests: 1 })
    const order = { method: 'POST', body: '{}' }
    expect((await fetch(`${url}/v1/messages`, order)).status).toBe(200)
    const spent = await fetch(`${url}/v1/messages`, order)
    // Clients repeat what they get a 429 for.
    expect([spent.status, await spent.text()]).toEqual([
      403,
      expect.stringContaining('its 1 request to'),
    ])
    expect(seen).toHaveLength(1)
    gateway.allow({ ...NO_BUDGET, tokens: 30 })
    for (const status of [200, 403]) {
      const answer = await fetch(`${url}/v1/messages`, order)
      expect([answer.status, (await answer.text()).includes('30 of its 30 tokens')]).toEqual([
        status,
        status === 403,
      ])
    }
  })

  it('lets a request that found a budget used up pass once a person gave more', async () => {
    const url = await open(KEY, { requests: 1 })
    const spent: SpentBudget[] = []
    onSpent = async (one) => {
      spent.push(one)
      gateway.allow({ ...NO_BUDGET, requests: 2 })
      return 'not said'
    }
    const order = { method: 'POST', body: '{}' }
    for (const _ of [1, 2]) expect((await fetch(`${url}/v1/messages`, order)).status).toBe(200)
    expect(spent).toMatchObject([{ budget: 'requests' }])
    expect([seen.length, gateway.use.requests]).toEqual([2, 2])
  })

  it('counts what tokens cost, and ends with a budget of cost', async () => {
    const prices = [
      { model: 'small-*', input: 0.5, output: 2 },
      { model: '*', input: 100, output: 100 },
    ]
    const ask = (url: string, name: string) => {
      const body = JSON.stringify({ model: name })
      return fetch(`${url}/v1/messages`, { method: 'POST', body }).then(async (answer) => [
        answer.status,
        answer.status === 200 ? '' : await answer.text(),
      ])
    }
    const url = await open(KEY, { cost: 16 }, prices)
    // 10 tokens in and 5 out, by the first price that fits.
    expect(await ask(url, 'small-1')).toEqual([200, ''])
    expect(gateway.use).toMatchObject({ cost: 15, unpriced: 0 })
    expect(await ask(url, 'small-1')).toEqual([200, ''])
    const words = 'used 0.00003 of its cost of 0.000016'
    expect(await ask(url, 'small-1')).toEqual([403, expect.stringContaining(words)])
  })

  it('lets no model without a price pass where cost is bounded', async () => {
    const url = await open(KEY, { cost: 16 }, [{ model: 'small-*', input: 0.5, output: 2 }])
    const order = { method: 'POST', body: '{"model":"large"}' }
    const answer = await fetch(`${url}/v1/messages`, order)
    const without = 'no price for the model large'
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining(without)])
    expect([seen.length, gateway.use.requests]).toEqual([0, 0])
    gateway.allow(NO_BUDGET)
    expect((await fetch(`${url}/v1/messages`, order)).status).toBe(200)
    await expect.poll(() => gateway.use).toMatchObject({ cost: 0, unpriced: 1 })
  })

  it('counts what an answer said before the agent cut it', async () => {
    const url = await open(KEY)
    model.removeAllListeners('request')
    model.on('request', (asked, answer) => {
      asked.resume()
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      answer.write('data: {"message":{"usage":{"input_tokens":10,"output_tokens":1}}}\n\n')
    })
    const abort = new AbortController()
    const order = { method: 'POST', body: '{}', signal: abort.signal }
    const answer = await fetch(`${url}/v1/messages`, order)
    await answer.body?.getReader().read()
    abort.abort()
    await expect.poll(() => gateway.use).toMatchObject({ failures: 1, input: 10, output: 1 })
  })

  it('makes a streamed answer say what it used, where that is bounded', async () => {
    const body = JSON.stringify({ stream: true, stream_options: { x: 1 } })
    const ask = async (url: string) => {
      await fetch(`${url}/v1/chat/completions`, { method: 'POST', body })
      return JSON.parse(seen.at(-1)?.body ?? '').stream_options
    }
    const url = await open(KEY)
    expect(await ask(url)).toEqual({ x: 1 })
    gateway.allow({ ...NO_BUDGET, tokens: 99 })
    expect(await ask(url)).toEqual({ x: 1, include_usage: true })
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
