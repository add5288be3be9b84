/**
 * Dispatch of tasks to devices (D-1). `dispatch_v1` is one step of a task on its way to its device:
 * facts of one task are numbered from 0, so that of two processes that take the same step one finds it
 * taken. `device_key_v1` is what a human says about the key of a device; a fact of the host's stream.
 *
 * Also the ways to devices, as the law file names them. Keys are names of kept secrets, never values.
 *
 * Deliberately absent: anything that would change the task, such as a rank, a mode or a trigger.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, showName } from '../../base/index.ts'
import { type Contract, elements, field, type Subject } from '../kernel/contract.ts'
import {
  Count,
  checkMoments,
  closed,
  DigestText,
  demandField,
  Moment,
  Reason,
  refuseField,
  Word,
} from './shapes.ts'

const DISPATCH_EVENTS = [
  'offered',
  'claimed',
  'started',
  'answered',
  'silent',
  'unknown',
  'withdrawn',
] as const

export type DispatchEventName = (typeof DISPATCH_EVENTS)[number]

/** Ids of devices are levels of MQTT topics and parts of addresses. */
const DeviceWord = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  'x-code': { pattern: 'device' },
  'x-says': 'letters, digits, `.`, `_` and `-`, at most 64',
})

const DeviceSchema = Type.Object({ id: DeviceWord, namespace: DeviceWord }, closed)

export type DeviceName = Type.Static<typeof DeviceSchema>

const KeyText = Type.String({
  pattern: '^[A-Za-z0-9+/]{43}=$',
  'x-code': { pattern: 'proof' },
  'x-says': 'an Ed25519 public key in base64',
})

/** A device's signature over its message, and the key that made it. */
const ProofSchema = Type.Object(
  {
    key: KeyText,
    sig: Type.String({
      pattern: '^[A-Za-z0-9+/]{86}==$',
      'x-code': { pattern: 'proof' },
      'x-says': 'an Ed25519 signature in base64',
    }),
  },
  closed,
)

const DispatchSchema = Type.Object(
  {
    act_task_id: Word,
    /** Counts the steps of this task from 0. */
    step: Count,
    event: Type.Enum([...DISPATCH_EVENTS]),
    at: Moment,
    /** Of an offer: to whom, by which way of the settings (`http`: the device asks for it). */
    device: Type.Optional(DeviceSchema),
    way: Type.Optional(Word),
    /** Of an offer: 128 random bits that every answer to it repeats. */
    nonce: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        'x-code': { pattern: 'code' },
        'x-says': '32 hex digits',
      }),
    ),
    /** Of an offer: the digest of the task; of an answer: of the receipt without `created_at_ts`. */
    digest: Type.Optional(DigestText),
    /** Of a claim, and of the start under it. */
    lease: Type.Optional(Word),
    lease_until: Type.Optional(Moment),
    /** Of a start: when a receipt is due. */
    due_at: Type.Optional(Moment),
    /** Where the device signed what it said; without it, it showed its token. */
    proof: Type.Optional(ProofSchema),
    reason: Type.Optional(Reason),
  },
  closed,
)

export type DispatchFact = Type.Static<typeof DispatchSchema>

/** Which of the optional fields belong to which event; a star marks those that must be there. */
const FIELDS: Readonly<Record<DispatchEventName, readonly string[]>> = {
  offered: ['device*', 'way*', 'nonce*', 'digest*'],
  claimed: ['lease*', 'lease_until*', 'proof'],
  started: ['lease*', 'due_at*', 'proof'],
  answered: ['digest*', 'proof*'],
  silent: [],
  unknown: [],
  withdrawn: ['reason'],
}
const OPTIONAL = [
  'device',
  'way',
  'nonce',
  'digest',
  'lease',
  'lease_until',
  'due_at',
  'proof',
  'reason',
] as const

function checkFields(subject: Subject): void {
  const event = DISPATCH_EVENTS.find((known) => known === field(subject.document, 'event'))
  if (event === undefined) return
  for (const name of OPTIONAL) {
    const because = `for the event ${showName(event)}`
    if (FIELDS[event].includes(`${name}*`)) demandField(subject, name, because)
    else if (!FIELDS[event].includes(name)) refuseField(subject, name, because)
  }
}

