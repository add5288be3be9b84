/**
 * One line of `--jsonl`: `{"as"?, "context"?, "document"}`. A line that is no envelope is answered
 * like any other, with a refusal; it never stops the lines behind it.
 */
import { isUtf8 } from 'node:buffer'
import {
  DOCUMENT_LIMITS,
  envelopeLimits,
  GRAPH_LIMITS,
  type Limits,
  nearest,
  readJson,
  showName,
} from '../base/index.ts'
import type { Context, Violation } from '../contracts/index.ts'

export type Envelope =
  | {
      readonly ok: true
      readonly as: string | null
      readonly context: Context
      readonly document: unknown
      /** The document is known to be within the limits of every contract. */
      readonly isSmall: boolean
    }
  | { readonly ok: false; readonly refusal: Violation }

/** The longest line that can hold a legal document of any contract. */
export const LINE_BYTES_MAX = envelopeLimits(GRAPH_LIMITS).bytesMax

/** Whatever fits in here is a legal size for every contract, envelope included. */
const SMALL: Limits = { ...DOCUMENT_LIMITS, depthMax: DOCUMENT_LIMITS.depthMax + 1 }

export function readEnvelope(
  line: Buffer | null,
  keys: readonly string[] = ENVELOPE_KEYS,
): Envelope {
  if (line === null)
    return refuse('document.too_large', '', `the line is longer than ${LINE_BYTES_MAX} bytes`)
  if (!isUtf8(line)) return refuse('document.not_json', '', 'the line is not UTF-8')
  const text = line.toString('utf8')
  const small = readJson(text, SMALL)
  if (small.ok) return open(small.value, true, keys)
  if (small.refusal.code !== 'document.too_large')
    return { ok: false, refusal: inDocument(small.refusal) }
  const large = readJson(text, envelopeLimits(GRAPH_LIMITS))
  return large.ok
    ? open(large.value, false, keys)
    : { ok: false, refusal: inDocument(large.refusal) }
}

const ENVELOPE_KEYS = ['as', 'context', 'document']

function open(value: unknown, isSmall: boolean, keys: readonly string[]): Envelope {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(
      'document.envelope',
      '',
      'the line is not an object',
      'write {"as": …, "context": …, "document": …}',
    )
  }
  const envelope = value as Readonly<Record<string, unknown>>
  for (const key of Object.keys(envelope)) {
    if (keys.includes(key)) continue
    const near = nearest(key, keys)
    return refuse(
      'document.envelope',
      `/${key}`,
      `an envelope has no key ${showName(key)}`,
      near === null ? undefined : `did you mean ${showName(near)}?`,
    )
  }
  const { as = null, context = {}, document } = envelope
  if (as !== null && typeof as !== 'string')
    return refuse('document.envelope', '/as', '`as` is not a string')
  if (!isContext(context))
    return refuse('document.envelope', '/context', '`context` is not an object')
  if (!Object.hasOwn(envelope, 'document')) {
    return refuse('document.envelope', '/document', 'the envelope holds no `document`')
  }
  return { ok: true, as, context, document, isSmall }
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

function refuse(code: Violation['code'], path: string, message: string, hint?: string): Envelope {
  return {
    ok: false,
    refusal: hint === undefined ? { code, path, message } : { code, path, message, hint },
  }
}
