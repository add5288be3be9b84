/**
 * Hostile clients: each attempt with the answer that is right for it. Requests are bytes on a socket, so
 * that no library puts them right. After all of them the service answers as before.
 *
 * An attempt that is answered with 200 gains nothing: the body of a GET is read to its end and dropped,
 * an upgrade that is not offered is ignored (RFC 9110, 7.8), as are forwarded names, and a wait is cut to
 * 60 seconds. A request without a host is refused by Node with a bare 400, as RFC 9112 wants; an address
 * that is too long is part of a head that is too large, which is 413 here.
 */
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

let place: ServicePlace
let bot: string
let ann: string
/** Takes half a minute, so it is begun before all others. */
let slowBody: Promise<string>

beforeAll(async () => {
  place = new ServicePlace('hostile')
  bot = place.tokenOf('ai:bot@local')
  ann = place.tokenOf('human:ann@local')
  await place.serve()
  slowBody = drip(bytesOf({ headers: SLOW_HEAD, body: '{' }), ' ')
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
})

/** Sends bytes and returns everything that comes back until the other side closes or is silent. */
function exchange(bytes: string, quietMs = 1_500): Promise<string> {
  const { hostname, port } = new URL(place.url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let text = ''
    const end = (): void => {
      socket.destroy()
      resolve(text)
    }
    let timer = setTimeout(end, 15_000)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      clearTimeout(timer)
      timer = setTimeout(end, quietMs)
    })
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
    socket.on('error', () => undefined)
  })
}

/** Sends bytes, then a piece every second until the other side closes; returns what it said. */
function drip(first: string, piece: string): Promise<string> {
  const { hostname, port } = new URL(place.url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(first))
    let said = ''
    const dripping = setInterval(() => socket.write(piece), 1_000)
    socket.on('data', (chunk) => {
      said += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(dripping)
      resolve(said)
    })
  })
}

/** Statuses of the answers, and the code of the last problem. */
function summary(text: string): string {
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status)
  const code = [...text.matchAll(/"code":"([a-z_.]+)"/g)].at(-1)?.[1]
  return [...statuses, ...(code === undefined ? [] : [code])].join(' ') || 'closed'
}

const BODY = '{"document":{}}'
const host = (): string => new URL(place.url).host

interface Attempt {
  readonly line?: string
  readonly headers?: readonly string[]
  readonly body?: string
  readonly who?: 'bot' | 'ann' | 'none'
}

