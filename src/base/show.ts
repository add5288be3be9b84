/**
 * Shows an offending value inside a message: in backticks, escaped, cut to 80 characters. Values
 * that may be secrets are never shown: anything under `env`, `headers`, `stdin`, `content*`, `body`,
 * and under `secrets`, where a name belongs and the secret itself is sometimes pasted.
 */
import { pointerSteps } from './pointer.ts'

const SHOWN_LENGTH_MAX = 80
/** A character is two units at most, so what is beyond these would be cut off anyway. */
const UNITS_MAX = 2 * SHOWN_LENGTH_MAX + 2
const SECRET_STEP = /^(?:env|headers|stdin|body|secrets)$|^content/
/** Control, bidi, zero-width and line-breaking characters. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is escaped
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udfff]/g
/** These, and the backtick that ends a quotation. */
const UNSAFE = new RegExp(`\`|${UNSEEN.source}`, 'g')

export function isSecretPlace(pointer: string): boolean {
  return pointerSteps(pointer).some((step) => SECRET_STEP.test(step))
}

/** A value for a message about `pointer`. */
export function show(value: unknown, pointer: string): string {
  if (isSecretPlace(pointer)) return 'a value that is not shown'
  return `\`${cut(escapeUnsafe(describe(value)))}\``
}

/** A path for a message: escaped like a name, and whole, because the reader has to type it. */
export function showPath(path: string): string {
  return `\`${path === '' ? '""' : escapeUnsafe(path)}\``
}

/** A command for a message: its quotes and backticks stay, so that it can be pasted. */
export function showCommand(line: string): string {
  return escapeUnsafe(line, UNSEEN)
}

/** A name (key, option, file) for a message; an empty one is shown by its quotation marks. */
export function showName(name: string): string {
  return `\`${name === '' ? '""' : cut(escapeUnsafe(name.slice(0, UNITS_MAX)))}\``
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${count(value.length, 'item')}]`
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value)
    return keys.length === 0 ? '{}' : `{${count(keys.length, 'key')}}`
  }
  if (typeof value === 'string') return JSON.stringify(value.slice(0, UNITS_MAX))
  return String(value)
}

export function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`
}

function escapeUnsafe(text: string, unsafe = UNSAFE): string {
  return text.replace(unsafe, (unit, offset: number) => {
    if (isPairHalf(text, offset)) return unit
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function isPairHalf(text: string, offset: number): boolean {
  const unit = text.charCodeAt(offset)
  if (unit >= 0xd800 && unit < 0xdc00) return isLow(text.charCodeAt(offset + 1))
  return isLow(unit) && isHigh(text.charCodeAt(offset - 1))
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

function cut(text: string): string {
  const points = [...text]
  return points.length <= SHOWN_LENGTH_MAX
    ? text
    : `${points.slice(0, SHOWN_LENGTH_MAX - 1).join('')}…`
}
