/**
 * Facts (L-1): `{ seq, fact_id, occurred_at, source, stream, principal, record }`. A caller passes an
 * entry, and `prepareFact` judges it and makes a draft. The store adds sequence number, id and time.
 * The sealed text is hashed and never changes.
 *
 * INVARIANT (canonical bytes): the text of a fact is its RFC 8785 form, so the leaf follows from the
 * document alone. By the order of keys, the parts that the store adds surround those of the draft: a
 * store seals a fact by joining texts, without parsing it again.
 * INVARIANT (small facts): a fact is at most 65,535 bytes, the most that a tile's bundle can state.
 */
import {
  at,
  canonicalJson,
  DOCUMENT_LIMITS,
  digestBytes,
  envelopeLimits,
  guardValue,
  isRefusal,
  show,
  utf8Length,
} from '../../base/index.ts'
import { type Context, findContract, judge, type Violation } from '../../contracts/index.ts'
import { ENTRY_BYTES_MAX } from '../tree/tile.ts'
import { leafHash, nodeHash } from '../tree/tree.ts'
import { BODY_RULES, type BodyRule, redact, type StoredObject } from './body.ts'
import { termsOf } from './term.ts'

/** Facts of one tenant; the default one. */
export const MAIN_STREAM = 'main'
/** Facts about the host itself: keys, principals, laws, halt. */
export const HOST_STREAM = 'host'
/** A record whose canonical form is longer is kept by reference. */
export const RECORD_BYTES_MAX = 16 * 1024

export const PRINCIPAL_KINDS = ['human', 'ai', 'script', 'device'] as const

export interface Principal {
  readonly kind: (typeof PRINCIPAL_KINDS)[number]
  readonly id: string
  readonly namespace: string
}

/** The envelope of a record in a fact. It is open: seed 000 §C says "at least". */
export interface FactRecord {
  readonly type: string
  readonly payload?: unknown
  /** Replaces `payload` in a record that was too long: the place of the canonical payload. */
  readonly payload_ref?: string
  readonly bytes?: number
  /** By-reference records keep their search terms in the fact. */
  readonly refs?: Readonly<Record<string, string>>
  readonly idempotency_key?: string
  /** The commitment to the unredacted payload. */
  readonly original?: { readonly body: string; readonly bytes: number }
}

export interface Fact {
  readonly seq: number
  readonly fact_id: string
  readonly occurred_at: string
  readonly source: string
  readonly stream: string
  readonly principal: Principal
  readonly record: FactRecord
}

/** What a part of writ asks to be recorded. */
export interface LedgerEntry {
  readonly stream: string
  /** Which part of writ, or which host, saw it: `cli`, `gate`, `api`. */
  readonly source: string
  readonly principal: Principal
  readonly record: { readonly type: string; readonly payload: unknown }
  /** A retry with the same key in the same stream is one fact. */
  readonly idempotencyKey?: string
  /** What the contract is judged with besides the document. */
  readonly context?: Context
}

/** A judged entry, ready to be sealed. A plain value: it travels to the writer's thread. */
export interface FactDraft {
  readonly stream: string
  readonly idempotencyKey: string | null
  /** Canonical JSON of principal and record, the part between `occurred_at` and `seq`. */
  readonly middle: string
  /** Canonical JSON of source and stream, the part after `seq`. */
  readonly tail: string
  /** The store refuses the draft unless the stream has this many facts; null for any number. */
  readonly expectedSize: number | null
}

export type Preparation =
  | {
      readonly ok: true
      readonly draft: FactDraft
      /** The store must make these durable before it appends the draft. */
      readonly objects: readonly StoredObject[]
      /** Those of them that are salted, so that no other fact can name them. */
      readonly bodies: readonly StoredObject[]
    }
  | { readonly ok: false; readonly violations: readonly Violation[] }

export interface PrepareOptions {
  /** 32 fresh random bytes at each call. */
  readonly salt: () => Uint8Array
  readonly bodyRules?: readonly BodyRule[]
  readonly expectedSize?: number
}

const STREAM = /^[a-z0-9][a-z0-9._-]{0,63}$/
const SOURCE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,63}$/
const KEY = /^[\x21-\x7e]{1,200}$/

export function isStreamName(name: string): boolean {
  return STREAM.test(name)
}

/** Judges an entry and makes its draft, and the objects that the store must keep for it. */
export function prepareFact(entry: LedgerEntry, options: PrepareOptions): Preparation {
  const violations = [...checkEnvelope(entry), ...checkRecord(entry)]
  if (violations.length > 0) return { ok: false, violations }
  const { record, objects, bodies } = shapeRecord(entry, options)
  const principal = canonicalJson(pickPrincipal(entry.principal))
  const draft: FactDraft = {
    stream: entry.stream,
    idempotencyKey: entry.idempotencyKey ?? null,
    middle: `"principal":${principal},"record":${record}`,
    tail: `"source":${JSON.stringify(entry.source)},"stream":${JSON.stringify(entry.stream)}`,
    expectedSize: options.expectedSize ?? null,
  }
  const sealed = sealFact(draft, LONGEST_SEAL)
  if (!fits(sealed, ENTRY_BYTES_MAX)) return { ok: false, violations: [tooLarge(sealed)] }
  return { ok: true, draft, objects, bodies }
}

