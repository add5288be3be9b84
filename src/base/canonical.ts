/**
 * Canonical JSON (RFC 8785): keys in UTF-16 order, ECMAScript numbers, minimal escapes. The result
 * is a fixed point: reading it and writing it again gives the same text.
 *
 * The input is a JSON value of bounded depth (see `json-reader.ts`); anything else is a bug.
 */
import { invariant } from './fault.ts'

/**
 * Writes canonical JSON. `JSON.stringify` is several times as fast as `writeExactly`, so it writes a copy
 * with sorted keys where a copy can have them. `writeExactly` writes all other values, and fails on
 * values that are not JSON.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return writeExactly(value)
  const ordered = inOrder(value, new KeyOrder())
  if (ordered === APART) return writeExactly(value)
  const text = JSON.stringify(ordered)
  // An escaped half of a pair, or a text that looks like one.
  return text.includes('\\ud') ? writeExactly(value) : text
}

/** Items of a list that are written at once. */
const PIECE = 256

/**
 * The canonical form in pieces, for documents with long lists: what is made for a piece can be
 * forgotten before the next. Null for a document that has none.
 */
export function canonicalPieces(value: unknown): Iterable<string> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const object = value as Readonly<Record<string, unknown>>
  return Object.values(object).some(isLong) ? writePieces(object) : null
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > PIECE
}

function* writePieces(object: Readonly<Record<string, unknown>>): Iterable<string> {
  let lead = '{'
  for (const key of Object.keys(object).sort()) {
    const value = object[key]
    yield `${lead}${quoteString(key)}:`
    lead = ','
    if (isLong(value)) yield* writeItems(value)
    else yield canonicalJson(value)
  }
  yield '}'
}

function* writeItems(items: readonly unknown[]): Iterable<string> {
  for (let start = 0; start < items.length; start += PIECE) {
    const text = canonicalJson(items.slice(start, start + PIECE))
    // A part of a text is no copy of it; joined to something it would be one.
    yield start === 0 ? '[' : ','
    yield text.slice(1, -1)
  }
  yield ']'
}

/** The result of `inOrder` for a value whose keys a copy cannot hold in order. */
const APART = Symbol('apart')

/** The value with all keys in order: itself where they are, a copy where not. */
function inOrder(value: unknown, known: KeyOrder): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : APART
    case 'object':
      if (value === null) return null
      return Array.isArray(value)
        ? itemsInOrder(value, known)
        : // An object that is neither null nor an array is read by its own keys.
          membersInOrder(value as Readonly<Record<string, unknown>>, known)
    // Values that JSON does not have.
    default:
      return APART
  }
}

function itemsInOrder(items: readonly unknown[], known: KeyOrder): unknown {
  let copy: unknown[] | null = null
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    const ordered = inOrder(item, known)
    if (ordered === APART) return APART
    if (copy === null && ordered !== item) copy = items.slice()
    if (copy !== null) copy[index] = ordered
  }
  return copy ?? items
}

function membersInOrder(object: Readonly<Record<string, unknown>>, known: KeyOrder): unknown {
  const { keys, order } = known.of(object)
  if (order === 'apart') return APART
  let copy: Record<string, unknown> | null = order === 'mixed' ? {} : null
  for (let index = 0; index < keys.length; index++) {
    // INVARIANT (own keys): these are own properties, so these reads meet no prototype.
    const key = keys[index] as string
    const value = object[key]
    const ordered = inOrder(value, known)
    if (ordered === APART) return APART
    if (copy === null && ordered !== value) copy = firstOf(object, keys, index)
    if (copy !== null) copy[key] = ordered
  }
  return copy ?? object
}

type Order = 'sorted' | 'mixed' | 'apart'

/**
 * The keys of objects in order. Items of a list most often have the same keys as the one before,
 * which is seen without making a list of them.
 */
class KeyOrder {
  #given: readonly string[] = []
  #last: { readonly keys: readonly string[]; readonly order: Order } = { keys: [], order: 'sorted' }

  of(object: Readonly<Record<string, unknown>>): {
    readonly keys: readonly string[]
    readonly order: Order
  } {
    if (this.#isAlike(object)) return this.#last
    const given = Object.keys(object)
    const order = orderOf(given)
    this.#given = given
    this.#last = { keys: order === 'mixed' ? given.toSorted() : given, order }
    return this.#last
  }

  /** The same keys in the same order, and all its own. */
  #isAlike(object: Readonly<Record<string, unknown>>): boolean {
    let count = 0
    for (const key in object) {
      if (key !== this.#given[count] || !Object.hasOwn(object, key)) return false
      count++
    }
    return count === this.#given.length
  }
}

/** `apart`: a copy would have them in an order of its own, or would not be a plain object. */
function orderOf(keys: readonly string[]): Order {
  let isSorted = true
  let last = ''
  for (const key of keys) {
    const code = key.charCodeAt(0)
    if ((code >= 0x30 && code <= 0x39) || key === '__proto__' || key === 'toJSON') return 'apart'
    if (last > key) isSorted = false
    last = key
  }
  return isSorted ? 'sorted' : 'mixed'
}

function firstOf(
  object: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  count: number,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of keys.slice(0, count)) copy[key] = object[key]
  return copy
}

