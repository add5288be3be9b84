/**
 * What the formats of `writ export` are, from their publishers (N-2):
 *
 * - CloudEvents 1.0: the JSON Schema of cloudevents/spec, as the package `cloudevents` compiles it;
 * - OTLP: the messages of opentelemetry-proto 1.7.0, as `@opentelemetry/otlp-transformer` 0.203 has them;
 * - DSSE 1.0: the message of `@sigstore/protobuf-specs`, and the signed bytes of `@sigstore/core`;
 * - OCSF 1.7.0 and in-toto Statement v1: no package of the registry has them. The schemas here hold the
 *   published names, types, numbers and constraints of the attributes that are used (ocsf/ocsf-schema:
 *   `api_activity`, `file_activity`, their objects, profile `security_control`; in-toto/attestation:
 *   `spec/v1`), and refuse every other attribute.
 */
import { createRequire } from 'node:module'
import { dsse } from '@sigstore/core'
import { Envelope } from '@sigstore/protobuf-specs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { CloudEvent } from 'cloudevents'
import type { Json } from '../cli-gate/place.ts'

/** Returns what is wrong with a document; null if it follows its format. */
export type Judge = (document: Json) => string | null

const ajv = new Ajv2020({ strict: false })

function judgeBy(schema: object): Judge {
  const validate = ajv.compile(schema)
  return (document) => (validate(document) ? null : JSON.stringify(validate.errors))
}

// Generated code, loaded as it is.
const load = createRequire(import.meta.url)
const cloudEventSchema = load('cloudevents/dist/schema/v1.js')
const { opentelemetry } = load('@opentelemetry/otlp-transformer/build/src/generated/root.js')

export const judgeCloudEvent: Judge = (document) => {
  if (!cloudEventSchema(document)) return JSON.stringify(cloudEventSchema.errors)
  try {
    // Also looks at the names of extensions.
    new CloudEvent(document, true)
    return null
  } catch (error) {
    return String(error)
  }
}

const TraceRequest = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest
const READ = { longs: String, bytes: String, enums: Number }

/** A document that is nothing but the message comes back from its bytes as it was. */
export const judgeTraces: Judge = (document) => {
  // OTLP writes ids in hexadecimal, which is all that its JSON differs in from that of protobuf.
  const plain = JSON.parse(JSON.stringify(document), (key, value) =>
    /^(?:trace|span|parentSpan)Id$/.test(key) && /^(?:[0-9a-f]{2})+$/.test(value)
      ? Buffer.from(value, 'hex').toString('base64')
      : value,
  )
  const fault = TraceRequest.verify(TraceRequest.fromObject(plain))
  if (fault !== null) return fault
  const bytes = TraceRequest.encode(TraceRequest.fromObject(plain)).finish()
  const back = TraceRequest.toObject(TraceRequest.decode(bytes), READ)
  return sorted(back) === sorted(plain) ? null : `${sorted(plain)} was read as ${sorted(back)}`
}

export const judgeEnvelope: Judge = (document) => {
  const back = Envelope.toJSON(Envelope.fromJSON(document))
  return sorted(back) === sorted(document) ? null : `it was read as ${sorted(back)}`
}

/** The bytes that a signature of an envelope is over. */
export function signedBytes({ payloadType, payload }: Json): Buffer {
  return dsse.preAuthEncoding(payloadType, Buffer.from(payload, 'base64'))
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

const text = { type: 'string', minLength: 1 } as const
const HEX = (digits: number) => ({ type: 'string', pattern: `^[0-9a-f]{${digits}}$` })
const closed = (required: readonly string[], properties: object, constraint: object = {}) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
  ...constraint,
})
/** The constraint `at_least_one` of OCSF. */
const oneOf = (...names: string[]) => ({ anyOf: names.map((name) => ({ required: [name] })) })

const product = closed([], { name: text, vendor_name: text, version: text }, oneOf('name', 'uid'))
const metadata = closed(['product', 'version'], {
  version: { const: '1.7.0' },
  product,
  profiles: { type: 'array', items: { const: 'security_control' }, minItems: 1 },
  log_name: text,
  sequence: { type: 'integer' },
  uid: text,
  correlation_uid: text,
})
const user = closed(
  [],
  { name: text, domain: text, uid: text, type: text, type_id: { enum: [0, 1, 2, 3, 4, 99] } },
  oneOf('account', 'name', 'uid'),
)
const actor = closed([], { user }, oneOf('process', 'user', 'session', 'app_name', 'app_uid'))

/** Attributes of every class, then those of its own. */
function ocsfClass(uid: number, activities: readonly number[], own: object) {
  const base = ['activity_id', 'category_uid', 'class_uid', 'metadata', 'severity_id', 'time']
  return closed([...base, 'type_uid', 'actor', ...Object.keys(own)], {
    class_uid: { const: uid },
    category_uid: { const: Math.floor(uid / 1000) },
    activity_id: { enum: activities },
    activity_name: text,
    type_uid: { enum: activities.map((activity) => uid * 100 + activity) },
    time: { type: 'integer', minimum: 1_600_000_000_000 },
    severity_id: { enum: [0, 1, 2, 3, 4, 5, 6, 99] },
    status_id: { enum: [0, 1, 2, 99] },
    action_id: { enum: [0, 1, 2, 99] },
    metadata,
    actor,
    unmapped: { type: 'object' },
    ...own,
  })
}

const service = closed([], { name: text, uid: text }, oneOf('name', 'uid'))
const endpoint = closed([], { uid: text, name: text }, oneOf('ip', 'uid', 'name', 'hostname'))
const hash = closed(['algorithm_id', 'value'], {
  algorithm_id: { const: 3 },
  algorithm: { const: 'SHA-256' },
  value: HEX(64),
})
const file = closed(['name', 'type_id'], {
  name: text,
  path: text,
  type_id: { enum: [0, 1, 2, 3, 4, 5, 6, 7, 8, 99] },
  size: { type: 'integer', minimum: 0 },
  hashes: { type: 'array', items: hash },
})
const device = closed(
  ['type_id'],
  { type_id: { enum: [...Array(16).keys(), 99] }, uid: text },
  oneOf('ip', 'uid', 'name', 'hostname', 'instance_uid', 'interface_uid', 'interface_name'),
)
const FILE_ACTIVITIES = [...Array(15).keys(), 99]

export const judgeOcsf = judgeBy({
  oneOf: [
    ocsfClass(6003, [0, 1, 2, 3, 4, 99], {
      api: closed(['operation'], { operation: text, service }),
      src_endpoint: endpoint,
    }),
    ocsfClass(1001, FILE_ACTIVITIES, { file, device }),
  ],
  // An attribute of a profile comes with the name of the profile, and the other way round.
  anyOf: [
    { required: ['action_id'], properties: { metadata: { required: ['profiles'] } } },
    { properties: { action_id: false, metadata: { properties: { profiles: false } } } },
  ],
})

/** Of the algorithms of a DigestSet, `sha256` in lower-case hexadecimal. */
const subject = closed(['digest'], { name: text, digest: closed(['sha256'], { sha256: HEX(64) }) })

export const judgeStatement = judgeBy(
  closed(['_type', 'subject', 'predicateType'], {
    _type: { const: 'https://in-toto.io/Statement/v1' },
    subject: { type: 'array', minItems: 1, items: subject },
    // A TypeURI.
    predicateType: { type: 'string', pattern: '^https://[^\\s]+$' },
    predicate: { type: 'object' },
  }),
)
