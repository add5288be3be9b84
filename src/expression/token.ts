/**
 * The tokens of CEL, read once from left to right by hand: linear, no patterns, every fault at the
 * character that is wrong. What CEL has and writ leaves out (bytes, unsigned numbers) is recognised,
 * so that the message can say so.
 */
import { showName } from '../base/index.ts'
import type { RawFault } from './fault.ts'

export type Token =
  | { readonly kind: 'name' | 'mark' | 'end'; readonly at: number; readonly text: string }
  | { readonly kind: 'string'; readonly at: number; readonly text: string; readonly value: string }
  | {
      readonly kind: 'int'
      readonly at: number
      readonly text: string
      /** Up to 2^63, of which only the negative is an int. */
      readonly value: bigint
    }
  | { readonly kind: 'double'; readonly at: number; readonly text: string; readonly value: number }

type Tokens =
  | { readonly ok: true; readonly tokens: readonly Token[] }
  | { readonly ok: false; readonly fault: RawFault }

/** Longer marks first, so that `->` is not read as a minus. */
const MARKS = [
  ...['->', '&&', '||', '==', '!=', '<=', '>='],
  ...['(', ')', '[', ']', '{', '}', ',', '.', '?', ':', '!', '<', '>', '+', '-', '*', '/', '%'],
] as const

/** Marks of other languages, with what CEL writes instead. */
const FOREIGN: Readonly<Record<string, string>> = {
  '=': '`==` compares',
  '&': '`&&` is the and of conditions',
  '|': '`||` is the or of conditions',
}

/** How many digits follow an escape that names a code point. */
const DIGITS: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 }

export function tokenize(source: string): Tokens {
  const tokens: Token[] = []
  let at = skipBlank(source, 0)
  while (at < source.length) {
    const read = readToken(source, at)
    if ('code' in read) return { ok: false, fault: read }
    tokens.push(read)
    at = skipBlank(source, at + read.text.length)
  }
  tokens.push({ kind: 'end', at, text: '' })
  return { ok: true, tokens }
}

/** Behind white space and comments. */
function skipBlank(source: string, from: number): number {
  let at = from
  while (at < source.length) {
    if (' \t\n\r\f'.includes(source.charAt(at))) at++
    else if (source.startsWith('//', at)) {
      const end = source.indexOf('\n', at)
      at = end < 0 ? source.length : end
    } else break
  }
  return at
}

function readToken(source: string, at: number): Token | RawFault {
  const string = readStringToken(source, at)
  if (string !== null) return string
  if (isLetter(source, at)) return { kind: 'name', at, text: source.slice(at, nameEnd(source, at)) }
  if (isDigit(source, at) || (source[at] === '.' && isDigit(source, at + 1))) {
    return readNumber(source, at)
  }
  const mark = MARKS.find((text) => source.startsWith(text, at))
  if (mark !== undefined) return { kind: 'mark', at, text: mark }
  const character = String.fromCodePoint(source.codePointAt(at) ?? 0)
  return {
    code: 'expression.character',
    at,
    message: `${showName(character)} has no meaning in an expression`,
    hint: FOREIGN[character] ?? null,
  }
}

function readNumber(source: string, at: number): Token | RawFault {
  if (source[at] === '0' && (source[at + 1] === 'x' || source[at + 1] === 'X')) {
    return finishInt(source, at, hexEnd(source, at + 2))
  }
  const whole = digitsEnd(source, at)
  let end = whole
  if (source[end] === '.' && isDigit(source, end + 1)) end = digitsEnd(source, end + 1)
  end = exponentEnd(source, end)
  if (end === whole) return finishInt(source, at, end)
  const text = source.slice(at, end)
  const value = Number(text)
  if (isLetter(source, end)) return badNumber(source, at, end)
  if (Number.isFinite(value)) return { kind: 'double', at, text, value }
  return { code: 'expression.number', at, message: `${showName(text)} is too large for a double` }
}

function finishInt(source: string, at: number, end: number): Token | RawFault {
  const text = source.slice(at, end)
  if (source[end] === 'u' || source[end] === 'U') {
    return {
      code: 'expression.unsupported',
      at,
      message: `${showName(`${text}u`)} is an unsigned number, which writ leaves out`,
      hint: `write ${showName(text)}`,
    }
  }
  const isEmptyHex = text === '0x' || text === '0X'
  if (isLetter(source, end) || isEmptyHex) return badNumber(source, at, end)
  const value = BigInt(text)
  if (value <= INT_MAX + 1n) return { kind: 'int', at, text, value }
  return { code: 'expression.number', at, message: `${showName(text)} is too large for an int` }
}

export const INT_MAX = 2n ** 63n - 1n
export const INT_MIN = -(2n ** 63n)

/** A number that runs on into a word, told with the word. */
function badNumber(source: string, at: number, end: number): RawFault {
  const text = source.slice(at, nameEnd(source, end))
  return { code: 'expression.number', at, message: `${showName(text)} is not a number` }
}

