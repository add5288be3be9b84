/** The service over HTTP, as programs without any help and as the typed client meet it (H-1 to H-6). */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { validate as validateOpenApi } from '@readme/openapi-parser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, ProblemError, ROUTES } from '../../src/api/index.ts'
import {
  checkFactProof,
  decodeBundle,
  openCheckpoint,
  parseVerifierKey,
  verifierFor,
} from '../../src/ledger/index.ts'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

let place: ServicePlace
let bot: string
let ann: string
let asBot: Client
let asAnn: Client

beforeAll(async () => {
  place = new ServicePlace('service')
  bot = place.tokenOf('ai:bot@local')
  ann = place.tokenOf('human:ann@local')
  await place.serve()
  asBot = place.client(bot)
  asAnn = place.client(ann)
}, 120_000)

afterAll(async () => {
  await place.end()
  place.remove()
})

/** The problem that a call ends with. */
async function problemOf(call: Promise<unknown>): Promise<Json> {
  try {
    await call
  } catch (error) {
    if (error instanceof ProblemError) return error.problem
    throw error
  }
  throw new Error('the call went well')
}

/** Proposes, and waits for the decision. */
function propose(client: Client, body: Json, extras: Json = {}): Promise<Json> {
  return client.proposeAction({ query: {}, body, wait: 60, ...extras })
}

