/** People with passkeys in a real browser. */
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Client, ProblemError } from '../../src/api/index.ts'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE, ServicePlace } from '../server/service-place.ts'
import { BrowserPerson, startBrowser } from './person.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: ServicePlace
let browser: Browser
let ann: BrowserPerson
let asBot: Client
let origin = ''
let host = ''
let recoveryCodes: readonly string[] = []

beforeAll(async () => {
  place = new ServicePlace('passkeys')
  const bot = place.tokenOf('ai:bot@local')
  await place.serve()
  const { port } = new URL(place.url)
  host = `writ.localhost:${port}`
  origin = `http://${host}`
  asBot = place.client(bot)
  browser = await startBrowser()
  ann = await BrowserPerson.open(browser, origin)
}, 240_000)

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

/** An agent asks; the question waits for a human with a credential. */
async function ask(name: string): Promise<Json> {
  const body = place.proposal(name)
  const { value } = await asBot
    .proposeAction({ query: {}, body, wait: 60 } as Json)
    .catch((error: ProblemError) => {
      throw new Error(JSON.stringify(error.problem))
    })
  expect((value as Json).status).toBe('waiting')
  const { questions } = (await asBot.listQuestions({ query: {} })).value
  return questions.find(({ action_id }) => action_id === body.descriptor.action_id)
}

const approveAt = (id: string) => `/v1/questions/${id}/approve`

