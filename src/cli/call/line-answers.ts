/**
 * The loop of every `--jsonl` command: one answer a line, in order, in bounded memory. Exits 1 if
 * any line was answered no.
 *
 * One line of `--jsonl`: `{"as"?, "context"?, "document"}`. A line that is no envelope is answered
 * like any other, with a refusal; it never stops the lines behind it.
 */
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import {
  at,
  DOCUMENT_LIMITS,
  envelopeLimits,
  FaultError,
  GRAPH_LIMITS,
  type JsonLimits,
  nearest,
  readJson,
  showName,
} from '../../base/index.ts'
import type { Context, Violation } from '../../contracts/index.ts'
import { isObject } from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from './command.ts'
import { openSource, unreadable } from './source.ts'

const FLUSH_LENGTH = 1 << 16
const NEWLINE = 0x0a
/** The longest line that can hold a legal document of any contract. */
const LINE_BYTES_MAX = envelopeLimits(GRAPH_LIMITS).bytesMax
/** A line within these limits is of a legal size for every contract, envelope included. */
const SMALL: JsonLimits = { ...DOCUMENT_LIMITS, depthMax: DOCUMENT_LIMITS.depthMax + 1 }
const ENVELOPE_KEYS = ['as', 'context', 'document']

export interface LineAnswer {
  readonly text: string
  readonly valid: boolean
}

export async function answerLines(
  call: CommandCall,
  answer: (line: Buffer | null) => LineAnswer,
): Promise<Exit> {
  const [file = '-', ...others] = call.arguments
  if (others.length > 0) throw usageError('`--jsonl` reads one file, or standard input')
  let pending = ''
  let allValid = true
  try {
    await eachLine(openSource(file), LINE_BYTES_MAX, (line) => {
      const { text, valid } = answer(line)
      allValid &&= valid
      pending += text
      if (pending.length < FLUSH_LENGTH) return undefined
      const flushed = call.terminal.out(pending)
      pending = ''
      return flushed
    })
  } catch (thrown) {
    // Only errors of the system name a system call.
    throw (thrown as NodeJS.ErrnoException).syscall === undefined
      ? thrown
      : new FaultError(unreadable(file, thrown))
  }
  await call.terminal.out(pending)
  return allValid ? EXIT.yes : EXIT.no
}

/**
 * Splits a byte stream into lines without holding more than one line and one chunk. A line that
 * passes the limit is not gathered: it is given as null, and reading goes on behind it.
 *
 * Calls `take` for every line in order; awaits what it returns, so a slow reader holds the stream.
 */
async function eachLine(
  stream: Readable,
  bytesMax: number,
  take: (line: Buffer | null) => Promise<void> | undefined,
): Promise<void> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const piece of stream) {
    const chunk: Buffer = piece // The stream has no encoding.
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const bytes = restBytes + end - start
      const waited = take(bytes > bytesMax ? null : joined(rest, chunk.subarray(start, end)))
      if (waited !== undefined) await waited
      rest = []
      restBytes = 0
      start = end + 1
    }
    restBytes += chunk.length - start
    // Past the limit only the count is kept.
    if (restBytes > bytesMax) rest = []
    else if (start < chunk.length) rest.push(chunk.subarray(start))
  }
  if (restBytes > 0) await take(restBytes > bytesMax ? null : joined(rest, Buffer.alloc(0)))
}

function joined(rest: readonly Buffer[], last: Buffer): Buffer {
  return rest.length === 0 ? last : Buffer.concat([...rest, last])
}

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

type ParsedLine =
  | {
      readonly ok: true
      readonly value: Readonly<Record<string, unknown>>
      readonly isSmall: boolean
    }
  | { readonly ok: false; readonly refusal: Violation }

/** Reads a line strictly as an object that has none but these keys. */
export function readLine(line: Buffer | null, keys: readonly string[]): ParsedLine {
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

/** Reads a line of `check` and `normalize`. */
export function readEnvelope(line: Buffer | null): Envelope {
  const reading = readLine(line, ENVELOPE_KEYS)
  if (!reading.ok) return { ok: false, refusal: inDocument(reading.refusal) }
  const { as = null, context = {}, document } = reading.value
  if (as !== null && typeof as !== 'string') {
    return refuse('document.envelope', '/as', '`as` is not a string')
  }
  if (!isObject(context))
    return refuse('document.envelope', '/context', '`context` is not an object')
  if (document === undefined) {
    return refuse('document.envelope', '/document', 'the envelope holds no `document`')
  }
  return { ok: true, as, context, document, isSmall: reading.isSmall }
}

function onlyKeys(value: unknown, isSmall: boolean, keys: readonly string[]): ParsedLine {
  const form = `{${keys.map((key) => `"${key}": …`).join(', ')}}`
  if (!isObject(value)) {
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