function authorized(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

describe('the description', () => {
  it('is OpenAPI 3.1 by an independent validator, and has every route (H-1)', async () => {
    const { json } = await place.raw({ path: '/openapi.json' })
    expect(json.openapi).toBe('3.1.0')
    const verdict = await validateOpenApi(structuredClone(json))
    expect(verdict).toMatchObject({ valid: true })
    for (const [name, { method, path }] of Object.entries(ROUTES)) {
      expect(json.paths[path][method.toLowerCase()].operationId).toBe(name)
    }
  })

  it('has an example that passes admission, and says how it is used', async () => {
    const { json } = await place.raw({ path: '/openapi.json' })
    const { examples } = json.paths['/v1/actions'].post.requestBody.content['application/json']
    expect(place.writ(['check', '-'], { input: JSON.stringify(examples.write.value) }).status).toBe(
      0,
    )
    for (const [, name] of json.info.description.matchAll(/`([a-z]+[A-Z]\w+)`/g))
      expect(Object.keys(ROUTES)).toContain(name)
    // The guide names operations, and the problems those statuses that the service answers.
    expect(json.info.description).toContain('proveFact')
    expect(json.components.responses.Problem.description).toMatch(/^412: (.*\n)*507: /m)
  })
})

describe('an action', () => {
  it('is promoted, read again, and proven with the keys of the home', async () => {
    const proposal = place.proposal('note.txt')
    const dry = await asBot.proposeAction({ query: { dry_run: true }, body: proposal })
    expect(dry.value).toMatchObject({ decision: { decision: 'PROMOTE' } })
    expect(existsSync(join(place.project, 'note.txt'))).toBe(false)
    const { status, value, location } = await propose(asBot, proposal)
    expect([status, value.status]).toEqual([200, 'promoted'])
    expect(readFileSync(join(place.project, 'note.txt'), 'utf8')).toBe('hello')
    expect(location).toBe(`/v1/actions/${value.action_id}`)
    const again = await asBot.showAction({ params: { id: value.action_id } })
    expect(again.value).toEqual(value)
    const listed = await asBot.listActions({ query: { limit: 5 } })
    expect(listed.value.actions[0]).toEqual(value)
  }, 60_000)

  it('that breaks its contract is refused with places and codes', async () => {
    const { descriptor, ...rest } = place.proposal('x.txt')
    const body = { ...rest, descriptor: { ...descriptor, risk_level: 'TINY' } }
    const problem = await problemOf(asBot.proposeAction({ query: {}, body }))
    expect(problem.status).toBe(422)
    expect(problem.violations[0]).toMatchObject({ path: '/descriptor/risk_level' })
  }, 60_000)

  it('with an idempotency key is done once (H-3)', async () => {
    const body = place.proposal('once.txt')
    const first = await propose(asBot, body, { idempotencyKey: 'k-1' })
    const again = await propose(asBot, body, { idempotencyKey: 'k-1' })
    expect(again.value).toEqual(first.value)
    const other = place.proposal('twice.txt')
    const problem = await problemOf(propose(asBot, other, { idempotencyKey: 'k-1' }))
    expect([problem.status, problem.code]).toEqual([409, 'api.key_reused'])
    // Another caller has keys of its own.
    const human = await propose(asAnn, other, { idempotencyKey: 'k-1' })
    expect(human.value.status).toBe('promoted')
    const { facts } = (
      await asBot.listFacts({ params: { stream: 'main' }, query: { type: 'request_key_v1' } })
    ).value as Json
    expect(facts).toHaveLength(2)
    expect(JSON.stringify(facts)).not.toContain('k-1')
  }, 60_000)

  it('under the id of another one is refused, at the same moment and later (H-3)', async () => {
    const first = place.proposal('mine.txt')
    const { descriptor, operation } = place.proposal('theirs.txt')
    const second = {
      operation,
      descriptor: { ...descriptor, action_id: first.descriptor.action_id.toUpperCase() },
    }
    const early = asBot.proposeAction({ query: {}, body: first, wait: 0 })
    const refused = async (client: Client, body: Json, extras: Json = {}): Promise<void> => {
      const { status, code } = await problemOf(propose(client, body, extras))
      expect([status, code]).toEqual([409, 'descriptor.action_id_reused'])
    }
    expect((await early).status).toBe(202)
    await refused(asAnn, second)
    await refused(asAnn, first)
    const params = { id: first.descriptor.action_id }
    for (let look = 0; look < 100 && !existsSync(join(place.project, 'mine.txt')); look++)
      await pause(100)
    await pause(500)
    const before = (await asBot.showAction({ params })).value
    expect(before.status).toBe('promoted')
    const later = { operation, descriptor: { ...descriptor, action_id: params.id } }
    await refused(asAnn, later)
    for (const idempotencyKey of ['k-2', 'k-2']) await refused(asAnn, later, { idempotencyKey })
    expect((await asBot.showAction({ params })).value).toEqual(before)
    expect(existsSync(join(place.project, 'theirs.txt'))).toBe(false)
  }, 60_000)

  it('under a key that was used with another query is refused (H-3)', async () => {
    const body = place.proposal('queried.txt')
    await propose(asBot, body, { idempotencyKey: 'k-3' })
    const dry = propose(asBot, body, { idempotencyKey: 'k-3', query: { dry_run: true } })
    expect(await problemOf(dry)).toMatchObject({ status: 409, code: 'api.key_reused' })
  }, 60_000)

  it('that is no document is refused', async () => {
    for (const body of ['null', '[]', '1', '"x"', '{"descriptor":null}']) {
      const headers = { ...authorized(bot), 'content-type': 'application/json' }
      const { status } = await place.raw({ method: 'POST', path: '/v1/actions', headers, body })
      expect([400, 422], body).toContain(status)
    }
  }, 60_000)

  it('that is not decided in time is answered with a place to look (H-3)', async () => {
    const body = place.proposal('later.txt')
    const early = await asBot.proposeAction({ query: {}, body, wait: 0 })
    expect(early.status).toBe(202)
    const id = body.descriptor.action_id
    expect(early.location).toBe(`/v1/actions/${id}`)
    for (let look = 0; look < 100 && !existsSync(join(place.project, 'later.txt')); look++)
      await pause(100)
    await pause(500)
    expect((await asBot.showAction({ params: { id } })).value.status).toBe('promoted')
  }, 60_000)
})

describe('a question', () => {
  async function ask(name: string): Promise<Json> {
    const { status, value } = await propose(asBot, place.proposal(name))
    expect([status, value.status]).toEqual([202, 'waiting'])
    const { questions } = (await asAnn.listQuestions({ query: {} })).value
    return questions.find(({ action_id }) => action_id === value.action_id)
  }

  it('is approved by a human who proves it, and by no other (H-5, I1)', async () => {
    const { id, result_digest } = await ask('.env')
    const shown = (await asAnn.showQuestion({ params: { id } })).value
    expect(shown.changes).toEqual([
      { path: join(place.project, '.env'), kind: 'file', change: 'added', deferred: true },
    ])
    const body = { result_digest, proof: { passphrase: PASSPHRASE } }
    expect(await problemOf(asBot.approveQuestion({ params: { id }, body }))).toMatchObject({
      status: 403,
      code: 'principal.not_human',
    })
    const wrong = { ...body, proof: { passphrase: 'another passphrase here' } }
    expect(await problemOf(asAnn.approveQuestion({ params: { id }, body: wrong }))).toMatchObject({
      status: 403,
      code: 'credential.wrong',
    })
    const other = { ...body, result_digest: `sha256:${'0'.repeat(64)}` }
    expect(await problemOf(asAnn.approveQuestion({ params: { id }, body: other }))).toMatchObject({
      status: 412,
      code: 'api.digest_moved',
    })
    expect(existsSync(join(place.project, '.env'))).toBe(false)
    const { value } = await asAnn.approveQuestion({ params: { id }, body })
    expect(value.status).toBe('promoted')
    expect(value.answers[0]?.payload).toMatchObject({ answer: 'APPROVED', assurance: 'passphrase' })
    expect(existsSync(join(place.project, '.env'))).toBe(true)
    // The answer may have been lost on the way: both ids say what became of the question.
    for (const named of [id, value.action_id]) {
      const again = await problemOf(asAnn.approveQuestion({ params: { id: named }, body }))
      expect(again).toMatchObject({ status: 403, code: 'confirm.used' })
      expect(again.detail).toContain('human:ann@local approved')
    }
  }, 60_000)

  it('shows what files hold to people alone, in every form', async () => {
    place.write('kept.txt', 'held-before\n')
    const proposal = place.proposal('kept.txt', 'held-after\n')
    const { value } = await propose(asBot, proposal)
    expect(value.status).toBe('waiting')
    const { questions } = (await asAnn.listQuestions({ query: {} })).value
    const { id } = questions.find(({ action_id }) => action_id === value.action_id) as Json
    const read = async (token: string): Promise<string> => {
      const headers = { ...authorized(token), accept: 'text/plain' }
      const [short, whole] = await Promise.all(
        ['', '?all=true'].map((query) => place.raw({ path: `/v1/inbox/${id}${query}`, headers })),
      )
      expect([short?.status, whole?.status]).toEqual([200, 200])
      return `${short?.text}${whole?.text}`
    }
    expect(await read(ann)).toContain('held-before')
    const readers = [bot, place.tokenOf('device:pump@local')]
    readers.push(place.anotherToken('ai:bot@local', '--scope', 'read'))
    for (const token of readers) {
      const text = await read(token)
      expect(text).toContain('kept.txt')
      expect(text).not.toContain('held-before')
    }
    const atTerminal = place.writ(['inbox', id, '--all'], { token: bot })
    expect([atTerminal.status, atTerminal.out.includes('held-before')]).toEqual([0, false])
  }, 120_000)

  it('is denied with a reason that is on the record', async () => {
    const { id } = await ask('.env.local')
    const body = { reason: 'not today', proof: { passphrase: PASSPHRASE } }
    expect(await problemOf(asBot.denyQuestion({ params: { id }, body }))).toMatchObject({
      code: 'principal.not_human',
    })
    const { value } = await asAnn.denyQuestion({ params: { id }, body, idempotencyKey: 'no' })
    const again = await asAnn.denyQuestion({ params: { id }, body, idempotencyKey: 'no' })
    expect(again.value).toEqual(value)
    expect(value.status).toBe('denied')
    expect(value.answers[0]?.payload).toMatchObject({ answer: 'DENIED', reason: 'not today' })
    const late = await problemOf(asAnn.denyQuestion({ params: { id }, body }))
    expect(late).toMatchObject({ status: 403, code: 'confirm.denied' })
    const unknown = { params: { id: 'ffffffffffff' }, body }
    expect(await problemOf(asAnn.denyQuestion(unknown))).toMatchObject({ status: 404 })
  }, 60_000)
})

describe('the ledger', () => {
  it('has facts, proofs and tiles that check out without the service', async () => {
    const { facts, next } = (
      await asBot.listFacts({ params: { stream: 'main' }, query: { limit: 2 } })
    ).value as Json
    expect(facts.map(({ seq }: Json) => seq)).toEqual([0, 1])
    expect(next).toBe(1)
    const proof = (await asBot.proveFact({ params: { stream: 'main' }, query: { seq: 0 } })).value
    const keys = place.writ(['ledger', 'key', '--json']).json.keys
    const verifiers = keys.map((key: string) => verifierFor(parseVerifierKey(key) as Json))
    const bundle = await fetch(
      `${place.url}/v1/streams/main/tile/entries/000.p/${Math.min(255, proof.size)}`,
      { headers: authorized(bot) },
    )
    const entries = decodeBundle(new Uint8Array(await bundle.arrayBuffer()))
    const text = new TextDecoder().decode(entries?.[0])
    expect(checkFactProof(proof as Json, text, verifiers)).toBe(true)
    const note = await place.raw({
      path: '/v1/streams/main/checkpoint',
      headers: authorized(bot),
    })
    expect(openCheckpoint(note.text, verifiers).ok).toBe(true)
  })

  it('shows a caller of one stream nothing of the others (L-7)', async () => {
    const guest = place.tokenOf('script:guest@local', '--stream', 'guest')
    const asGuest = place.client(guest)
    const hidden = await problemOf(asGuest.listFacts({ params: { stream: 'main' }, query: {} }))
    const absent = await problemOf(asGuest.listFacts({ params: { stream: 'nothing' }, query: {} }))
    expect(hidden.status).toBe(404)
    expect({ ...hidden, detail: hidden.detail.replace('main', 'nothing') }).toEqual(absent)
    expect((await asGuest.listStreams({})).value.streams).toEqual([])
    expect((await asGuest.listActions({ query: {} })).value.actions).toEqual([])
    expect((await asGuest.listQuestions({ query: {} })).value.questions).toEqual([])
  })
})

/** Events of a connection until so many have come. */
async function events(count: number, headers: Record<string, string>, query = ''): Promise<Json[]> {
  const stop = new AbortController()
  const late = setTimeout(() => stop.abort(), 20_000)
  const answer = await fetch(`${place.url}/v1/events${query}`, {
    headers: { ...authorized(bot), ...headers },
    signal: stop.signal,
  })
  const found: Json[] = []
  let text = ''
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk)
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const [, id] = /^id: (.*)$/m.exec(part) ?? []
      const [, data] = /^data: (.*)$/m.exec(part) ?? []
      if (id !== undefined && data !== undefined) found.push({ id, fact: JSON.parse(data) })
    }
    if (found.length >= count) break
  }
  clearTimeout(late)
  stop.abort()
  return found.slice(0, count)
}

