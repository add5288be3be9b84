/**
 * The strict JSON reader (C-3): a text in, a value or a refusal with code and place out. It never
 * throws and is linear in its input.
 *
 * The platform's parser does the work; two cheap passes add what it lets through. The guard walks
 * the value. A scan counts the keys in the text: fewer in the value than in the text means that an
 * object named a key twice. Only a refused text is read again, slowly, to find the exact place.
 *
 * The guard walks a value once and refuses what no document may hold: things that are not JSON, numbers that
 * do not survive a round trip, broken strings, and sizes past the limits (C-3).
 *
 * INVARIANT (bounded walk): recursion ends at `depthMax`, so cycles end too, and the walk stops at
 * `valuesMax`. The happy path builds no strings. The pointer is built while the refusal returns up the
 * stack, and the message after it, because a message must not show a value in a secret place.
 */
import type { JsonLimits, JsonRefusal, JsonRefusalCode } from './json-limits.ts'
import { locateRefusal } from './json-locate.ts'
import { at } from './pointer.ts'
import { show, showName } from './show.ts'

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: JsonRefusal }

const BROKEN_READ: RefusalDraft = {
  code: 'document.not_json',
  says: () => 'the value cannot be read as JSON',
  steps: [],
}

export function readJson(text: string, limits: JsonLimits): ParsedJson {
  if (
    text.length > limits.bytesMax ||
    (text.length > limits.bytesMax / 3 && utf8Length(text) > limits.bytesMax)
  ) {
    return refused({
      code: 'document.too_large',
      path: '',
      message: `the text is longer than ${limits.bytesMax} bytes`,
    })
  }
  const parsed = parse(text)
  if (parsed === NOT_JSON) return refused(locateRefusal(text, limits))
  const census = guardValue(parsed, limits)
  if (isRefusal(census)) return refused(locateRefusal(text, limits, census))
  if (countKeys(text) !== census.keys) return refused(locateRefusal(text, limits))
  return { ok: true, value: parsed }
}

const NOT_JSON = Symbol('not JSON')

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return NOT_JSON
  }
}

function refused(refusal: JsonRefusal): ParsedJson {
  return { ok: false, refusal }
}

/**
 * Counts the colons outside strings, one for each key. The text is known to be valid JSON, so a
 * quotation mark opens or closes a string and nothing else.
 */
function countKeys(text: string): number {
  const quotation = '"'
  let keys = 0
  let open = text.indexOf(quotation)
  const escapes = text.includes('\\')
  while (open !== -1) {
    let close = text.indexOf(quotation, open + 1)
    if (escapes) while (isEscaped(text, close)) close = text.indexOf(quotation, close + 1)
    let next = close + 1
    let unit = text.charCodeAt(next)
    while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09)
      unit = text.charCodeAt(++next)
    if (unit === 0x3a) keys++
    open = text.indexOf(quotation, next)
  }
  return keys
}

function isEscaped(text: string, quotation: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(quotation - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}

/** What the walk counted: the reader compares `keys` with the text to find duplicate keys. */
interface Census {
  keys: number
  values: number
  /** UTF-16 units in strings and keys, each at least one byte of any text of this document. */
  units: number
}

interface Walk extends Census {
  readonly limits: JsonLimits
  refusal: RefusalDraft | null
}

interface RefusalDraft {
  readonly code: JsonRefusalCode
  readonly says: (path: string) => string
  readonly hint?: string
  /** Innermost first. */
  readonly steps: (string | number)[]
}

export function guardValue(value: unknown, limits: JsonLimits): JsonRefusal | Census {
  const walk: Walk = { keys: 0, values: 0, units: 0, limits, refusal: null }
  if (!visit(walk, value, 0)) return finishRefusal(walk)
  if (walk.units > limits.bytesMax / 3 && stringBytes(value) > limits.bytesMax) {
    return {
      code: 'document.too_large',
      path: '',
      message: `the strings of the document are longer than ${limits.bytesMax} bytes`,
    }
  }
  return walk
}

export function isRefusal(result: JsonRefusal | Census): result is JsonRefusal {
  return 'code' in result
}

function finishRefusal(walk: Walk): JsonRefusal {
  const { code, says, hint, steps } = walk.refusal ?? BROKEN_READ
  const path = steps.reduceRight<string>((parent, step) => at(parent, step), '')
  const message = says(path)
  return hint === undefined ? { code, path, message } : { code, path, message, hint }
}

function visit(walk: Walk, value: unknown, depth: number): boolean {
  if (++walk.values > walk.limits.valuesMax) {
    return refuse(walk, 'document.too_large', tooMany(walk.limits))
  }
  switch (typeof value) {
    case 'string':
      walk.units += value.length
      return value.isWellFormed() || refuseString(walk, value)
    case 'number':
      // Finite, and an integer only within 2^53-1.
      if (
        (value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER) ||
        isFraction(value)
      )
        return true
      return refuseNumber(walk, value)
    case 'boolean':
      return true
    case 'object':
      if (value === null) return true
      if (depth >= walk.limits.depthMax) {
        return refuse(walk, 'document.too_deep', tooDeep(walk.limits))
      }
      return Array.isArray(value) ? visitArray(walk, value, depth) : visitObject(walk, value, depth)
    // Values that JSON does not have.
    default:
      return refuse(walk, 'document.not_json', () => `a ${typeof value} is not a JSON value`)
  }
}

export function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value)
}