/** What the store adds to a draft. */
export interface FactSeal {
  /** The leaf's index in the tree: from 0, without gaps. */
  readonly seq: number
  readonly factId: string
  /** ISO 8601 in UTC with milliseconds; never before the fact in front of it. */
  readonly occurredAt: string
}

const LONGEST_SEAL: FactSeal = {
  seq: Number.MAX_SAFE_INTEGER,
  factId: '0'.repeat(36),
  occurredAt: '0'.repeat(24),
}

/** Returns the canonical text of the fact. */
export function sealFact(draft: FactDraft, { seq, factId, occurredAt }: FactSeal): string {
  return `{"fact_id":"${factId}","occurred_at":"${occurredAt}",${draft.middle},"seq":${seq},${draft.tail}}`
}

/** Leaf = SHA-256(0x00 ‖ canonical fact). */
export function factLeaf(text: string | Uint8Array): Uint8Array {
  return leafHash(text)
}

/** The previous chain value of the first fact: 32 zero bytes. */
export const CHAIN_START = new Uint8Array(32)

/**
 * Returns the next value of the hash chain: H(0x01 ‖ previous ‖ leaf). The chain proves less than the
 * tree, but a row can be checked against its neighbour alone.
 */
export function chainNext(previous: Uint8Array, leaf: Uint8Array): Uint8Array {
  return nodeHash(previous, leaf)
}

export function occurredAtText(ms: number): string {
  return new Date(ms).toISOString()
}

function checkEnvelope({
  stream,
  source,
  principal,
  idempotencyKey,
}: LedgerEntry): readonly Violation[] {
  const violations: Violation[] = []
  if (typeof stream !== 'string' || !STREAM.test(stream)) {
    violations.push(
      wrong('fact.stream', '/stream', stream, 'a lower-case token of 1 to 64 characters'),
    )
  }
  if (typeof source !== 'string' || !SOURCE.test(source)) {
    violations.push(wrong('fact.source', '/source', source, 'a token of 1 to 64 characters'))
  }
  if (!isPrincipal(principal)) {
    violations.push(wrong('fact.principal', '/principal', principal, 'kind, id and namespace'))
  }
  if (idempotencyKey !== undefined && !KEY.test(idempotencyKey)) {
    violations.push(
      wrong(
        'fact.idempotency_key',
        '/idempotency_key',
        idempotencyKey,
        'a token of 1 to 200 characters',
      ),
    )
  }
  return violations
}

function wrong(code: Violation['code'], path: string, value: unknown, wanted: string): Violation {
  return { code, path, message: `expected ${wanted}, found ${show(value, path)}` }
}

export function isPrincipal(value: unknown): value is Principal {
  if (typeof value !== 'object' || value === null) return false
  // Any object has this type: every field is optional and unknown.
  const { kind, id, namespace } = value as Partial<Record<keyof Principal, unknown>>
  if (!PRINCIPAL_KINDS.some((known) => known === kind)) return false
  return isName(id) && isName(namespace)
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && value !== '' && value.length <= 256
}

function pickPrincipal({ kind, id, namespace }: Principal): Principal {
  return { kind, id, namespace }
}

/** The record's contract, with the paths of the fact. */
function checkRecord({ record, context }: LedgerEntry): readonly Violation[] {
  const envelope = findContract('record')
  const payloadLimits = findContract(String(record?.type))?.limits ?? DOCUMENT_LIMITS
  const census = guardValue(record, envelopeLimits(payloadLimits))
  const found = isRefusal(census)
    ? [census]
    : envelope === null
      ? []
      : judge(envelope, record, context ?? {}).violations
  return found.map((violation) => ({ ...violation, path: `${at('', 'record')}${violation.path}` }))
}

interface ShapedRecord {
  /** Canonical JSON. */
  readonly record: string
  readonly objects: readonly StoredObject[]
  readonly bodies: readonly StoredObject[]
}

/** Redacts, and moves a long payload out of the fact. */
function shapeRecord(
  { record, idempotencyKey }: LedgerEntry,
  options: PrepareOptions,
): ShapedRecord {
  const rules = options.bodyRules ?? BODY_RULES
  const rule = rules.find(({ type }) => type === record.type)
  const { payload, bodies, original } = redact(record.payload, rule, options.salt)
  const extras = {
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    ...(original === null ? {} : { original }),
  }
  const text = canonicalJson({ type: record.type, payload, ...extras })
  if (fits(text, RECORD_BYTES_MAX)) return { record: text, objects: bodies, bodies }
  const bytes = new TextEncoder().encode(canonicalJson(payload))
  const digest = digestBytes(bytes)
  const refs = termsOf({ type: record.type, payload })
  const short = { type: record.type, payload_ref: digest, bytes: bytes.length, refs, ...extras }
  return { record: canonicalJson(short), objects: [...bodies, { digest, bytes }], bodies }
}

/** Whether a text is at most so many bytes. A UTF-16 unit is three at most, so few are counted. */
function fits(text: string, bytesMax: number): boolean {
  if (text.length * 3 <= bytesMax) return true
  return text.length <= bytesMax && utf8Length(text) <= bytesMax
}

function tooLarge(sealed: string): Violation {
  return {
    code: 'fact.too_large',
    path: '',
    message: `the fact would be ${utf8Length(sealed)} bytes long, more than ${ENTRY_BYTES_MAX}`,
  }
}