describe('events', () => {
  it('go on where a reader stopped, without loss and without repetition (H-3)', async () => {
    const { id: home } = place.writ(['home', 'list', '--json']).json.homes[0]
    const all = await events(6, { 'last-event-id': home })
    expect(all.map(({ fact }) => fact.seq)).toEqual([0, 1, 2, 3, 4, 5])
    const rest = await events(3, { 'last-event-id': all[2].id })
    expect(rest.map(({ fact }) => fact.seq)).toEqual([3, 4, 5])
    const live = events(1, {}, '?type=decision_v1')
    await pause(500)
    const body = place.proposal('seen.txt')
    await propose(asBot, body)
    const [event] = await live
    expect(event.fact.record.payload.action_id).toBe(body.descriptor.action_id)
    expect(event.id).not.toContain('host=')
  }, 60_000)

  it('of another home are refused', async () => {
    const { status } = await place.raw({
      path: '/v1/events',
      headers: { ...authorized(bot), 'last-event-id': 'another;main=0' },
    })
    expect(status).toBe(400)
  })
})

describe('hostile requests', () => {
  const JSON_BODY = { 'content-type': 'application/json' }

  it.each([
    ['no token', { path: '/v1/streams' }, 401, 'api.no_token'],
    [
      'a guessed token',
      { path: '/v1/streams', headers: authorized('writ_x') },
      401,
      'principal.token',
    ],
    [
      'a token of another form',
      { path: '/v1/streams', headers: { authorization: 'Basic eA==' } },
      401,
      'principal.token',
    ],
    ['a rebound name', { path: '/healthz', headers: { host: 'evil.example' } }, 403, 'api.host'],
    [
      'a page of another origin',
      { path: '/healthz', headers: { origin: 'https://evil.example' } },
      403,
      'api.origin',
    ],
    ['an unknown route', { path: '/v1/none' }, 404, 'api.no_route'],
    ['a path that climbs', { path: '/v1/../etc/passwd' }, 404, 'api.no_route'],
  ])('%s', async (_name, request, status, code) => {
    const { json, headers } = await place.raw(request)
    expect([json.status, json.code]).toEqual([status, code])
    expect(headers['content-type']).toContain('application/problem+json')
    expect(JSON.stringify(json)).not.toContain(place.folder)
  })

  it.each([
    ['a body that is no JSON', '{"as":', JSON_BODY, 400, 'api.malformed'],
    ['a key twice', '{"document":1,"document":2}', JSON_BODY, 400, 'api.malformed'],
    ['a key too many', '{"document":1,"x":2}', JSON_BODY, 400, 'api.malformed'],
    ['another media type', '{"document":1}', { 'content-type': 'text/plain' }, 415, 'api.media'],
    ['no media type', '{"document":1}', {}, 415, 'api.media'],
    ['bytes that are no text', Buffer.from([0x22, 0xff, 0x22]), JSON_BODY, 400, 'api.malformed'],
    ['a key of the language', '{"document":1,"__proto__":{}}', JSON_BODY, 400, 'api.malformed'],
    ['five megabytes', '"x"', { ...JSON_BODY, 'content-length': '5242880' }, 413, 'api.too_large'],
  ])('%s', async (_name, body, headers, status, code) => {
    const answer = await place.raw({
      method: 'POST',
      path: '/v1/documents/check',
      headers: { ...authorized(bot), ...headers },
      body,
    })
    expect([answer.status, answer.json?.code]).toEqual([status, code])
  })

  it('a name twice in the query', async () => {
    const path = '/v1/streams/main/facts?limit=1&limit=2'
    const { json } = await place.raw({ path, headers: authorized(bot) })
    expect(json).toMatchObject({ status: 400, violations: [{ path: '/query/limit' }] })
  })

  it('guesses of tokens are slowed down', async () => {
    const guesses = Array.from({ length: 40 }, () =>
      place.raw({ path: '/v1/streams', headers: authorized('writ_guess') }),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses).toContain(429)
    expect((await place.raw({ path: '/v1/streams', headers: authorized(bot) })).status).toBe(200)
  })
})

