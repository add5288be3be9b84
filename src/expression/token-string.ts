/**
 * String literals of CEL: either quotation mark, once or three times, raw with `r` before it. An
 * escape that names no character is a fault at the escape, an open string one at its first mark.
 */
import { showName } from '../base/index.ts'
import type { RawFault } from './fault.ts'

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

/** How many digits follow an escape that names a code point. */
const DIGITS: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 }

/** The string that begins here; null when none does. */
export function readStringToken(source: string, at: number): StringToken | RawFault | null {
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