describe('registration', () => {
  it('needs the passphrase of that very human', async () => {
    expect((await ann.call('GET', '/v1/door')).json).toEqual({ passkeys: false })
    const wrong = await ann.register({ passphrase: 'some other words than those' })
    expect([wrong.status, wrong.json.code]).toEqual([403, 'credential.wrong'])
    const none = await ann.register({ code: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAAA' })
    expect([none.status, none.json.code]).toEqual([403, 'credential.code'])
    const both = await ann.register({ passphrase: PASSPHRASE, code: 'AAAAA-AAAAA' })
    expect(both.json.code).toBe('api.malformed')
  })

  it('adds a passkey, opens a session and shows recovery codes once', async () => {
    const { status, json } = await ann.register({ passphrase: PASSPHRASE })
    expect([status, json.code]).toEqual([200, undefined])
    expect(json.passkey).toMatchObject({ name: 'laptop', principal: { id: 'ann' } })
    expect(json.recovery_codes).toHaveLength(10)
    recoveryCodes = json.recovery_codes
    const me = await ann.call('GET', '/v1/me')
    expect(me.json).toMatchObject({ by: 'session', passkeys: 1, recovery_codes: 10 })
    const [cookie, ...others] = await ann.context.cookies()
    expect(others).toEqual([])
    expect(cookie).toMatchObject({
      name: 'writ_session',
      domain: 'writ.localhost',
      path: '/',
      httpOnly: true,
      sameSite: 'Strict',
    })
    expect(place.writ(['passkey', 'list', '--json']).json.passkeys).toHaveLength(1)
    const facts = place.writ(['log', '--facts', '--stream', 'host', '--json']).out
    for (const code of recoveryCodes) expect(facts).not.toContain(code)
    expect(facts).not.toContain(cookie?.value)
    expect((await ann.call('GET', '/v1/door')).json).toEqual({ passkeys: true })
  })

  it('logs out and in again with the passkey alone', async () => {
    expect((await ann.post('/v1/logout', {})).status).toBe(200)
    expect((await ann.call('GET', '/v1/me')).status).toBe(401)
    const { status, json } = await ann.login()
    expect([status, json.principal?.id]).toEqual([200, 'ann'])
    expect((await ann.call('GET', '/v1/me')).json.by).toBe('session')
  })
})

describe('an approval', () => {
  it('is signed by the passkey and verifies offline', async () => {
    const { id, action_id, result_digest } = await ask('.env')
    const { json } = await ann.post('/v1/challenges', {
      route: 'approveQuestion',
      params: { id },
      body: { result_digest },
    })
    expect(json.document).toMatchObject({
      type: 'approval_challenge_v1',
      question: action_id,
      answer: 'APPROVED',
      result_digest,
      by: 'human:ann@local',
    })
    const passkey = await ann.touch(json.options)
    const body = { result_digest, proof: { passkey } }
    const done = await ann.post(approveAt(id), body)
    expect([done.status, done.json.status]).toEqual([200, 'promoted'])
    expect(existsSync(join(place.project, '.env'))).toBe(true)
    const { facts } = place.writ(['log', '--type', 'confirmation_v1', '--json']).json
    expect(facts.at(-1).record.payload).toMatchObject({
      assurance: 'passkey',
      assertion: { challenge: json.document },
    })
    expect(place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true })
    // The same assertion once more, for the same and for another question.
    const again = await ann.post(approveAt(id), body)
    expect(again.json.code).toBe('credential.challenge')
  })

  it('does not count for another question or another answer, nor twice', async () => {
    const first = await ask('one/.env')
    const second = await ask('two/.env')
    const given = { result_digest: first.result_digest }
    const proof = await ann.prove('approveQuestion', { id: first.id }, given)
    const other = await ann.post(approveAt(second.id), {
      result_digest: second.result_digest,
      proof,
    })
    expect(other.json.code).toBe('credential.challenge')
    // It is used up: it does not count for its own question either.
    const own = await ann.post(approveAt(first.id), { ...given, proof })
    expect(own.json.code).toBe('credential.challenge')
    const asDeny = await ann.prove('denyQuestion', { id: first.id }, {})
    const turned = await ann.post(approveAt(first.id), { ...given, proof: asDeny })
    expect(turned.json.code).toBe('credential.challenge')
    expect(existsSync(join(place.project, 'one/.env'))).toBe(false)
    expect(existsSync(join(place.project, 'two/.env'))).toBe(false)
  })

  it('can be a no with a reason, which is signed too', async () => {
    const { id } = await ask('no/.env')
    const denied = await ann.proven(
      'denyQuestion',
      `/v1/questions/${id}/deny`,
      { id },
      { reason: 'not now' },
    )
    expect([denied.status, denied.json.status]).toEqual([200, 'denied'])
    const { facts } = place.writ(['log', '--type', 'confirmation_v1', '--json']).json
    expect(facts.at(-1).record.payload).toMatchObject({
      answer: 'DENIED',
      assurance: 'passkey',
      reason: 'not now',
      assertion: { challenge: { answer: 'DENIED', reason: 'not now' } },
    })
    expect(place.writ(['ledger', 'verify', '--json']).json.ok).toBe(true)
  })

  it('needs a person whom the authenticator verified', async () => {
    const { id, result_digest } = await ask('unverified/.env')
    await ann.cdp.send('WebAuthn.setUserVerified', {
      authenticatorId: ann.authenticator,
      isUserVerified: false,
    })
    const { json } = await ann.post('/v1/challenges', {
      route: 'approveQuestion',
      params: { id },
      body: { result_digest },
    })
    // A page that asks for less than the service offered.
    const passkey = await ann.touch({ ...json.options, userVerification: 'discouraged' })
    await ann.cdp.send('WebAuthn.setUserVerified', {
      authenticatorId: ann.authenticator,
      isUserVerified: true,
    })
    const done = await ann.post(approveAt(id), { result_digest, proof: { passkey } })
    expect([done.status, done.json.code]).toEqual([403, 'credential.assertion'])
    expect(done.json.detail).toContain('did not verify')
  })

  it('of a counter that went back is refused', async () => {
    const { id, result_digest } = await ask('cloned/.env')
    const { credentials } = await ann.cdp.send('WebAuthn.getCredentials', {
      authenticatorId: ann.authenticator,
    })
    const [credential] = credentials
    if (credential === undefined) throw new Error('no credential')
    const put = async (signCount: number) => {
      const { authenticatorId } = { authenticatorId: ann.authenticator }
      const { credentialId } = credential
      await ann.cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
      await ann.cdp.send('WebAuthn.addCredential', {
        authenticatorId,
        credential: { ...credential, signCount },
      })
    }
    await put(0)
    const cloned = await ann.proven('approveQuestion', approveAt(id), { id }, { result_digest })
    expect([cloned.status, cloned.json.code]).toEqual([403, 'credential.cloned'])
    await put(credential.signCount + 10)
    const done = await ann.proven('approveQuestion', approveAt(id), { id }, { result_digest })
    expect(done.json.status).toBe('promoted')
  })
})

describe('the passphrase of a human with a passkey', () => {
  const proof = { passphrase: PASSPHRASE }
  const post = async (token: string, path: string, body: Json): Promise<Json> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const request = { method: 'POST', path, headers, body: JSON.stringify({ ...body, proof }) }
    const { status, json } = await place.raw(request)
    return { status, code: json.code, detail: json.detail }
  }
  const refused = { status: 403, code: 'credential.required' }
  let token = ''

  beforeAll(() => {
    token = place.tokenOf('human:ann@local')
  }, 60_000)

  it('approves no act of HIGH risk, by whichever human', async () => {
    const question = await ask('.env.lent')
    const { id, result_digest } = question
    const bob = place.tokenOf('human:bob@local')
    for (const one of [token, bob]) {
      const answer = await post(one, approveAt(id), { result_digest })
      expect(answer.code).toBe('confirm.assurance')
      expect(answer.detail).toContain('needs a passkey')
    }
    expect(place.has('.env.lent')).toBe(false)
    const denied = place.writ(['deny', id])
    expect(denied.status, denied.err).toBe(0)
  }, 120_000)

  it('neither adds nor removes a passkey, and makes no human and no token of one', async () => {
    const again = await ann.register(proof)
    expect([again.status, again.json.code]).toEqual([403, 'credential.required'])
    const { passkeys } = (await ann.call('GET', '/v1/passkeys')).json
    expect(await post(token, `/v1/passkeys/${passkeys[0].passkey_id}/remove`, {})).toMatchObject(
      refused,
    )
    expect(await post(token, '/v1/recovery-codes', {})).toMatchObject(refused)
    expect(await post(token, '/v1/principals', { principal: 'human:eve@local' })).toMatchObject(
      refused,
    )
    expect(await post(token, '/v1/tokens', { principal: 'human:ann@local' })).toMatchObject(refused)
    const helper = await post(token, '/v1/principals', { principal: 'ai:helper@local' })
    expect(helper.status).toBe(200)
  }, 120_000)

  it('counts for the bearer of a token while others guess without one', async () => {
    const stranger = await BrowserPerson.open(browser, origin)
    const guess = async (at: number): Promise<string> =>
      (await stranger.register({ passphrase: `guess ${at} of the words` })).json.code
    const codes = new Set<string>()
    // A slow machine forgives a guess meanwhile.
    for (let round = 0; round < 4 && !codes.has('api.too_often'); round++)
      for (const code of await Promise.all([...Array(12).keys()].map(guess))) codes.add(code)
    expect(codes).toContain('api.too_often')
    expect((await post(token, '/v1/resume', {})).code).not.toBe('api.too_often')
    await stranger.close()
  }, 120_000)
})