function exponentEnd(source: string, from: number): number {
  if (source[from] !== 'e' && source[from] !== 'E') return from
  const sign = source[from + 1] === '+' || source[from + 1] === '-' ? 1 : 0
  return isDigit(source, from + 1 + sign) ? digitsEnd(source, from + 1 + sign) : from
}

function digitsEnd(source: string, from: number): number {
  let end = from
  while (isDigit(source, end)) end++
  return end
}

function hexEnd(source: string, from: number): number {
  let end = from
  while (isHexDigit(source, end)) end++
  return end
}

function nameEnd(source: string, from: number): number {
  let end = from
  while (isLetter(source, end) || isDigit(source, end)) end++
  return end
}

function isDigit(source: string, at: number): boolean {
  const unit = source.charCodeAt(at)
  return unit >= 0x30 && unit <= 0x39
}

function isHexDigit(source: string, at: number): boolean {
  const unit = source.charCodeAt(at) | 0x20
  return isDigit(source, at) || (unit >= 0x61 && unit <= 0x66)
}

function isLetter(source: string, at: number): boolean {
  const unit = source.charCodeAt(at)
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a) || unit === 0x5f
}

interface StringToken {
  readonly kind: 'string'
  readonly at: number
  readonly text: string
  readonly value: string
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
}

/**
 * String literals of CEL: either quotation mark, once or three times, raw with `r` before it. An
 * escape that names no character is a fault at the escape, an open string one at its first mark.
 *
 * The string that begins here; null when none does.
 */
function readStringToken(source: string, at: number): StringToken | RawFault | null {
  const prefix = prefixAt(source, at)
  const mark = source[at + prefix.length]
  if (mark !== '"' && mark !== "'") return null
  if (prefix.toLowerCase().includes('b')) return bytesFault(at)
  const open = at + prefix.length
  const quote = source.startsWith(mark.repeat(3), open) ? mark.repeat(3) : mark
  const isRaw = prefix !== ''
  let value = ''
  let next = open + quote.length
  while (next < source.length && !source.startsWith(quote, next)) {
    const unit = source.charAt(next)
    if (quote.length === 1 && (unit === '\n' || unit === '\r')) break
    if (unit !== '\\') {
      value += unit
      next++
    } else if (isRaw) {
      // In a raw string a backslash is itself, and the mark behind it does not end the string.
      value += source.slice(next, next + 2)
      next += 2
    } else {
      const escaped = readEscape(source, next)
      if ('code' in escaped) return escaped
      value += escaped.value
      next += escaped.length
    }
  }
  if (!source.startsWith(quote, next)) return openFault(at)
  return { kind: 'string', at, text: source.slice(at, next + quote.length), value }
}

function prefixAt(source: string, at: number): string {
  const [one, two] = [source.charAt(at), source.charAt(at + 1)]
  if (!'rRbB'.includes(one) || one === '') return ''
  return two !== '' && 'rRbB'.includes(two) && one.toLowerCase() !== two.toLowerCase()
    ? one + two
    : one
}

function readEscape(source: string, at: number): { value: string; length: number } | RawFault {
  const letter = source.charAt(at + 1)
  const simple = Object.hasOwn(SIMPLE, letter) ? SIMPLE[letter] : undefined
  if (simple !== undefined) return { value: simple, length: 2 }
  const isOctal = letter >= '0' && letter <= '3'
  const count = isOctal ? 3 : Object.hasOwn(DIGITS, letter) ? (DIGITS[letter] ?? 0) : 0
  const from = at + (isOctal ? 1 : 2)
  const digits = source.slice(from, from + count)
  const point = isOctal ? octal(digits) : hexadecimal(digits)
  if (count === 0 || digits.length < count || point === null) return escapeFault(source, at, count)
  return { value: String.fromCodePoint(point), length: from + count - at }
}

function octal(digits: string): number | null {
  return /^[0-7]{3}$/.test(digits) ? Number.parseInt(digits, 8) : null
}

/** The code point; null for what is none, half of a surrogate pair included. */
function hexadecimal(digits: string): number | null {
  if (!/^[0-9a-fA-F]{1,8}$/.test(digits)) return null
  const point = Number.parseInt(digits, 16)
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? null : point
}

function escapeFault(source: string, at: number, count: number): RawFault {
  const text = source.slice(at, at + 2 + count)
  return {
    code: 'expression.string',
    at,
    message: `the escape ${showName(text)} names no character`,
    hint: 'a backslash itself is written twice',
  }
}

function openFault(at: number): RawFault {
  return { code: 'expression.string', at, message: 'the string that begins here does not end' }
}

function bytesFault(at: number): RawFault {
  return {
    code: 'expression.unsupported',
    at,
    message: 'bytes are a part of CEL that writ leaves out',
    hint: 'write a string',
  }
}
