/**
 * JSON Schemas of what `writ export` prints, written for these tests; they are not the published files.
 * `api_activity`, `base_event` and `metadata` of OCSF were read, the rest is from memory. The parts that
 * are used:
 *
 * - CloudEvents 1.0, JSON Schema of the project (cloudevents/spec, formats/cloudevents.json);
 * - OCSF 1.4, classes 6003 `api_activity` and 1001 `file_activity` with their required attributes
 *   (ocsf/ocsf-schema: events/application, events/system, objects; the served export of the schema could
 *   not be had, so the attributes are written down from the definitions);
 * - OTLP/JSON of opentelemetry-proto 1.x, `ExportTraceServiceRequest`;
 * - DSSE 1.0 envelopes, and in-toto Statement v1.
 */
const text = { type: 'string', minLength: 1 } as const
const MOMENT = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }
const HEX = (digits: number) => ({ type: 'string', pattern: `^[0-9a-f]{${digits}}$` })

export const CLOUD_EVENT = {
  type: 'object',
  required: ['id', 'source', 'specversion', 'type'],
  properties: {
    id: text,
    source: { ...text, pattern: '^urn:writ:[0-9a-f-]{36}:[a-z0-9._-]+$' },
    specversion: { const: '1.0' },
    type: text,
    datacontenttype: { const: 'application/json' },
    subject: text,
    time: MOMENT,
    data: { type: 'object' },
  },
  // Names of extensions are lower-case letters and digits.
  propertyNames: { pattern: '^[a-z0-9]+$' },
  additionalProperties: false,
}

const metadata = {
  type: 'object',
  required: ['product', 'version'],
  properties: {
    version: { type: 'string', pattern: '^1\\.\\d+\\.\\d+$' },
    product: { type: 'object', required: ['vendor_name'], properties: { name: text } },
    profiles: { type: 'array', items: text },
    log_name: text,
    sequence: { type: 'integer' },
    uid: text,
    original_time: text,
    correlation_uid: text,
  },
  additionalProperties: false,
}

const user = {
  type: 'object',
  properties: {
    name: text,
    domain: text,
    uid: text,
    type: text,
    type_id: { enum: [0, 1, 2, 3, 4, 5, 99] },
  },
  additionalProperties: false,
}

function ocsfClass(uid: number, activities: readonly number[], own: object, required: string[]) {
  return {
    type: 'object',
    required: [
      'activity_id',
      'category_uid',
      'class_uid',
      'metadata',
      'severity_id',
      'time',
      'type_uid',
      'actor',
      ...required,
    ],
    properties: {
      class_uid: { const: uid },
      category_uid: { const: Math.floor(uid / 1000) },
      activity_id: { enum: activities },
      activity_name: text,
      type_uid: { enum: activities.map((activity) => uid * 100 + activity) },
      time: { type: 'integer', minimum: 1_600_000_000_000 },
      severity_id: { enum: [0, 1, 2, 3, 4, 5, 6, 99] },
      status_id: { enum: [0, 1, 2, 99] },
      // Of the profile `security_control`.
      action_id: { enum: [0, 1, 2, 3, 4, 99] },
      metadata,
      actor: {
        type: 'object',
        required: ['user'],
        properties: { user },
        additionalProperties: false,
      },
      unmapped: { type: 'object' },
      ...own,
    },
    additionalProperties: false,
  }
}

const api = {
  type: 'object',
  required: ['operation'],
  properties: {
    operation: text,
    service: { type: 'object', properties: { name: text, uid: text }, additionalProperties: false },
  },
  additionalProperties: false,
}
const endpoint = {
  type: 'object',
  properties: { uid: text, name: text },
  additionalProperties: false,
}
const hash = {
  type: 'object',
  required: ['algorithm_id', 'value'],
  properties: { algorithm_id: { const: 3 }, algorithm: { const: 'SHA-256' }, value: HEX(64) },
  additionalProperties: false,
}
const file = {
  type: 'object',
  required: ['name', 'type_id'],
  properties: {
    name: text,
    path: text,
    type_id: { enum: [0, 1, 2, 3, 4, 5, 6, 7, 99] },
    size: { type: 'integer', minimum: 0 },
    hashes: { type: 'array', items: hash },
  },
  additionalProperties: false,
}
const device = {
  type: 'object',
  required: ['type_id'],
  properties: { type_id: { type: 'integer' }, uid: text },
  additionalProperties: false,
}

export const OCSF = {
  oneOf: [
    ocsfClass(6003, [1, 2, 3, 4, 99], { api, src_endpoint: endpoint }, ['api', 'src_endpoint']),
    ocsfClass(1001, [1, 2, 3, 4, 5, 6], { file, device }, ['file', 'device']),
  ],
}

const attributes = {
  type: 'array',
  items: {
    type: 'object',
    required: ['key', 'value'],
    properties: {
      key: text,
      value: {
        type: 'object',
        required: ['stringValue'],
        properties: { stringValue: { type: 'string' } },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  },
}
const NANOS = { type: 'string', pattern: '^\\d{19}$' }
const span = {
  type: 'object',
  required: ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
  properties: {
    traceId: HEX(32),
    spanId: HEX(16),
    parentSpanId: HEX(16),
    name: text,
    kind: { enum: [0, 1, 2, 3, 4, 5] },
    startTimeUnixNano: NANOS,
    endTimeUnixNano: NANOS,
    attributes,
    status: { type: 'object', properties: { code: { enum: [0, 1, 2] } } },
  },
  additionalProperties: false,
}
const list = (items: object) => ({ type: 'array', minItems: 1, items })
const only = (properties: object) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
  additionalProperties: false,
})

export const OTLP = only({
  resourceSpans: list(
    only({
      resource: only({ attributes }),
      scopeSpans: list(only({ scope: only({ name: text }), spans: list(span) })),
    }),
  ),
})

const BASE64 = {
  type: 'string',
  pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
}

export const DSSE = only({
  payloadType: { const: 'application/vnd.in-toto+json' },
  payload: BASE64,
  signatures: list(only({ keyid: text, sig: BASE64 })),
})

export const STATEMENT = only({
  _type: { const: 'https://in-toto.io/Statement/v1' },
  subject: list(only({ name: text, digest: only({ sha256: HEX(64) }) })),
  predicateType: { type: 'string', pattern: '^https://' },
  predicate: { type: 'object' },
})
