/**
 * The tokens of the text form, read one at a time. Every character belongs to exactly one token or
 * to white space, so reading is linear; what no guard may hold becomes a token too, and the parser
 * says what is wrong with it. Scanned by hand: a pattern would backtrack over hostile lengths.
 */
import { showName } from '../../base/index.ts'

type TokenKind = 'word' | 'string' | 'number' | 'mark' | 'end' | 'open_string' | 'foreign'

export interface GuardToken {
  readonly kind: TokenKind
  /** The characters as written. */
  readonly text: string
  /** UTF-16 offset of the first character. */
  readonly at: number
}

export function readToken(source: string, offset: number): GuardToken {
  let at = offset
  while (isOneOf(' \t\r\n', source, at)) at++
  if (at >= source.length) return { kind: 'end', text: '', at }
  const kind = kindAt(source, at)
  if (kind === 'string') return stringToken(source, at)
  return { kind, text: source.slice(at, endOf(kind, source, at)), at }
}

function kindAt(source: string, at: number): TokenKind {
  if (isLetter(source, at)) return 'word'
  if (source[at] === '"') return 'string'
  if (isOneOf('()[]{},', source, at)) return 'mark'
  if (isDigit(source, at) || (source[at] === '-' && isDigit(source, at + 1))) return 'number'
  return 'foreign'
}

function endOf(kind: TokenKind, source: string, at: number): number {
  if (kind === 'word') return wordEnd(source, at)
  if (kind === 'number') return numberEnd(source, at + 1)
  if (kind === 'mark') return at + 1
  return foreignEnd(source, at)
}

/** A path or an operator; indices are read as part of a path so that the message can name them. */
function wordEnd(source: string, from: number): number {
  let end = from
  while (end < source.length) {
    if (isLetter(source, end) || isDigit(source, end) || isOneOf('.-', source, end)) end++
    else if (source[end] === '[' && bracketEnd(source, end) !== null)
      end = bracketEnd(source, end) ?? end
    else break
  }
  return end
}

function bracketEnd(source: string, open: number): number | null {
  let end = open + 1
  while (isDigit(source, end) || source[end] === '*') end++
  return source[end] === ']' ? end + 1 : null
}

function numberEnd(source: string, from: number): number {
  let end = from
  while (isDigit(source, end) || isOneOf('.eE+-', source, end)) end++
  return end
}

const SYMBOLS = '<>=!~&|+-*/%^?:;'

/** A run of symbols is one thing to name, such as `>=`; anything else is one character. */
function foreignEnd(source: string, from: number): number {
  let end = from
  while (isOneOf(SYMBOLS, source, end)) end++
  if (end > from) return end
  const point = source.codePointAt(from) ?? 0
  return from + (point > 0xffff ? 2 : 1)
}

function stringToken(source: string, at: number): GuardToken {
  for (let end = at + 1; end < source.length; end++) {
    const unit = source[end]
    if (unit === '\n') break
    if (unit === '\\') end++
    else if (unit === '"') return { kind: 'string', text: source.slice(at, end + 1), at }
  }
  return { kind: 'open_string', text: '"', at }
}

function isOneOf(units: string, source: string, at: number): boolean {
  return at < source.length && units.includes(source.charAt(at))
}

function isDigit(source: string, at: number): boolean {
  const unit = source.charCodeAt(at)
  return unit >= 0x30 && unit <= 0x39
}

function isLetter(source: string, at: number): boolean {
  const unit = source.charCodeAt(at)
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a) || unit === 0x5f
}

/** Where an offset lies for people: line and column count from 1, columns in code points. */
export function lineAndColumn(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: [...before.slice(lineStart)].length + 1 }
}

interface ForeignAdvice {
  readonly message: string
  readonly hint: string | null
}

const COMPARISON = /^[<>]=?$/
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['=', 'write `EQ(path, "value")`'],
  ['==', 'write `EQ(path, "value")`'],
  ['===', 'write `EQ(path, "value")`'],
  ['!=', 'write `NOT EQ(path, "value")`'],
  ['!==', 'write `NOT EQ(path, "value")`'],
  ['<>', 'write `NOT EQ(path, "value")`'],
  ['&', 'write `AND`'],
  ['&&', 'write `AND`'],
  ['|', 'write `OR`'],
  ['||', 'write `OR`'],
  ['!', 'write `NOT`'],
  ["'", 'write strings in double quotes'],
])

/**
 * What to say about signs that other languages have and this one refuses: comparison, arithmetic,
 * inference, text matching. A few have a legal way to say what was probably meant.
 */
export function sayForeign(sign: string): ForeignAdvice {
  const message = COMPARISON.test(sign)
    ? `${showName(sign)} is not part of the guard language: nothing is compared by size`
    : `${showName(sign)} is not part of the guard language`
  return { message, hint: INSTEAD.get(sign) ?? null }
}
