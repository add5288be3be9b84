/**
 * Sends one message by one way. Answers with null when it arrived, else with the reason in words of the
 * host: nothing that a receiver says is kept but its status.
 *
 * INVARIANT (bounded): a receiver that hangs is given up after ten seconds.
 * INVARIANT (no detour): a redirect is a failure, so no message and no key reaches another host than the
 *   one that the settings name.
 */
import { createHmac } from 'node:crypto'
import type { NotifyWay } from '../contracts/index.ts'
import { findNamed, startProgram } from '../machine/index.ts'
import { type Message, wholeText } from './message.ts'

export type SecretOf = (name: string) => string | null

const WAIT_MS = 10_000

export async function send(
  way: NotifyWay,
  message: Message,
  secretOf: SecretOf,
  waitMs: number = WAIT_MS,
): Promise<string | null> {
  const missing = [way.secret, way.url_secret].find(
    (name) => name !== undefined && secretOf(name) === null,
  )
  if (missing !== undefined) return `no key ${missing} is kept: \`writ secret set ${missing}\``
  switch (way.kind) {
    case 'webhook':
      return sendWebhook(way, message, secretOf, waitMs)
    case 'ntfy':
      return sendNtfy(way, message, secretOf, waitMs)
    case 'slack':
      return post(way, secretOf, JSON.stringify({ text: wholeText(message) }), JSON_TYPE, waitMs)
    case 'email':
      return sendMail(way, message, secretOf, waitMs)
    case 'desktop':
      return showOnDesktop(message, waitMs)
    default:
      return way.kind satisfies never
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }

function sendWebhook(
  way: NotifyWay,
  message: Message,
  secretOf: SecretOf,
  waitMs: number,
): Promise<string | null> {
  const event = { id: message.id, type: 'question.waiting', data: message }
  return postWebhook(addressOf(way, secretOf), secretOf(way.secret ?? '') ?? '', event, waitMs)
}

interface WebhookEvent {
  /** The same for every try, so that receivers can tell a repetition. */
  readonly id: string
  readonly type: string
  readonly data: unknown
}

/**
 * Posts an event in the form of Standard Webhooks: id, time and body are signed together. Returns null
 * when it arrived, else the reason.
 */
export function postWebhook(
  address: string,
  secret: string,
  { id, type, data }: WebhookEvent,
  waitMs: number = WAIT_MS,
): Promise<string | null> {
  const timestamp = Math.floor(Date.now() / 1_000)
  const body = JSON.stringify({
    type,
    timestamp: new Date(timestamp * 1_000).toISOString(),
    data,
  })
  const signature = createHmac('sha256', webhookKey(secret))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')
  const headers = {
    ...JSON_TYPE,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
  return postTo(address, body, headers, waitMs)
}

const PREFIX = 'whsec_'

/** A key is base64, with the usual prefix or without it. */
function webhookKey(secret: string): Buffer {
  return Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')
}

const PRIORITIES: Readonly<Record<string, string>> = { HIGH: '4', CRITICAL: '5' }

function sendNtfy(
  way: NotifyWay,
  message: Message,
  secretOf: SecretOf,
  waitMs: number,
): Promise<string | null> {
  const token = way.secret === undefined ? null : secretOf(way.secret)
  const headers = {
    // Headers hold ASCII; the form for other letters is that of mail.
    title: `=?UTF-8?B?${Buffer.from(message.title).toString('base64')}?=`,
    priority: PRIORITIES[message.risk] ?? '3',
    ...(message.link === null ? {} : { click: message.link }),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  }
  return post(way, secretOf, wholeText(message), headers, waitMs)
}

function post(
  way: NotifyWay,
  secretOf: SecretOf,
  body: string,
  headers: Readonly<Record<string, string>>,
  waitMs: number,
): Promise<string | null> {
  return postTo(addressOf(way, secretOf), body, headers, waitMs)
}

function addressOf(way: NotifyWay, secretOf: SecretOf): string {
  return way.url ?? secretOf(way.url_secret ?? '') ?? ''
}

async function postTo(
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  waitMs: number,
): Promise<string | null> {
  try {
    const answer = await fetch(address, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(waitMs),
    })
    await answer.body?.cancel()
    if (answer.ok) return null
    const isElsewhere = answer.status >= 300 && answer.status < 400
    return isElsewhere
      ? `the receiver redirects (status ${answer.status}), which is not followed`
      : `the receiver answered with status ${answer.status}`
  } catch (error) {
    return failureOf(error)
  }
}

/** Errors of `fetch` have their cause inside, those of sockets a code, those of mail a status. */
interface SendError {
  readonly name?: string
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly cause?: { readonly code?: unknown }
}

/** The kind of a failure alone: texts of libraries can hold the address, which may be a secret. */
function failureOf(error: unknown): string {
  const { name = '', cause, code } = error as SendError // What is thrown here is an error.
  if (name === 'TimeoutError' || code === 'ETIMEDOUT') return 'the receiver did not answer in time'
  const kind = cause?.code ?? code
  return typeof kind === 'string' && /^[A-Z_0-9]{2,40}$/.test(kind)
    ? `the receiver cannot be reached (${kind})`
    : 'the receiver cannot be reached'
}

async function sendMail(
  way: NotifyWay,
  message: Message,
  secretOf: SecretOf,
  waitMs: number,
): Promise<string | null> {
  const { createTransport } = await import('nodemailer')
  const server = new URL(way.server ?? '')
  const isSecure = server.protocol === 'smtps:'
  const password = way.secret === undefined ? null : secretOf(way.secret)
  const transport = createTransport({
    host: server.hostname,
    port: Number(server.port) || (isSecure ? 465 : 587),
    secure: isSecure,
    // A password goes out encrypted, or not at all.
    requireTLS: !isSecure && password !== null,
    ...(password === null ? {} : { auth: { user: way.user ?? way.from ?? '', pass: password } }),
    connectionTimeout: waitMs,
    greetingTimeout: waitMs,
    socketTimeout: waitMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const { id, title, link } = message
  const text = wholeText(message)
  try {
    await transport.sendMail({
      from: way.from,
      to: way.to,
      subject: title,
      text: link === null || text.includes(link) ? text : `${text}\n${link}`,
      messageId: `<${id}@writ>`,
    })
    return null
  } catch (error) {
    const { responseCode } = error as SendError // As in `failureOf`.
    if (typeof responseCode === 'number') return `the server answered with status ${responseCode}`
    return failureOf(error)
  } finally {
    transport.close()
  }
}

async function showOnDesktop({ title, text }: Message, waitMs: number): Promise<string | null> {
  const program = findNamed('notify-send')
  if (program === null) return 'notify-send is not installed (Debian package libnotify-bin)'
  const { DBUS_SESSION_BUS_ADDRESS: bus, DISPLAY, WAYLAND_DISPLAY, XDG_RUNTIME_DIR } = process.env
  const known = { DBUS_SESSION_BUS_ADDRESS: bus, DISPLAY, WAYLAND_DISPLAY, XDG_RUNTIME_DIR }
  const variables = Object.fromEntries(
    Object.entries(known).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const words = ['--app-name=writ', '--', title, text]
  const child = startProgram(program, words, { stdio: 'ignore', variables, detached: false })
  const timer = setTimeout(() => child.kill('SIGKILL'), waitMs)
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
  clearTimeout(timer)
  return status === 0 ? null : 'notify-send failed: is there a desktop session?'
}