describe('what a passkey proves besides', () => {
  it('is carried out by the command in the name of that human, and is a fact', async () => {
    const body = { principal: 'device:pump@farm', stream: ['farm'] }
    const added = await ann.proven('addPrincipal', '/v1/principals', {}, body)
    expect([added.status, added.json.code]).toEqual([200, undefined])
    const { facts } = place.writ(['log', '--facts', '--stream', 'host', '--json']).json
    const proof = facts.find(({ record }: Json) => record.type === 'passkey_proof_v1')
    expect(proof).toMatchObject({
      principal: { id: 'ann' },
      record: { payload: { route: 'addPrincipal', command: 'principal add' } },
    })
    const other = await ann.prove('addPrincipal', {}, body)
    const changed = await ann.post('/v1/principals', {
      principal: 'device:evil@farm',
      proof: other,
    })
    expect(changed.json.code).toBe('credential.challenge')
    // Only the service has the ticket of a proof.
    const ticket = `writ-passkey-ticket:${'0'.repeat(64)}`
    const words = ['principal', 'add', 'device:evil@farm', '--pass-fd', '3', '--json']
    expect(place.writ(words, { passphrase: ticket }).json.error.code).toBe('credential.wrong')
  })
})

describe('a stolen cookie', () => {
  const raw = async (headers: Record<string, string>, path = '/v1/me') =>
    (await place.raw({ path, headers: { host, ...headers } })).json

  it('reads nothing without the page key, and approves nothing with it', async () => {
    const [cookie] = await ann.context.cookies()
    const shown = { cookie: `writ_session=${cookie?.value}` }
    expect((await raw(shown)).code).toBe('api.session')
    expect((await raw({ 'writ-page-key': ann.pageKey ?? '' })).code).toBe('api.no_token')
    expect((await raw({ authorization: `Bearer ${cookie?.value}` })).code).toBe('principal.token')
    const both = { ...shown, 'writ-page-key': ann.pageKey ?? '' }
    expect((await raw(both)).by).toBe('session')
    const [{ port }] = [new URL(place.url)]
    for (const other of [`localhost:${port}`, `127.0.0.1:${port}`])
      expect((await raw({ ...both, host: other })).code).toBe('api.no_token')
    const { id, result_digest } = await ask('stolen/.env')
    const sent = (headers: Record<string, string>) =>
      place.raw({
        method: 'POST',
        path: approveAt(id),
        headers: { host, 'content-type': 'application/json', ...both, ...headers },
        body: JSON.stringify({ result_digest }),
      })
    expect((await sent({})).json.code).toBe('api.origin')
    expect((await sent({ origin: `http://localhost:${port}` })).json.code).toBe('api.origin')
    expect((await sent({ origin: origin.replace('http', 'https') })).json.code).toBe('api.origin')
    expect((await sent({ origin })).json.code).toBe('credential.required')
    expect(existsSync(join(place.project, 'stolen/.env'))).toBe(false)
  })

  it('does not reach a server of another port of localhost; one of the same name cannot use it', async () => {
    const seen: (string | undefined)[] = []
    const server: Server = createServer((request, response) => {
      if (request.url === '/look') seen.push(request.headers.cookie)
      response.setHeader('content-type', 'text/html').end('<p>dev server</p>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const page = await ann.context.newPage()
    for (const name of ['localhost', '127.0.0.1', 'other.localhost']) {
      await page.goto(`http://${name}:${port}/`)
      await page.goto(`http://${name}:${port}/look`)
      await page.evaluate(() => fetch('/look', { credentials: 'include' }))
    }
    expect(seen).toHaveLength(6)
    expect(seen.every((cookie) => cookie === undefined)).toBe(true)
    // Cookies know no ports: a server that a person opens under the console’s own name gets it.
    await page.goto(`http://writ.localhost:${port}/look`)
    const stolen = seen.at(-1)
    await page.close()
    server.close()
    expect((await raw({ cookie: stolen ?? 'writ_session=none' })).code).toMatch(
      /^api\.(session|no_token)$/,
    )
  })
})

describe('where people log in', () => {
  it('is the name of the console alone, from its own page', async () => {
    const { port } = new URL(place.url)
    const post = (headers: Record<string, string>) =>
      place.raw({
        method: 'POST',
        path: '/v1/login/options',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      })
    expect((await post({ host })).json.code).toBe('api.origin')
    expect(
      (await post({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).json.code,
    ).toBe('api.host')
    expect(
      (await post({ host, origin: `http://writ.localhost:${Number(port) + 1}` })).json.code,
    ).toBe('api.origin')
    expect((await post({ host, origin })).status).toBe(200)
  })
})

describe('a human without a credential', () => {
  const codeOf = (token: string): string => {
    const seen = place.person(['passkey', 'code'], [], { token })
    const [, code = ''] = /code for \S+: (\S+)/.exec(seen.output) ?? []
    expect([seen.status, seen.output.includes('once, within 10 minutes')]).toEqual([0, true])
    return code
  }

  it('registers with a one-time code from a terminal, once', async () => {
    const token = place.tokenOf('human:bea@local')
    // Without a terminal, and below a coding agent, there is no code.
    const blind = place.writ(['passkey', 'code', '--json'], {
      token,
      isWarm: false,
      through: ['/usr/bin/setsid', '-w'],
    })
    expect(blind.json.error.code).toBe('credential.required')
    const code = codeOf(token)
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}(?:-[0-9A-HJKMNP-TV-Z]{5}){4}-[0-9A-HJKMNP-TV-Z]$/)
    const facts = place.writ(['log', '--facts', '--stream', 'host', '--json']).out
    expect(facts).toContain('code_made')
    expect(facts).not.toContain(code)
    const bea = await BrowserPerson.open(browser, origin)
    const { status, json } = await bea.register({ code: code.toLowerCase() })
    expect([status, json.passkey?.principal.id]).toEqual([200, 'bea'])
    const again = await BrowserPerson.open(browser, origin)
    expect((await again.register({ code })).json.code).toBe('credential.code')
    // Now that there is a credential, no further code is made.
    const second = place.person(['passkey', 'code'], [], { token })
    expect(second.output).toContain('credential.exists')
    await again.close()
    await bea.close()
  })

  it('loses the code after five wrong ones', async () => {
    const token = place.tokenOf('human:cid@local')
    const code = codeOf(token)
    const cid = await BrowserPerson.open(browser, origin)
    for (let index = 0; index < 5; index++) {
      const wrong = await cid.register({ code: `WRNG${index}-AAAAA-AAAAA` })
      expect(wrong.json.code).toBe('credential.code')
    }
    expect((await cid.register({ code })).json.code).toMatch(
      /^(?:credential\.code|api\.too_often)$/,
    )
    const facts = place.writ(['log', '--facts', '--stream', 'host', '--json']).json.facts
    const refused = facts.filter(({ record }: Json) => record.payload?.change === 'code_refused')
    expect(refused.filter(({ principal }: Json) => principal.id === 'cid')).toHaveLength(5)
    await cid.close()
  })
})

describe('a lost passkey', () => {
  it('is replaced with a recovery code, which counts once', async () => {
    const [code = ''] = recoveryCodes
    const later = await BrowserPerson.open(browser, origin)
    const { status, json } = await later.register({ recovery_code: code }, { name: 'new phone' })
    expect([status, json.recovery_codes]).toEqual([200, null])
    expect((await later.call('GET', '/v1/me')).json).toMatchObject({
      passkeys: 2,
      recovery_codes: 9,
    })
    expect((await later.register({ recovery_code: code })).json.code).toBe('credential.code')
    const id = json.passkey.passkey_id
    const path = `/v1/passkeys/${id}/remove`
    const removed = await later.proven('removePasskey', path, { id }, {})
    expect([removed.status, removed.json.passkey_id]).toEqual([200, id])
    // A removed passkey proves nothing more.
    const out = await later.login()
    expect([out.status, out.json.code]).toEqual([403, 'credential.assertion'])
    await later.close()
  })
})
