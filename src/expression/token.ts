/**
 * The tokens of CEL, read once from left to right by hand: linear, no patterns, every fault at the
 * character that is wrong. What CEL has and writ leaves out (bytes, unsigned numbers) is recognised,
 * so that the message can say so.
 */
import { showName } from '../base/index.ts'
import type { RawFault } from './fault.ts'
import { readStringToken } from './token-string.ts'

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
