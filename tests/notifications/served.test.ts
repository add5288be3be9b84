/** The service tells people by itself; what did not arrive is counted; mail goes out encrypted (N-1). */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE, ServicePlace } from '../server/service-place.ts'
import { closedPort, SecureMailReceiver, WebReceiver } from './receivers.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

let place: ServicePlace
let token = ''
const receivers: { close: () => void }[] = []

beforeEach(() => {
  place = new ServicePlace('notified')
  token = place.tokenOf('ai:bot@local')
})

afterEach(async () => {
  for (const one of receivers.splice(0)) one.close()
  await place.end()
  place.remove()
})

function settle(ways: readonly Json[]): void {
  place.write('.writ/laws.yaml', JSON.stringify({ laws: [], settings: { notify: ways } }))
  const words = ['laws', 'accept', '--yes', '--pass-fd', '3']
  const { status, err } = place.writ(words, { passphrase: PASSPHRASE })
  expect(status, err).toBe(0)
}

async function ask(): Promise<string> {
  const { value } = await place
    .client(token)
    .proposeAction({ query: {}, body: place.proposal('.env.asked'), wait: 60 })
  expect(value).toMatchObject({ status: 'waiting' })
  return value.action_id
}

function tries(): Json[] {
  const { facts } = place.writ(['log', '--type', 'notification_v1', '--json']).json
  return facts.map((fact: Json) => fact.record.payload)
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < 300; count++) {
    const found = await look()
    if (found !== undefined) return found
    await pause(200)
  }
  throw new Error('it did not come in a minute')
}

it('the service sends a question with a link to its page, and counts what did not arrive', async () => {
  const receiver = new WebReceiver(200)
  receivers.push(receiver)
  settle([
    { name: 'phone', kind: 'ntfy', url: await receiver.listen() },
    { name: 'gone', kind: 'slack', url: await closedPort() },
  ])
  await place.serve()
  const action_id = await ask()
  const sent = await until(() => receiver.got[0])
  const [{ id }] = place.pending()
  const { port } = new URL(place.url)
  expect(sent.headers['click']).toBe(`http://writ.localhost:${port}/questions/${id}`)
  const failed = await until(() => tries().find(({ way }) => way === 'gone'))
  expect(failed).toMatchObject({ action_id, outcome: 'FAILED' })
  const headers = { authorization: `Bearer ${token}` }
  const { text } = await place.raw({ path: '/metrics', headers })
  expect(text).toMatch(/^writ_undelivered_questions 1$/m)
  expect(place.writ(['inbox']).out).toContain('not delivered by gone (slack)')
  expect(place.writ(['doctor']).out).toContain('1 question')
})

it('a message of the desktop that cannot be shown is recorded with the reason', async () => {
  settle([{ name: 'here', kind: 'desktop' }])
  await place.serve()
  await ask()
  const tried = await until(() => tries()[0])
  expect(tried).toMatchObject({ way: 'here', kind: 'desktop', outcome: 'FAILED' })
  expect(tried.reason).toMatch(/notify-send (?:is not installed|failed)/)
})

function certificate(): { readonly cert: string; readonly key: string; readonly file: string } {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(place.folder, name))
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj']
  const names = ['/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  execFileSync('openssl', [...words, ...names, '-keyout', key ?? '', '-out', cert ?? ''], {
    stdio: 'ignore',
  })
  const read = (file = ''): string => readFileSync(file, 'utf8')
  return { cert: read(cert), key: read(key), file: cert ?? '' }
}

it.each([
  ['STARTTLS', true, 'DELIVERED'],
  ['no TLS', false, 'FAILED'],
] as const)(
  'mail with a password to a server with %s: the password goes out encrypted or not at all',
  async (_name, hasTls, outcome) => {
    const { cert, key, file } = certificate()
    const mail = new SecureMailReceiver({ cert, key }, hasTls)
    receivers.push(mail)
    const server = await mail.listen()
    const [from, to] = ['w@example.org', 'ann@example.org']
    settle([{ name: 'post', kind: 'email', server, from, to, user: 'w', secret: 'MAIL_KEY' }])
    place.writ(['secret', 'set', 'MAIL_KEY'], { input: 'mail-password' })
    place.variables = { NODE_EXTRA_CA_CERTS: file }
    await place.serve()
    await ask()
    const tried = await until(() => tries()[0])
    expect(tried, JSON.stringify(tried)).toMatchObject({ way: 'post', outcome })
    expect(mail.plain).not.toContain(Buffer.from('\0w\0mail-password').toString('base64'))
    expect(mail.plain).not.toContain('example.org')
    expect(mail.passwords).toEqual(hasTls ? ['mail-password'] : [])
    expect(mail.mails).toHaveLength(hasTls ? 1 : 0)
  },
)

it('a question without an answer in time is recorded as expired, and a denied one as denied', async () => {
  place.write('.writ/laws.yaml', 'laws: []\nsettings: {question_ttl: 1m}\n')
  const words = ['laws', 'accept', '--yes', '--pass-fd', '3']
  expect(place.writ(words, { passphrase: PASSPHRASE }).status).toBe(0)
  await place.serve()
  const outcome = async (id: string): Promise<Json> => {
    const { value } = await place.client(token).showAction({ params: { id } })
    return [value.status, value.answers.map((one) => one?.payload.answer)]
  }
  const denied = await ask()
  expect(place.writ(['deny', denied]).status).toBe(0)
  const late = await ask()
  const clock = join(place.folder, 'later.cjs')
  writeFileSync(clock, 'const now = Date.now; Date.now = () => now() + 600_000\n')
  const later = { env: { NODE_OPTIONS: `--require ${clock}` }, isWarm: false }
  expect(place.writ(['inbox'], later).status).toBe(0)
  expect(await outcome(denied)).toEqual(['denied', ['DENIED']])
  expect(await outcome(late)).toEqual(['expired', ['EXPIRED']])
})
