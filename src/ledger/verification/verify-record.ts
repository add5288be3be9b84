/**
 * Checks the record of a stored fact against its contract, and the objects that it names: the payload
 * of a long record, the bodies behind a redacted view, the unredacted original.
 *
 * A redacted view is validated first. If it breaks its contract because of the removed values, the
 * original decides, as long as the store has it.
 */
import {
  canonicalJson,
  type Digest,
  DOCUMENT_LIMITS,
  guardValue,
  isDigest,
  isRefusal,
} from '../../base/index.ts'
import { findContract, judge } from '../../contracts/index.ts'
import { type BodyRule, contentOf, markedBodies, namedContents } from '../facts/body.ts'
import type { FactRecord } from '../facts/fact.ts'
import { termsOf } from '../facts/term.ts'
import type { Wrong } from './verify-keys.ts'

/** Something that a fact names by its digest. */
export interface Reference {
  readonly seq: number
  readonly digest: Digest
  /** What it has to be long: a body without its salt. Null if the fact does not say. */
  readonly bytes: number | null
  /** `content` has no salt: laws, lists, lists of changes, flows. */
  readonly kind: 'payload' | 'body' | 'original' | 'content'
  readonly record: FactRecord
  /** The view alone does not follow the contract; the original has to. */
  readonly mustFollow: boolean
}

export interface RecordFinding {
  readonly wrong: Wrong | null
  readonly references: readonly Reference[]
  /** The payload of a long record, if it follows its contract. */
  readonly payload?: unknown
}

const KEYS = new Set([
  'type',
  'payload',
  'payload_ref',
  'bytes',
  'refs',
  'idempotency_key',
  'original',
])

export function checkRecord(
  record: FactRecord,
  seq: number,
  rules: readonly BodyRule[],
): RecordFinding {
  const shape = shapeFault(record)
  if (shape !== null) return { wrong: breach(shape), references: [] }
  const original = referenceTo(record, seq, 'original')
  if (record.payload === undefined) {
    return { wrong: null, references: [...referenceTo(record, seq, 'payload'), ...original] }
  }
  const said = judgePayload(record.type, record.payload)
  const bodies = bodiesOf(record, seq, record.payload, rules)
  if (said === null) return { wrong: null, references: [...bodies, ...original] }
  if (original.length === 0) return { wrong: breach(said), references: bodies }
  const [first] = original
  const deciding = first === undefined ? [] : [{ ...first, mustFollow: true }]
  return { wrong: null, references: [...bodies, ...deciding] }
}

function shapeFault(record: FactRecord): string | null {
  if (!Object.keys(record).every((key) => KEYS.has(key))) return 'the record has other keys'
  const { payload_ref: reference, bytes, original, idempotency_key: key } = record
  if ((record.payload === undefined) === (reference === undefined)) {
    return 'the record has not exactly one of payload and payload_ref'
  }
  if (reference !== undefined && !(isDigest(reference) && isCount(bytes))) {
    return 'the reference to the payload is none'
  }
  if (key !== undefined && typeof key !== 'string') return 'the idempotency key is no text'
  if (original === undefined) return null
  const isCommitment =
    typeof original === 'object' &&
    original !== null &&
    typeof original.body === 'string' &&
    isDigest(original.body) &&
    isCount(original.bytes)
  return isCommitment ? null : 'the commitment to the original is none'
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function referenceTo(
  record: FactRecord,
  seq: number,
  kind: 'payload' | 'original',
): readonly Reference[] {
  const named =
    kind === 'payload'
      ? { digest: record.payload_ref, bytes: record.bytes ?? 0 }
      : { digest: record.original?.body, bytes: record.original?.bytes ?? 0 }
  const { digest, bytes } = named
  if (digest === undefined || !isDigest(digest)) return []
  return [{ seq, digest, bytes, kind, record, mustFollow: false }]
}

/** The bodies behind the redacted places of a payload, and the contents that it names. */
function bodiesOf(
  record: FactRecord,
  seq: number,
  payload: unknown,
  rules: readonly BodyRule[],
): readonly Reference[] {
  const rule = rules.find(({ type }) => type === record.type)
  const of = { seq, record, mustFollow: false }
  return [
    ...markedBodies(payload, rule).map((body) => ({ ...of, ...body, kind: 'body' as const })),
    ...namedContents(record.type, payload).map((digest) => {
      return { ...of, digest, bytes: null, kind: 'content' as const }
    }),
  ]
}

/**
 * Whether the bytes that a reference led to are what the fact says; they have its digest. A payload
 * kept by reference names bodies of its own.
 */
export function checkReferenced(
  reference: Reference,
  bytes: Uint8Array,
  rules: readonly BodyRule[],
): RecordFinding {
  const { kind, record, seq } = reference
  if (kind === 'content') return found(null)
  const content = kind === 'payload' ? bytes : contentOf(bytes)
  if (content.length !== reference.bytes) return found(`the ${kind} has another length`)
  if (kind === 'body' || (kind === 'original' && !reference.mustFollow)) return found(null)
  const text = new TextDecoder().decode(content)
  const payload = parse(text, record.type)
  if (payload === undefined || canonicalJson(payload) !== text) {
    return found(`the ${kind} is not canonical JSON`)
  }
  if (kind === 'payload' && !hasTerms(record, payload)) {
    return found('the search terms of the fact are not those of its payload')
  }
  const bodies = kind === 'payload' ? bodiesOf(record, seq, payload, rules) : []
  const finding = found(judgePayload(record.type, payload), bodies)
  return kind === 'payload' && finding.wrong === null ? { ...finding, payload } : finding
}

function found(said: string | null, references: readonly Reference[] = []): RecordFinding {
  return { wrong: said === null ? null : breach(said), references }
}

function hasTerms(record: FactRecord, payload: unknown): boolean {
  const terms = termsOf({ type: record.type, payload })
  return canonicalJson(record.refs ?? {}) === canonicalJson(terms)
}

function parse(text: string, type: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    const limits = findContract(type)?.limits ?? DOCUMENT_LIMITS
    return isRefusal(guardValue(value, limits)) ? undefined : value
  } catch {
    return undefined
  }
}

/**
 * What a contract can only say with a second document at hand. It was judged with it when the fact was
 * written; for a receipt the integrity report of its task judges it again.
 */
const NEEDS_CONTEXT: ReadonlySet<string> = new Set(['receipt.free_string'])

/** The first violation in words; null when the payload follows the contract of its type. */
function judgePayload(type: string, payload: unknown): string | null {
  const contract = findContract(type)
  if (contract === null || !contract.isRecord) return 'no contract has the type of this record'
  const first = judge(contract, payload).violations.find(({ code }) => !NEEDS_CONTEXT.has(code))
  return first === undefined ? null : `${first.code} at \`${first.path}\`: ${first.message}`
}

function breach(message: string): Wrong {
  return { code: 'fact.contract', message }
}
