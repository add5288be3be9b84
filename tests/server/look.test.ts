/** What the service shows of itself (H-7), what it never shows, and a client that is driven by its description. */
import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/api/index.ts'
import type { Json } from '../cli-gate/place.ts'
import { judgeTraces } from '../export/schemas.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

let place: ServicePlace
let receiver: Server
let bot: string
let ann: string
let asBot: Client
const received: Json[] = []

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      received.push({ path: request.url, headers: request.headers, body: JSON.parse(text) })
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  place = new ServicePlace('look')
  place.variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=CANARY-otlp-key',
  }
  bot = place.tokenOf('ai:bot@local')
  ann = place.tokenOf('human:ann@local')
  await place.serve()
  asBot = place.client(bot)
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
  receiver.close()
})

async function metrics(): Promise<string> {
  const { text } = await place.raw({
    path: '/metrics',
    headers: { authorization: `Bearer ${bot}` },
  })
  return text
}

/** Everything that left the service towards those who watch it. */
async function watched(): Promise<string> {
  await pause(1_500)
  const traces = received.map(({ body }) => body)
  return `${place.errors}\n${await metrics()}\n${JSON.stringify(traces)}`
}

describe('an action', () => {
  it('is counted, logged, and one trace with a span for each step', async () => {
    const body = place.proposal('seen.txt', 'CANARY-content')
    await asBot.proposeAction({ query: {}, body, wait: 60 } as Json)
    const text = await watched()
    expect(text).toContain('writ_actions_total{outcome="promoted"} 1')
    expect(text).toMatch(/writ_requests_total\{route="proposeAction",status="200"\} 1/)
    expect(text).toMatch(/writ_facts [1-9]/)
    expect(place.errors).toMatch(
      /"event":"request","route":"proposeAction","method":"POST","status":200/,
    )
    const [{ path, headers, body: sent }] = received
    expect([path, headers['x-key']]).toEqual(['/v1/traces', 'CANARY-otlp-key'])
    expect(judgeTraces(sent)).toBe(null)
    const { spans } = sent.resourceSpans[0].scopeSpans[0]
    expect(spans.map(({ name }: Json) => name)).toEqual(['action', 'rehearse', 'decide', 'promote'])
    const [root, ...steps] = spans
    expect(new Set(spans.map(({ traceId }: Json) => traceId)).size).toBe(1)
    for (const span of spans) {
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true)
    }
    for (const step of steps) expect(step.parentSpanId).toBe(root.spanId)
    expect(JSON.stringify(root.attributes)).toContain(body.descriptor.action_id)
  }, 120_000)

  it('has labels of routes and statuses alone, also after strange requests', async () => {
    for (let at = 0; at < 5; at++) await place.raw({ path: `/v1/nothing-${at}` })
    const text = await metrics()
    expect(text).toMatch(/writ_requests_total\{route="none",status="404"\} 5/)
    expect(text).not.toContain('nothing-')
    expect(text).not.toMatch(/main|bot@|act-/)
  })

  it('is not counted for callers of one stream (L-7)', async () => {
    const guest = place.tokenOf('script:guest@local', '--stream', 'guest')
    const { json } = await place.raw({
      path: '/metrics',
      headers: { authorization: `Bearer ${guest}` },
    })
    expect(json.code).toBe('principal.scope')
    expect((await place.raw({ path: '/metrics' })).status).toBe(401)
  }, 60_000)
})

describe('secrets', () => {
  it('of callers are in no log, trace, count, problem, event or answer', async () => {
    const key = 'CANARY-idempotency'
    const guess = 'CANARY wrong passphrase here'
    const answers: string[] = []
    const ask = async (method: string, path: string, body?: Json, headers: Json = {}) => {
      const { text } = await place.raw({
        method,
        path,
        headers: {
          authorization: `Bearer ${ann}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      answers.push(text)
    }
    const proof = { passphrase: PASSPHRASE }
    const wrong = { passphrase: guess }
    await ask('POST', '/v1/resume', { proof: wrong })
    await ask('POST', '/v1/resume', { proof, extra: 1 })
    await ask(
      'POST',
      '/v1/principals',
      { principal: 'ai:kept@local', proof },
      { 'idempotency-key': key },
    )
    await ask('POST', '/v1/laws/accept', { digest: `sha256:${'0'.repeat(64)}`, proof })
    await ask('POST', '/v1/halt', `{"proof": "${guess}`)
    await ask('GET', `/v1/streams?token=${bot}`)
    await ask('GET', `/v1/actions/${encodeURIComponent('CANARY id')}`)
    await ask('GET', '/v1/streams', undefined, { authorization: 'Bearer CANARY-guessed-token' })
    await ask('GET', '/v1/streams', undefined, { authorization: `Basic CANARY ${PASSPHRASE}` })
    await ask('GET', '/v1/streams', undefined, { cookie: 'session=CANARY-cookie' })
    const body = place.proposal('.env', 'API_KEY=CANARY-file')
    await asBot.proposeAction({ query: {}, body, wait: 60 } as Json)
    await ask('GET', '/v1/streams/main/facts?limit=200')
    await ask('GET', '/v1/streams/host/facts?limit=200')
    await ask('GET', '/v1/tokens')
    const text = await watched()
    for (const secret of [PASSPHRASE, guess, bot, ann, key, 'CANARY']) {
      expect(text.includes(secret), `${secret} was seen by those who watch`).toBe(false)
    }
    const said = answers.join('\n')
    for (const secret of [PASSPHRASE, guess, bot, ann, key, 'CANARY-guessed', 'CANARY-cookie']) {
      expect(said.includes(secret), `${secret} was answered`).toBe(false)
    }
  }, 180_000)
})

describe('a program with the standard library of Python alone', () => {
  it('is driven by the description: proposes, waits for the event, checks the proof', async () => {
    const [key] = place
      .writ(['ledger', 'key', '--json'])
      .json.keys.filter((one: string) => one.includes('/main+'))
    const child = spawn('python3', [join('tests', 'server', 'driven.py')])
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    const target = join(place.project, 'from-python.txt')
    child.stdin.end(JSON.stringify({ url: place.url, token: bot, key, target }))
    const status = await new Promise((resolve) => child.once('exit', resolve))
    expect([status, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toMatchObject({ status: 'promoted', proved: true })
    expect(place.has('from-python.txt')).toBe(true)
  }, 180_000)
})
