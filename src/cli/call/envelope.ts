/**
 * One line of `--jsonl`: `{"as"?, "context"?, "document"}`. A line that is no envelope is answered
 * like any other, with a refusal; it never stops the lines behind it.
 */
import { isUtf8 } from 'node:buffer'
import {
  at,
  DOCUMENT_LIMITS,
  envelopeLimits,
  GRAPH_LIMITS,
  type JsonLimits,
  nearest,
  readJson,
  showName,
} from '../../base/index.ts'
import type { Context, Violation } from '../../contracts/index.ts'

type Envelope =
  | {
      readonly ok: true
      readonly as: string | null
      readonly context: Context
      readonly document: unknown
      /** The document is known to be within the limits of every contract. */
      readonly isSmall: boolean
    }
  | { readonly ok: false; readonly refusal: Violation }

type LineReading =
  | {
      readonly ok: true
      readonly value: Readonly<Record<string, unknown>>
      readonly isSmall: boolean
    }
  | { readonly ok: false; readonly refusal: Violation }

/** The longest line that can hold a legal document of any contract. */
export const LINE_BYTES_MAX = envelopeLimits(GRAPH_LIMITS).bytesMax

/** A line within these limits is of a legal size for every contract, envelope included. */
const SMALL: JsonLimits = { ...DOCUMENT_LIMITS, depthMax: DOCUMENT_LIMITS.depthMax + 1 }

/** Reads a line strictly as an object that has none but these keys. */
export function readLine(line: Buffer | null, keys: readonly string[]): LineReading {
  if (line === null) {
    return refuse('document.too_large', '', `the line is longer than ${LINE_BYTES_MAX} bytes`)
  }
  if (!isUtf8(line)) return refuse('document.not_json', '', 'the line is not UTF-8')
  const text = line.toString('utf8')
  const small = readJson(text, SMALL)
  if (small.ok) return onlyKeys(small.value, true, keys)
  if (small.refusal.code !== 'document.too_large') return { ok: false, refusal: small.refusal }
  const large = readJson(text, envelopeLimits(GRAPH_LIMITS))
  return large.ok ? onlyKeys(large.value, false, keys) : { ok: false, refusal: large.refusal }
}

const ENVELOPE_KEYS = ['as', 'context', 'document']

/** Reads a line of `check` and `normalize`. */
export function readEnvelope(line: Buffer | null): Envelope {
  const reading = readLine(line, ENVELOPE_KEYS)
  if (!reading.ok) return { ok: false, refusal: inDocument(reading.refusal) }
  const { as = null, context = {}, document } = reading.value
  if (as !== null && typeof as !== 'string') {
    return refuse('document.envelope', '/as', '`as` is not a string')
  }
  if (!isContext(context))
    return refuse('document.envelope', '/context', '`context` is not an object')
  if (document === undefined) {
    return refuse('document.envelope', '/document', 'the envelope holds no `document`')
  }
  return { ok: true, as, context, document, isSmall: reading.isSmall }
}

function onlyKeys(value: unknown, isSmall: boolean, keys: readonly string[]): LineReading {
  const form = `{${keys.map((key) => `"${key}": …`).join(', ')}}`
  if (!isContext(value)) {
    return refuse('document.envelope', '', 'the line is not an object', `a line is ${form}`)
  }
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  if (unknown === undefined) return { ok: true, value, isSmall }
  const near = nearest(unknown, keys)
  const hint = near === null ? `a line is ${form}` : `did you mean ${showName(near)}?`
  return refuse(
    'document.envelope',
    at('', unknown),
    `a line has no key ${showName(unknown)}`,
    hint,
  )
}

function isContext(value: unknown): value is Context {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Places inside the document are named as if it stood alone. */
function inDocument(refusal: Violation): Violation {
  const { path } = refusal
  const inside = path === '/document' || path.startsWith('/document/')
  return inside ? { ...refusal, path: path.slice('/document'.length) } : refusal
}

function refuse(
  code: Violation['code'],
  path: string,
  message: string,
  hint?: string,
): { readonly ok: false; readonly refusal: Violation } {
  const refusal = { code, path, message }
  return { ok: false, refusal: hint === undefined ? refusal : { ...refusal, hint } }
}
