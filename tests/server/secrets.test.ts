/**
 * Marked secrets in every field that can hold one, searched for in everything that the service and the
 * command line let out: log, counts, traces, problems, events, exports, messages, `--json`, `doctor`, and
 * what a start that fails prints. A credential is nowhere. What an act was given is on the record, which
 * its owner reads, and in nothing that is made for others.
 */
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { MailReceiver, THANKS, WebReceiver } from '../notifications/receivers.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

/** Each credential has its own word, so that a failure says which one came out. */
const mark = (name: string): string => `marked-${name}-5e1f`
const CREDENTIALS: Record<string, string> = { passphrase: PASSPHRASE }
for (const name of [
  'variable',
  'otlp-header',
  'otlp-query',
  'model-key',
  'mail-password',
  'hook-url',
  'hook-answer',
  'wrong-token',
  'basic',
  'userinfo',
  'query',
  'cookie',
  'idempotency',
  'wrong-passphrase',
  'mcp-argument',
  'tls-key',
]) {
  CREDENTIALS[name] = mark(name)
}
const HOOK_KEY = Buffer.from('a marked key of some thirty bytes').toString('base64')
CREDENTIALS['hook-key'] = HOOK_KEY
CREDENTIALS['receiver-answer'] = THANKS
/** Of acts: argument, variable, input, output, contents, intent. */
const CONTENT = 'given-to-an-act-77c0'

const place = new ServicePlace('secrets')
const hook = new WebReceiver(500)
const team = new WebReceiver(200)
const mail = new MailReceiver()
let collector: Server
const traces: string[] = []
/** What callers and readers got, and what those who watch got. */
const answers: string[] = []
const watched: string[] = []
let bot = ''
let ann = ''
/** Of the service's own output. */
let printed = ''