function visitArray(walk: Walk, items: readonly unknown[], depth: number): boolean {
  for (let index = 0; index < items.length; index++) {
    if (!visit(walk, items[index], depth + 1)) return trace(walk, index)
  }
  return true
}

function visitObject(walk: Walk, object: object, depth: number): boolean {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) {
    return refuse(walk, 'document.not_json', () => 'only plain objects are JSON objects')
  }
  const keys = Object.keys(object)
  walk.keys += keys.length
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string // `index` is below the length.
    walk.units += key.length
    if (!key.isWellFormed()) return refuseKey(walk, key)
    // `key` is an own key of the object.
    if (!visit(walk, (object as Record<string, unknown>)[key], depth + 1)) return trace(walk, key)
  }
  return true
}

function trace(walk: Walk, step: string | number): false {
  walk.refusal?.steps.push(step)
  return false
}

const tooMany = (limits: JsonLimits) => () =>
  `the document has more than ${limits.valuesMax} values`

const tooDeep = (limits: JsonLimits) => () =>
  `the document nests deeper than ${limits.depthMax} levels`

function refuseString(walk: Walk, text: string): false {
  return refuse(
    walk,
    'document.lone_surrogate',
    (path) => `the string ${show(text, path)} holds half of a surrogate pair`,
  )
}

/** Placed at the object: a pointer to the key itself would hold the broken half too. */
function refuseKey(walk: Walk, key: string): false {
  return refuse(
    walk,
    'document.lone_surrogate',
    () => `the key ${showName(key)} holds half of a surrogate pair`,
  )
}

function refuseNumber(walk: Walk, value: number): false {
  return refuse(
    walk,
    'document.bad_number',
    (path) =>
      Number.isFinite(value)
        ? `the integer ${show(value, path)} is beyond 2^53-1 and would lose digits`
        : `the number ${show(value, path)} is not finite`,
    'write it as a string if every digit counts',
  )
}

function refuse(
  walk: Walk,
  code: JsonRefusalCode,
  says: (path: string) => string,
  hint?: string,
): false {
  walk.refusal = hint === undefined ? { code, says, steps: [] } : { code, says, hint, steps: [] }
  return false
}

/** UTF-8 bytes of all strings and keys. The value has passed the walk, so its depth is bounded. */
function stringBytes(value: unknown): number {
  if (typeof value === 'string') return utf8Length(value)
  if (typeof value !== 'object' || value === null) return 0
  let bytes = 0
  if (Array.isArray(value)) {
    for (const item of value) bytes += stringBytes(item)
    return bytes
  }
  for (const [key, member] of Object.entries(value)) bytes += utf8Length(key) + stringBytes(member)
  return bytes
}

/**
 * The size of a text in bytes, without encoding it.
 *
 * UTF-8 bytes of a text, with lone halves as three bytes.
 */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    bytes += unit < 0x800 ? 1 : 2
    if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(index + 1))) {
      index++
    }
  }
  return bytes
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000
