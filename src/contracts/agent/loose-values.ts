/**
 * How loose values of agents are read: whole numbers, words, lists of strings, lines. Every reading
 * is a fixed point: what it gives is read as itself.
 */
import { isIsoMoment } from '../../base/index.ts'

/** A whole number, or a string that spells one; null for anything else. */
export function readInteger(value: unknown): number | null {
  if (typeof value === 'string') return INTEGER.test(value) ? safe(Number(value)) : null
  return Number.isSafeInteger(value) ? (value as number) : null
}

const INTEGER = /^\s*[+-]?\d+\s*$/

function safe(value: number): number | null {
  // Adding zero turns a negative zero, which JSON text cannot keep, into zero.
  return Number.isSafeInteger(value) ? value + 0 : null
}

/** A string that spells a whole number, also one too large to be held as a number. */
export function spellsInteger(value: unknown): value is string {
  return typeof value === 'string' && INTEGER.test(value)
}

/** Not a string, or one of white space only. */
export function isBlank(value: unknown): boolean {
  return typeof value !== 'string' || value.trim() === ''
}

export function isFilled(value: unknown): value is string {
  return !isBlank(value)
}

/** The first value that is a string of more than white space. */
export function firstFilled(...values: readonly unknown[]): string | null {
  return values.find(isFilled) ?? null
}

/** A word as enumerations spell it; null when it is no string. */
export function readWord(value: unknown): string | null {
  return typeof value === 'string' ? value.trim().toUpperCase() : null
}

export function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** The first line of a text that is more than white space, trimmed; null when there is none. */
export function firstLine(text: unknown): string | null {
  if (typeof text !== 'string') return null
  // Trimming the front first makes the first break the end of the wanted line.
  const start = text.trimStart()
  const end = start.search(LINE_BREAK)
  return firstFilled((end === -1 ? start : start.slice(0, end)).trim())
}

const LINE_BREAK = /[\r\n\u2028\u2029]/

/** At most `lengthMax` characters, counted in code points so that none is cut in half. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  return [...text.slice(0, lengthMax * 2)].slice(0, lengthMax).join('')
}

/**
 * ISO 8601 in its extended form: a date, or a date and a time, with or without an offset. Stamps
 * without one are common in plans, so nothing stricter is asked.
 */
export function isIsoTime(text: string): boolean {
  return isIsoMoment(text) || isIsoMoment(`${text}Z`) || isIsoMoment(`${text}T00:00Z`)
}