async function ask(path: string, options: Json = {}): Promise<Json> {
  const { method = 'GET', body, token = ann, headers = {} } = options
  const answer = await place.raw({
    method,
    path,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  answers.push(JSON.stringify(answer.headers), answer.text)
  return answer
}

/** A request whose first line is of this test's making. */
function rawLine(line: string): Promise<void> {
  const { hostname, port } = new URL(place.url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(line))
    socket.setTimeout(3_000, () => socket.destroy())
    socket.on('data', (chunk) => answers.push(String(chunk)))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}

function run(args: readonly string[], around: Json = {}): Json {
  const ended = place.writ(args, around)
  answers.push(ended.out, ended.err)
  return ended
}

async function prepare(): Promise<void> {
  const [url, teamUrl, server] = [await hook.listen(), await team.listen(), await mail.listen()]
  const keep = (name: string, input: string) => run(['secret', 'set', name], { input })
  keep('HOOK_KEY', HOOK_KEY)
  keep('MAIL_PASSWORD', mark('mail-password'))
  keep('ANTHROPIC_API_KEY', mark('model-key'))
  keep('TEAM_URL', `${teamUrl}/services?key=${mark('hook-url')}`)
  const from = { from: 'w@example.org', to: 'ann@example.org' }
  const notify = [
    { name: 'hook', kind: 'webhook', url, secret: 'HOOK_KEY' },
    { name: 'team', kind: 'slack', url_secret: 'TEAM_URL' },
    { name: 'post', kind: 'email', server, ...from },
    { name: 'login', kind: 'email', server, user: 'w', secret: 'MAIL_PASSWORD', ...from },
  ]
  place.write('.writ/laws.yaml', JSON.stringify({ laws: [], settings: { notify } }))
  const passed = { passphrase: PASSPHRASE }
  const { status, err } = run(['laws', 'accept', '--yes', '--pass-fd', '3'], passed)
  expect(status, err).toBe(0)
}

beforeAll(async () => {
  collector = createServer((request, response) => {
    request.on('data', (chunk) => traces.push(String(chunk)))
    // What a receiver answers stays out, too.
    request.on('end', () => response.writeHead(400).end(mark('hook-answer')))
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const { port } = collector.address() as AddressInfo
  await prepare()
  bot = place.tokenOf('ai:bot@local')
  ann = place.tokenOf('human:ann@local')
  CREDENTIALS['token of ai'] = bot
  CREDENTIALS['token of human'] = ann
  place.variables = {
    SOME_API_KEY: mark('variable'),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/in?key=${mark('otlp-query')}`,
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${mark('otlp-header')}`,
  }
  await place.serve()
  place.service?.stdout?.on('data', (chunk) => {
    printed += chunk
  })
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
  for (const one of [hook, team, mail, collector]) one.close()
})

async function callWithSecrets(): Promise<void> {
  const proof = { passphrase: PASSPHRASE }
  const wrong = { passphrase: mark('wrong-passphrase') }
  await ask('/v1/resume', { method: 'POST', body: { proof: wrong } })
  await ask('/v1/resume', { method: 'POST', body: { proof, extra: 1 } })
  await ask('/v1/halt', { method: 'POST', body: `{"proof": "${mark('wrong-passphrase')}` })
  const headers = { 'idempotency-key': mark('idempotency') }
  const body = { principal: 'ai:kept@local', proof }
  await ask('/v1/principals', { method: 'POST', body, headers })
  await ask('/v1/principals', {
    method: 'POST',
    body: { ...body, principal: 'ai:b@local' },
    headers,
  })
  await ask('/v1/streams', { token: mark('wrong-token') })
  await ask('/v1/streams', { token: null, headers: { authorization: `Basic ${mark('basic')}` } })
  await ask(`/v1/streams?token=${mark('query')}`)
  await ask('/v1/streams', { headers: { cookie: `session=${mark('cookie')}` } })
  await rawLine(`GET http://u:${mark('userinfo')}@127.0.0.1/v1/streams HTTP/1.1\r\nHost: x\r\n\r\n`)
  await rawLine(`GARBAGE ${mark('userinfo')}\r\n\r\n`)
  const call = { name: 'run_command', arguments: { argv: 7, token: mark('mcp-argument') } }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
  const accept = { accept: 'application/json, text/event-stream' }
  await ask('/mcp', { method: 'POST', body: message, token: bot, headers: accept })
  const at = { env: { WRIT_TOKEN: mark('wrong-token') } }
  run(['log', '--json'], at)
  const remote = { env: { WRIT_URL: `http://u:${mark('userinfo')}@127.0.0.1:1/` } }
  run(['log', '--json'], remote)
  run(['remote', 'add', 'x', `http://u:${mark('userinfo')}@127.0.0.1:1/?k=${mark('query')}`])
}

async function actWithSecrets(): Promise<void> {
  const seen = place.proposal('seen.txt', CONTENT)
  seen.descriptor.intent_summary = `write ${CONTENT}`
  const body = JSON.stringify(seen)
  const wait = { prefer: 'wait=60' }
  const { json } = await ask('/v1/actions', { method: 'POST', token: bot, body, headers: wait })
  expect(json.status).toBe('promoted')
  // A question, which is sent to people.
  const { status } = place.exec(['--env', `KEY=${CONTENT}`], `echo ${CONTENT} > q.txt`)
  expect(status).toBe(75)
}

it('come out nowhere', async () => {
  const { signal, abort } = abortable()
  const events = follow(signal)
  await callWithSecrets()
  await actWithSecrets()
  await expect.poll(() => mail.mails.length, { timeout: 60_000 }).toBeGreaterThan(0)
  await expect.poll(() => team.got.length, { timeout: 60_000 }).toBeGreaterThan(0)
  await pause(2_500)
  for (const words of [
    ['inbox'],
    ['log'],
    ['token', 'list'],
    ['principal', 'list'],
    ['show', 'x'],
  ]) {
    run(words)
    run([...words, '--json'])
  }
  for (const path of ['main', 'host']) await ask(`/v1/streams/${path}/facts?limit=500`)
  await ask('/v1/tokens')
  await ask('/v1/settings')
  for (const words of [['doctor'], ['doctor', '--json'], ['notify', 'test']]) {
    const { out, err } = place.writ(words)
    watched.push(out, err)
  }
  for (const format of ['jsonl', 'cloudevents', 'ocsf', 'otlp', 'intoto'])
    watched.push(exported(format))
  watched.push((await ask('/metrics')).text, traces.join('\n'))
  const bodies = [...hook.got, ...team.got].map((got) => got.body)
  watched.push(bodies.join('\n'), mail.mails.join('\n'))
  watched.push(await failedStart())
  abort()
  answers.push(await events)
  await place.end()
  watched.push(place.errors, printed)
  // All of it was there to be searched.
  expect(traces.join('')).toContain('"name":"promote"')
  expect(answers.join('')).toContain('event: promotion_v1')
  expect(place.errors).toContain('"event":"request"')
  expect(place.errors).toContain('traces_refused')
  const all = [...watched, ...answers].join('\n')
  for (const [name, secret] of Object.entries(CREDENTIALS)) {
    expect(all.includes(secret), `${name} came out: ${around(all, secret)}`).toBe(false)
  }
  const shown = watched.join('\n')
  expect(shown.includes(CONTENT), `an act came out: ${around(shown, CONTENT)}`).toBe(false)
}, 300_000)

function around(text: string, secret: string): string {
  const at = text.indexOf(secret)
  return at === -1 ? '' : text.slice(Math.max(0, at - 200), at + 100)
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

/** Events from the first fact on, until it is aborted. */
async function follow(signal: AbortSignal): Promise<string> {
  let text = ''
  try {
    const headers = { authorization: `Bearer ${ann}` }
    const answer = await fetch(`${place.url}/v1/events`, { headers, signal })
    for await (const chunk of answer.body ?? []) text += Buffer.from(chunk).toString()
  } catch {
    // It was aborted.
  }
  return text
}

/** What is printed, with what its signed parts hold. */
function exported(format: string): string {
  const { out } = place.writ(['export', '--format', format])
  expect(out).not.toBe('')
  const parts = [...out.matchAll(/"payload":"([^"]+)"/g)]
  return `${out}${parts.map(([, part = '']) => Buffer.from(part, 'base64').toString()).join('')}`
}

/** A key file that is none: what it holds is not what the error says. */
async function failedStart(): Promise<string> {
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(place.folder, name)) as [
    string,
    string,
  ]
  for (const file of [cert, key]) writeFileSync(file, mark('tls-key'))
  await place.end()
  const words = ['serve', '--listen', '127.0.0.1:0', '--tls-cert', cert, '--tls-key', key]
  const child = place.start(words, { env: place.variables })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      out += chunk
    })
  }
  const status = await new Promise((resolve) => child.once('close', resolve))
  expect([status, out === '']).not.toEqual([0, true])
  return out
}