function bytesOf({
  line = 'POST /v1/documents/check HTTP/1.1',
  headers,
  body = BODY,
  who = 'bot',
}: Attempt) {
  const own = headers ?? [
    'Host: {host}',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  const token = who === 'none' ? [] : [`Authorization: Bearer ${who === 'bot' ? bot : ann}`]
  const head = [
    line,
    ...own.map((one) => one.replace('{host}', host())),
    ...token,
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

const JSON_TYPE = 'Content-Type: application/json'
const HOST = 'Host: {host}'
const get = (path: string, ...headers: string[]): Attempt => ({
  line: `GET ${path} HTTP/1.1`,
  headers: [HOST, ...headers],
  body: '',
})
const post = (path: string, body: string, ...headers: string[]): Attempt => ({
  line: `POST ${path} HTTP/1.1`,
  headers: [HOST, JSON_TYPE, `Content-Length: ${Buffer.byteLength(body)}`, ...headers],
  body,
})
const SLOW_HEAD = [HOST, JSON_TYPE, 'Content-Length: 100000']
const SMUGGLED = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
const deep = (open: string, close: string, depth: number): string =>
  `{"document":${open.repeat(depth)}1${close.repeat(depth)}}`

const ATTEMPTS: readonly (readonly [string, Attempt, string])[] = [
  // Smuggling.
  [
    'both lengths',
    {
      headers: [HOST, JSON_TYPE, 'Content-Length: 15', 'Transfer-Encoding: chunked'],
      body: '0\r\n\r\n',
    },
    '400 api.malformed',
  ],
  [
    'two lengths',
    { headers: [HOST, JSON_TYPE, 'Content-Length: 15', 'Content-Length: 3'] },
    '400 api.malformed',
  ],
  [
    'a list of lengths',
    { headers: [HOST, JSON_TYPE, 'Content-Length: 15, 15'] },
    '400 api.malformed',
  ],
  ['a negative length', { headers: [HOST, JSON_TYPE, 'Content-Length: -1'] }, '400 api.malformed'],
  [
    'a length with a sign',
    { headers: [HOST, JSON_TYPE, 'Content-Length: +15'] },
    '400 api.malformed',
  ],
  ['a length in hex', { headers: [HOST, JSON_TYPE, 'Content-Length: 0xf'] }, '400 api.malformed'],
  [
    'a coding that hides',
    { headers: [HOST, JSON_TYPE, 'Transfer-Encoding: xchunked'] },
    '400 api.malformed',
  ],
  [
    'a coding twice',
    {
      headers: [HOST, JSON_TYPE, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
      body: '0\r\n\r\n',
    },
    '400 api.malformed',
  ],
  [
    'a header that folds',
    { headers: [HOST, JSON_TYPE, 'Content-Length:\r\n 15'] },
    '400 api.malformed',
  ],
  [
    'a space before the colon',
    { headers: [HOST, JSON_TYPE, 'Content-Length : 15'] },
    '400 api.malformed',
  ],
  [
    'a bare line feed',
    { line: 'GET /healthz HTTP/1.1\nX: y', headers: [HOST], body: '' },
    '400 api.malformed',
  ],
  [
    'a chunk size that overflows',
    { headers: [HOST, JSON_TYPE, 'Transfer-Encoding: chunked'], body: 'fffffffffffffffff\r\n' },
    '400 api.malformed',
  ],
  [
    'a request behind a body',
    { body: `${BODY}${SMUGGLED}`, headers: [HOST, JSON_TYPE, 'Content-Length: 15'] },
    '400 api.malformed',
  ],
  [
    'a request in a GET',
    {
      line: 'GET /healthz HTTP/1.1',
      headers: [HOST, `Content-Length: ${SMUGGLED.length}`],
      body: SMUGGLED,
    },
    '200',
  ],
  [
    'a NUL in a header',
    { headers: [HOST, 'X: a\0b'], line: 'GET /healthz HTTP/1.1', body: '' },
    '400 api.malformed',
  ],
  [
    'another version',
    { line: 'GET /healthz HTTP/3.0', headers: [HOST], body: '' },
    '400 api.malformed',
  ],
  ['no version', { line: 'GET /healthz', headers: [], body: '' }, '403 api.host'],
  [
    'TLS on a plain port',
    { line: '\x16\x03\x01\x02\x00\x01', headers: [], body: '' },
    '400 api.malformed',
  ],
  ['an upgrade', get('/healthz', 'Upgrade: h2c', 'Connection: Upgrade'), '200'],
  ['CONNECT', { line: 'CONNECT evil.example:443 HTTP/1.1', headers: [HOST], body: '' }, 'closed'],
  ['TRACE', { line: 'TRACE /healthz HTTP/1.1', headers: [HOST], body: '' }, '404 api.no_route'],
  [
    'an unknown method',
    { line: 'SPEAK /healthz HTTP/1.1', headers: [HOST], body: '' },
    '400 api.malformed',
  ],
  [
    'OPTIONS of another page',
    {
      line: 'OPTIONS /v1/actions HTTP/1.1',
      headers: [HOST, 'Origin: https://evil.example', 'Access-Control-Request-Method: POST'],
      body: '',
    },
    '403 api.origin',
  ],
  // Names: rebinding, cross-site requests.
  [
    'no host',
    get('/healthz').line === undefined
      ? {}
      : { line: 'GET /healthz HTTP/1.1', headers: [], body: '' },
    '400',
  ],
  [
    'a rebound name',
    { line: 'GET /healthz HTTP/1.1', headers: ['Host: evil.example'], body: '' },
    '403 api.host',
  ],
  [
    'a rebound name with our port',
    { line: 'GET /healthz HTTP/1.1', headers: ['Host: evil.example:4180'], body: '' },
    '403 api.host',
  ],
  [
    'our name with a tail',
    { line: 'GET /healthz HTTP/1.1', headers: ['Host: localhost.evil.example'], body: '' },
    '403 api.host',
  ],
  [
    'two hosts',
    { line: 'GET /healthz HTTP/1.1', headers: [HOST, 'Host: evil.example'], body: '' },
    '400 api.malformed',
  ],
  [
    'the host in the address',
    { line: 'GET http://evil.example/healthz HTTP/1.1', headers: [HOST], body: '' },
    '400 api.malformed',
  ],
  ['a forwarded host', get('/healthz', 'X-Forwarded-Host: evil.example'), '200'],
  [
    'a page of another origin',
    get('/v1/streams', 'Origin: https://evil.example'),
    '403 api.origin',
  ],
  ['a page of no origin', get('/v1/streams', 'Origin: null'), '403 api.origin'],
  [
    'a form of another page',
    { headers: [HOST, 'Content-Type: application/x-www-form-urlencoded', 'Content-Length: 15'] },
    '415 api.media',
  ],
  [
    'a form that looks like text',
    { headers: [HOST, 'Content-Type: text/plain', 'Content-Length: 15'] },
    '415 api.media',
  ],
  [
    'parts',
    { headers: [HOST, 'Content-Type: multipart/form-data; boundary=x', 'Content-Length: 15'] },
    '415 api.media',
  ],
  [
    'JSON with a tail in its type',
    { headers: [HOST, 'Content-Type: application/jsonp', 'Content-Length: 15'] },
    '415 api.media',
  ],
  [
    'JSON in UTF-16',
    { headers: [HOST, 'Content-Type: application/json; charset=utf-16', 'Content-Length: 15'] },
    '415 api.media',
  ],
  ['no type', { headers: [HOST, 'Content-Length: 15'] }, '415 api.media'],
  [
    'a packed body',
    { headers: [HOST, JSON_TYPE, 'Content-Encoding: gzip', 'Content-Length: 15'] },
    '415 api.media',
  ],
  // Bodies.
  ['no body', post('/v1/documents/check', ''), '400 document.not_json'],
  ['a body that is cut', post('/v1/documents/check', '{"document":'), '400 document.not_json'],
  [
    'a key twice',
    post('/v1/documents/check', '{"document":1,"document":2}'),
    '400 document.duplicate_key',
  ],
  [
    'a key of the language',
    post('/v1/documents/check', '{"__proto__":{"a":1},"document":1}'),
    '400 api.unknown_key',
  ],
  [
    'a constructor',
    post('/v1/documents/check', '{"constructor":{"prototype":{"a":1}},"document":1}'),
    '400 api.unknown_key',
  ],
  [
    'a key too many',
    post('/v1/documents/check', '{"document":1,"as_root":true}'),
    '400 api.unknown_key',
  ],
  [
    'a number that is none',
    post('/v1/documents/check', '{"document":NaN}'),
    '400 document.not_json',
  ],
  [
    'a number without end',
    post('/v1/documents/check', '{"document":1e999}'),
    '400 document.bad_number',
  ],
  [
    'half a surrogate',
    post('/v1/documents/check', '{"document":"\\ud800"}'),
    '400 document.lone_surrogate',
  ],
  ['a mark of order', post('/v1/documents/check', '\ufeff{"document":1}'), '400 document.not_json'],
  [
    'ten thousand lists',
    post('/v1/documents/check', deep('[', ']', 10_000)),
    '400 document.too_deep',
  ],
  [
    'ten thousand objects',
    post('/v1/documents/check', deep('{"a":', '}', 10_000)),
    '400 document.too_deep',
  ],
  [
    'five megabytes',
    { headers: [HOST, JSON_TYPE, 'Content-Length: 5242880'], body: '"' },
    '413 api.too_large',
  ],
  [
    'a body of a GET',
    {
      line: 'GET /v1/streams HTTP/1.1',
      headers: [HOST, JSON_TYPE, 'Content-Length: 2'],
      body: '{}',
    },
    '200',
  ],
  // Paths.
  ['a path that climbs', get('/v1/../../etc/passwd'), '404 api.no_route'],
  ['a path that climbs in disguise', get('/v1/%2e%2e/%2e%2e/etc/passwd'), '404 api.no_route'],
  ['a tile that climbs', get('/v1/streams/main/tile/../../../host/facts'), '404 history.unknown'],
  [
    'a tile that climbs in disguise',
    get('/v1/streams/main/tile/..%2f..%2fetc'),
    '404 history.unknown',
  ],
  ['a NUL in the path', get('/v1/streams/main%00/facts'), '400 api.field_type'],
  ['a path that is no text', get('/v1/streams/%ff%fe/facts'), '400 api.malformed'],
  ['half an escape', get('/v1/streams/%e/facts'), '400 api.malformed'],
  ['two slashes', get('//v1/streams'), '404 api.no_route'],
  ['another case', get('/V1/STREAMS'), '404 api.no_route'],
  ['a slash behind', get('/v1/streams/'), '404 api.no_route'],
  ['a stream with a quote', get("/v1/streams/main'--/facts"), '400 api.field_type'],
  ['a long parameter', get(`/v1/actions/${'a'.repeat(600)}`), '400 api.malformed'],
  ['a long address', get(`/v1/streams?x=${'a'.repeat(20_000)}`), '413 api.too_large'],
  ['a name twice in the query', get('/v1/actions?limit=1&limit=2'), '400 api.field_type'],
  ['a limit below zero', get('/v1/actions?limit=-1'), '400 api.field_type'],
  ['a limit without end', get('/v1/actions?limit=99999999999999999999'), '400 api.field_type'],
  ['a key of the language in the query', get('/v1/actions?__proto__=1'), '400 api.unknown_key'],
  // Who.
  ['no token', { ...get('/v1/streams'), who: 'none' }, '401 api.no_token'],
  [
    'an empty token',
    { ...get('/v1/streams', 'Authorization: Bearer '), who: 'none' },
    '401 principal.token',
  ],
  [
    'another scheme',
    { ...get('/v1/streams', 'Authorization: Basic eDp5'), who: 'none' },
    '401 principal.token',
  ],
  [
    'a guessed token',
    { ...get('/v1/streams', 'Authorization: Bearer writ_guess'), who: 'none' },
    '401 principal.token',
  ],
  [
    'a token in the query',
    { ...get('/v1/streams?access_token=x'), who: 'none' },
    '401 api.no_token',
  ],
  [
    'a token in a cookie',
    { ...get('/v1/streams', 'Cookie: token=x'), who: 'none' },
    '401 api.no_token',
  ],
  ['two tokens', get('/v1/streams', 'Authorization: Bearer writ_guess'), '400 api.malformed'],
  [
    'a header that claims a person',
    { ...post('/v1/resume', '{}', 'X-Writ-Principal: human:ann@local'), who: 'bot' },
    '403 principal.not_human',
  ],
  [
    'a method in a header',
    { ...post('/v1/streams', '{}', 'X-HTTP-Method-Override: GET'), who: 'bot' },
    '404 api.no_route',
  ],
  [
    'a passphrase from an actor',
    { ...post('/v1/resume', `{"proof":{"passphrase":"${PASSPHRASE}"}}`), who: 'bot' },
    '403 principal.not_human',
  ],
  [
    'a proof that is no object',
    { ...post('/v1/resume', '{"proof":"x"}'), who: 'ann' },
    '403 credential.required',
  ],
  [
    'a proof in the query',
    { ...post(`/v1/resume?proof=x`, '{}'), who: 'ann' },
    '403 credential.required',
  ],
  ['an option as a word', get('/v1/tasks/--help'), '404 history.unknown'],
  ['an option in a value', get('/v1/tasks?device=--json'), '400 cli.usage'],
  [
    'a workspace that climbs',
    { ...post('/v1/runs', '{"file":"../../etc/passwd","proof":{"passphrase":"x"}}'), who: 'bot' },
    '403 principal.not_human',
  ],
  // Keys and cursors.
  [
    'a key of 300 characters',
    post('/v1/documents/check', BODY, `Idempotency-Key: ${'k'.repeat(300)}`),
    '400 api.malformed',
  ],
  [
    'a key with a space',
    post('/v1/documents/check', BODY, 'Idempotency-Key: a b'),
    '400 api.malformed',
  ],
  [
    'a cursor of another home',
    get('/v1/events', 'Last-Event-ID: other;main=0'),
    '400 api.malformed',
  ],
  [
    'a cursor with a thousand streams',
    get('/v1/events', `Last-Event-ID: x${';a=1'.repeat(1_500)}`),
    '400 api.malformed',
  ],
  [
    'a wait without end',
    post('/v1/documents/check', BODY, 'Prefer: wait=999999999'),
    '200 document.undetected',
  ],
]

it('there are at least sixty', () => {
  expect(ATTEMPTS.length).toBeGreaterThanOrEqual(60)
})

describe('many at once', () => {
  const authorized = (): Record<string, string> => ({ authorization: `Bearer ${bot}` })

  it('a head that comes slowly is ended', async () => {
    const began = Date.now()
    const text = await drip('GET /healthz HTTP/1.1\r\n', 'X: y\r\n')
    expect(summary(text)).toBe('400 api.malformed')
    expect(Date.now() - began).toBeGreaterThan(5_000)
  }, 90_000)

  it('a body that comes slowly is ended', async () => {
    expect(summary(await slowBody)).toBe('400 api.malformed')
  }, 90_000)

  it('a flood of readers of events leaves the service answering', async () => {
    const stop = new AbortController()
    const readers = Array.from({ length: 150 }, () =>
      fetch(`${place.url}/v1/events`, { headers: authorized(), signal: stop.signal }).catch(
        () => null,
      ),
    )
    const opened = (await Promise.all(readers)).filter((one) => one?.status === 200)
    expect(opened.length).toBe(150)
    expect((await place.raw({ path: '/v1/streams', headers: authorized() })).status).toBe(200)
    stop.abort()
  }, 60_000)

  it('a client that leaves during promotion changes nothing about it', async () => {
    const body = place.proposal('left.txt')
    const stop = new AbortController()
    const sent = fetch(`${place.url}/v1/actions`, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: stop.signal,
    }).catch(() => null)
    const path = `/v1/actions/${body.descriptor.action_id}`
    let seen: Json = null
    const isBegun = (): boolean => seen !== null && seen.status !== 404
    for (let look = 0; look < 300 && !isBegun(); look++) {
      await pause(50)
      seen = (await place.raw({ path, headers: authorized() })).json
    }
    stop.abort()
    await sent
    for (let look = 0; look < 100 && seen?.status !== 'promoted'; look++) {
      await pause(300)
      seen = (await place.raw({ path, headers: authorized() })).json
    }
    expect(seen.status).toBe('promoted')
    expect(place.text('left.txt')).toBe('hello')
    expect(place.writ(['recover', '--json']).json.waiting).toEqual([])
  }, 90_000)

  it('the same key from twenty requests at once does one thing', async () => {
    const body = JSON.stringify(place.proposal('one.txt'))
    const headers = {
      ...authorized(),
      'content-type': 'application/json',
      'idempotency-key': 'same',
    }
    const path = '/v1/actions'
    const all = await Promise.all(
      Array.from({ length: 20 }, () => place.raw({ method: 'POST', path, headers, body })),
    )
    const statuses = new Set(all.map(({ status }) => status))
    expect([...statuses].every((one) => one === 200 || one === 202 || one === 409)).toBe(true)
    const facts = (await place.raw({ path: '/v1/streams/main/facts?type=request_key_v1', headers }))
      .json.facts
    expect(facts).toHaveLength(1)
  }, 90_000)
})

describe('an attempt', () => {
  it.each(ATTEMPTS)(
    '%s',
    async (_name, attempt, wanted) => {
      const text = await exchange(bytesOf(attempt))
      expect(summary(text)).toBe(wanted)
      expect(text).not.toContain(place.folder)
      expect(text).not.toMatch(/\bat .*\.(?:ts|cjs|js):\d+/)
    },
    30_000,
  )
})