export const dispatchContract: Contract = {
  name: 'dispatch_v1',
  title: 'One step of a task on its way to its device.',
  prefix: 'gate_record',
  schema: DispatchSchema,
  checks: [checkFields, checkMoments(['at', 'lease_until', 'due_at'])],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

const DeviceKeySchema = Type.Object(
  {
    change: Type.Enum(['set', 'removed']),
    device: DeviceSchema,
    key: Type.Optional(KeyText),
    at: Moment,
  },
  closed,
)

export type DeviceKeyChange = Type.Static<typeof DeviceKeySchema>

function checkKey(subject: Subject): void {
  const change = field(subject.document, 'change')
  if (change === 'set') demandField(subject, 'key', 'where a key is set')
  if (change === 'removed') refuseField(subject, 'key', 'where a key is removed')
}

export const deviceKeyContract: Contract = {
  name: 'device_key_v1',
  title: 'The key with which a device signs what it reports.',
  prefix: 'gate_record',
  schema: DeviceKeySchema,
  checks: [checkKey, checkMoments(['at'])],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

const DISPATCH_KINDS = ['mqtt', 'webhook'] as const

const SecretName = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{0,63}$',
  'x-code': { pattern: 'dispatch' },
  'x-says': 'the name of a key that `writ secret set` keeps, in capital letters',
})

const OneLine = Type.String({
  pattern: '^[^\\r\\n]+$',
  'x-code': { pattern: 'dispatch' },
  'x-says': 'a text on one line',
})

export const DispatchWaySchema = Type.Object(
  {
    /** What the record calls it. */
    name: Type.String({
      pattern: '^(?!http$)[A-Za-z][A-Za-z0-9_-]{0,63}$',
      'x-code': { pattern: 'dispatch' },
      'x-says': 'a word that begins with a letter; `http` is the way of devices that ask',
    }),
    kind: Type.Enum([...DISPATCH_KINDS]),
    /** `mqtts://HOST:PORT` of a broker; `https://…` of a receiver, `http://` on this machine only. */
    url: Type.String({
      pattern:
        '^(?:mqtts://[^\\s/@]+|https://[^\\s@]+|http://(?:127\\.0\\.0\\.1|localhost|\\[::1\\])(?::\\d+)?(?:/[^\\s@]*)?)$',
      'x-code': { pattern: 'dispatch' },
      'x-says': 'an address that begins with `mqtts://` or `https://`, without a password',
    }),
    /** The devices that it reaches, such as `pump-3@north-farm` or `*@north-farm`. */
    devices: Type.Array(
      Type.String({
        pattern: '^(?:\\*|[A-Za-z0-9][A-Za-z0-9._-]*)@(?:\\*|[A-Za-z0-9][A-Za-z0-9._-]*)$',
        'x-code': { pattern: 'dispatch' },
        'x-says': 'ID@NAMESPACE, with a star for any',
      }),
      { minItems: 1, 'x-code': { minItems: 'dispatch' } },
    ),
    /** The password at the broker, or the key that signs the webhook. */
    secret: Type.Optional(SecretName),
    user: Type.Optional(OneLine),
    /** A file with the certificates that the broker's is checked with; the system's without it. */
    ca: Type.Optional(OneLine),
    /** What the topics are below; `writ` without it. */
    prefix: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*$',
        'x-code': { pattern: 'dispatch' },
        'x-says': 'levels of a topic without `+` and `#`',
      }),
    ),
  },
  closed,
)

export type DispatchWay = Type.Static<typeof DispatchWaySchema>

const OF_BROKER = ['user', 'ca', 'prefix']

/** Judges the ways to devices of a law file, below `settings`. */
export function checkDispatch({ document, report }: Subject): void {
  const names = new Set<unknown>()
  for (const [index, way] of elements(field(document['settings'], 'dispatch')).entries()) {
    const place = `/settings/dispatch/${index}`
    const [name, kind, url] = [field(way, 'name'), field(way, 'kind'), field(way, 'url')]
    if (typeof name === 'string' && names.has(name)) {
      report.add('laws.duplicate_id', `${place}/name`, `the name ${showName(name)} is used twice`)
    }
    names.add(name)
    if (typeof url === 'string' && url.startsWith('mqtts://') !== (kind === 'mqtt')) {
      report.add('laws.dispatch', `${place}/url`, 'the address is not one of this kind of way')
    }
    const wanted = kind === 'mqtt' ? ['user', 'secret'] : ['secret']
    for (const one of wanted.filter((each) => field(way, each) === undefined)) {
      report.add('laws.dispatch', place, `a way of this kind needs ${showName(one)}`)
    }
    for (const one of kind === 'webhook' ? OF_BROKER : []) {
      if (field(way, one) === undefined) continue
      report.add('laws.dispatch', `${place}/${one}`, `only a broker has ${showName(one)}`)
    }
  }
}