function writeExactly(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoteString(value)
    case 'number':
      invariant(Number.isFinite(value), 'canonical JSON holds finite numbers only')
      return String(value === 0 ? 0 : value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value)
        ? writeArray(value)
        : // An object that is neither null nor an array is read by its own keys.
          writeObject(value as Record<string, unknown>)
    // Values that JSON does not have.
    default:
      invariant(false, `canonical JSON cannot hold a ${typeof value}`)
  }
}

/**
 * Whether a text is the canonical form of the value that was read from it. Most texts are seen to be
 * so at a glance, in a tenth of the time that writing the value takes; where that fails, the exact
 * writer decides.
 */
export function isCanonicalText(text: string, value: unknown): boolean {
  return isSurelyCanonical(text, Number.POSITIVE_INFINITY) || canonicalJson(value) === text
}

/**
 * Whether a JSON text is surely canonical and holds nothing that a document may not hold: no number
 * past the exact ones, no half of a pair, nothing nested deeper than `depthMax`. False is no verdict.
 */
export function isSurelyCanonical(text: string, depthMax: number): boolean {
  return glance(text, 0, depthMax) === text.length && text.isWellFormed()
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/**
 * Where the value at a place of a JSON text ends, when it surely is in canonical form; else -1. That
 * the text is JSON is known; what is looked for are spaces, escapes, the order of keys, and numbers.
 */
function glance(text: string, start: number, depthLeft: number): number {
  const code = text.charCodeAt(start)
  if (code === QUOTE) return glanceString(text, start)
  if (code === 0x7b) return glanceMembers(text, start, 0x7d, depthLeft)
  if (code === 0x5b) return glanceMembers(text, start, 0x5d, depthLeft)
  if (code === 0x74 || code === 0x6e) return start + 4
  return code === 0x66 ? start + 5 : glanceNumber(text, start)
}

function glanceString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) return -1
  }
  return -1
}

function glanceMembers(text: string, start: number, close: number, depthLeft: number): number {
  if (depthLeft <= 0) return -1
  if (text.charCodeAt(start + 1) === close) return start + 2
  let key = -1
  for (let at = start + 1; ; at++) {
    if (close === 0x7d) {
      const end = text.charCodeAt(at) === QUOTE ? glanceString(text, at) : -1
      if (end === -1 || text.charCodeAt(end) !== 0x3a) return -1
      if (key !== -1 && !isKeyBefore(text, key, at)) return -1
      key = at
      at = end + 1
    }
    at = glance(text, at, depthLeft - 1)
    if (at === -1) return -1
    const code = text.charCodeAt(at)
    if (code === close) return at + 1
    if (code !== COMMA) return -1
  }
}

/** Whether one of two keys, told by the place of their quotation marks, sorts before the other. */
function isKeyBefore(text: string, left: number, right: number): boolean {
  for (let offset = 1; ; offset++) {
    const one = text.charCodeAt(left + offset)
    const other = text.charCodeAt(right + offset)
    if (one === QUOTE) return other !== QUOTE
    if (other === QUOTE) return false
    if (one !== other) return one < other
  }
}

/** The point and the letter e go on with a number that is no integer. */
const NOT_INTEGER = new Set([0x2e, 0x65, 0x45])

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

const NUMBER = /-?[\d.eE+-]+/y

function glanceNumber(text: string, start: number): number {
  let at = start
  while (isDigit(text.charCodeAt(at))) at++
  const isInteger = at > start && at - start < 16 && !NOT_INTEGER.has(text.charCodeAt(at))
  if (isInteger && (at === start + 1 || text.charCodeAt(start) !== 0x30)) return at
  NUMBER.lastIndex = start
  const [number] = NUMBER.exec(text) ?? []
  if (number === undefined || String(Number(number)) !== number) return -1
  const isExact = !Number.isInteger(Number(number)) || Number.isSafeInteger(Number(number))
  return isExact ? start + number.length : -1
}

function writeArray(items: readonly unknown[]): string {
  let text = '['
  for (let index = 0; index < items.length; index++) {
    text += index === 0 ? writeExactly(items[index]) : `,${writeExactly(items[index])}`
  }
  return `${text}]`
}

function writeObject(object: Record<string, unknown>): string {
  const keys = Object.keys(object).sort()
  let text = '{'
  for (let index = 0; index < keys.length; index++) {
    // INVARIANT (own keys): Object.keys names own properties, so this read meets no prototype.
    const key = keys[index] as string
    text += `${index === 0 ? '' : ','}${quoteString(key)}:${writeExactly(object[key])}`
  }
  return `${text}}`
}

/** JSON.stringify of a well-formed string is RFC 8785's form; half a pair must not be papered over. */
function quoteString(text: string): string {
  invariant(text.isWellFormed(), 'canonical JSON holds well-formed strings only')
  return JSON.stringify(text)
}
