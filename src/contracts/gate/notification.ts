/**
 * `notification_v1`: one try to tell people of a question, by one of the ways that the settings name
 * (N-1). Only the host writes it, after the try: a process that dies in between tries again.
 *
 * Also the ways themselves, as the law file names them. Keys are names of kept secrets, never values.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, showName } from '../../base/index.ts'
import { type Contract, elements, field, type Subject } from '../kernel/contract.ts'
import { ActionId, checkMoments, checkOrder, closed, Moment, Word } from './shapes.ts'

const NOTIFY_KINDS = ['webhook', 'ntfy', 'slack', 'email', 'desktop'] as const

const SecretName = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{0,63}$',
  'x-code': { pattern: 'notify' },
  'x-says': 'the name of a key that `writ secret set` keeps, in capital letters',
})
const Address = Type.String({
  pattern: '^https?://[^\\s@]+$',
  'x-code': { pattern: 'notify' },
  'x-says': 'an address that begins with `https://` or `http://`, without a password',
})

const MailAddress = Type.String({
  pattern: '^[^\\r\\n]*@[^\\r\\n]*$',
  'x-code': { pattern: 'notify' },
  'x-says': 'an address such as `ann@example.org`, on one line',
})

export const NotifyWaySchema = Type.Object(
  {
    /** What the record and `writ notify` call it. */
    name: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
      'x-code': { pattern: 'notify' },
      'x-says': 'a word of letters, digits, `_` and `-` that begins with a letter',
    }),
    kind: Type.Enum([...NOTIFY_KINDS]),
    url: Type.Optional(Address),
    /** The kept secret that holds the address, where knowing the address is the right to write there. */
    url_secret: Type.Optional(SecretName),
    /** The key that signs (webhook), the token (ntfy) or the password (email). */
    secret: Type.Optional(SecretName),
    /** `smtp://HOST:PORT` (STARTTLS where the server offers it) or `smtps://HOST:PORT`. */
    server: Type.Optional(
      Type.String({
        pattern: '^smtps?://[^\\s/@]+$',
        'x-code': { pattern: 'notify' },
        'x-says': 'a server such as `smtps://mail.example.org:465`',
      }),
    ),
    user: Type.Optional(
      Type.String({
        pattern: '^[^\\r\\n]+$',
        'x-code': { pattern: 'notify' },
        'x-says': 'a name on one line',
      }),
    ),
    from: Type.Optional(MailAddress),
    to: Type.Optional(MailAddress),
    /** Whether messages hold the command and the names of paths. */
    contents: Type.Optional(Type.Boolean()),
  },
  closed,
)

export type NotifyWay = Type.Static<typeof NotifyWaySchema>

const OF_WEB = ['url', 'url_secret']
const OF_MAIL = ['server', 'user', 'from', 'to']

/** Which fields belong to which kind; one of `url` and `url_secret` is enough. */
const FIELDS: Readonly<Record<NotifyWay['kind'], readonly string[]>> = {
  webhook: [...OF_WEB, 'secret'],
  ntfy: [...OF_WEB, 'secret'],
  slack: OF_WEB,
  email: [...OF_MAIL, 'secret'],
  desktop: [],
}
const NEEDED: Readonly<Partial<Record<NotifyWay['kind'], readonly string[]>>> = {
  webhook: ['secret'],
  email: ['server', 'from', 'to'],
}

/** Judges the ways of a law file, below `settings`. */
export function checkNotify({ document, report }: Subject): void {
  const names = new Set<unknown>()
  for (const [index, way] of elements(field(document['settings'], 'notify')).entries()) {
    const place = `/settings/notify/${index}`
    const [name, kind] = [field(way, 'name'), field(way, 'kind')]
    if (typeof name === 'string' && names.has(name)) {
      report.add('laws.duplicate_id', `${place}/name`, `the name ${showName(name)} is used twice`)
    }
    names.add(name)
    const known = NOTIFY_KINDS.find((one) => one === kind)
    if (known !== undefined) checkFields(way, known, place, report)
  }
}

function checkFields(
  way: unknown,
  kind: NotifyWay['kind'],
  place: string,
  report: Subject['report'],
): void {
  const has = (name: string): boolean => field(way, name) !== undefined
  for (const name of [...OF_WEB, ...OF_MAIL, 'secret']) {
    if (!has(name) || FIELDS[kind].includes(name)) continue
    report.add('laws.notify', `${place}/${name}`, `a way of kind ${kind} has no ${showName(name)}`)
  }
  const missing = (NEEDED[kind] ?? []).filter((name) => !has(name))
  const isWeb = FIELDS[kind].includes('url')
  if (isWeb && !OF_WEB.some(has)) missing.push('url')
  for (const name of missing) {
    report.add('laws.notify', place, `a way of kind ${kind} needs ${showName(name)}`)
  }
}

const OUTCOMES = ['DELIVERED', 'FAILED'] as const

const NotificationSchema = Type.Object(
  {
    /** The act whose question it tells of, and when that was asked. */
    action_id: ActionId,
    asked_at: Moment,
    /** The name and the kind of the way. */
    way: Word,
    kind: Type.Enum([...NOTIFY_KINDS]),
    outcome: Type.Enum([...OUTCOMES]),
    /** Which try it was, from 1. */
    attempt: Type.Integer({ minimum: 1, 'x-code': { minimum: 'count' } }),
    at: Moment,
    /** What went wrong, in words of the host; nothing of what the receiver said but its status. */
    reason: Type.Optional(Word),
  },
  closed,
)

export type NotificationFact = Type.Static<typeof NotificationSchema>

/** A failure says why, a delivery has nothing to say. */
function checkReason({ document, report }: Subject): void {
  const [outcome, reason] = [field(document, 'outcome'), field(document, 'reason')]
  if (outcome === 'FAILED' && reason === undefined) {
    report.add('gate_record.required', '/reason', '`reason` is missing where a try failed')
  }
  if (outcome === 'DELIVERED' && reason !== undefined) {
    report.add('gate_record.misplaced', '/reason', '`reason` has no meaning where it arrived')
  }
}

export const notificationContract: Contract = {
  name: 'notification_v1',
  title: 'One try to tell people of a question, and what came of it.',
  prefix: 'gate_record',
  schema: NotificationSchema,
  checks: [checkMoments(['asked_at', 'at']), checkOrder(['asked_at', 'at']), checkReason],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