describe('the process', () => {
  it('is the only one of its home, and a second one says which has it (H-6)', () => {
    const { status, err } = place.writ(['serve', '--listen', '127.0.0.1:0'], { seconds: 20 })
    expect(status).toBe(1)
    expect(err).toContain('service.running')
    expect(err).toContain(place.url)
  }, 30_000)

  it('listens beyond this machine only with protection', () => {
    const { status, err } = place.writ(['serve', '--listen', '0.0.0.0:0'])
    expect([status, err.includes('--tls-cert')]).toEqual([2, true])
  })

  it('speaks TLS where it is given a certificate, and nothing plain', async () => {
    const tls = new ServicePlace('tls')
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(tls.folder, name))
    const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    const more = [
      '-subj',
      '/CN=localhost',
      '-days',
      '1',
      '-keyout',
      String(key),
      '-out',
      String(cert),
    ]
    execFileSync('openssl', [...words, ...more], { stdio: 'ignore' })
    try {
      await tls.serve(['--tls-cert', String(cert), '--tls-key', String(key)])
      expect(tls.url).toMatch(/^https:/)
      const { port } = new URL(tls.url)
      const status = await new Promise((resolve, reject) => {
        const options = { port, host: '127.0.0.1', path: '/healthz', rejectUnauthorized: false }
        get(options, (answer) => resolve(answer.statusCode)).once('error', reject)
      })
      expect(status).toBe(200)
      await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
    } finally {
      await tls.end()
      tls.remove()
    }
  }, 60_000)

  it('knows a process of the same user by the socket, and lets it prove nothing', async () => {
    const { json } = await place.raw({ path: '/v1/streams', socket: place.socket })
    expect(json.streams.map(({ stream }: Json) => stream)).toContain('main')
  })

  it('stops in order, and another one goes on', async () => {
    const slow = place.proposal('slow.txt')
    const answer = propose(asBot, slow)
    await pause(300)
    expect(await place.end()).toBe(0)
    expect((await answer).value.status).toBe('promoted')
    await place.serve()
    const { value } = await place
      .client(bot)
      .showAction({ params: { id: slow.descriptor.action_id } })
    expect(value.status).toBe('promoted')
  }, 60_000)
})
