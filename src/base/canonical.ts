/**
 * Canonical JSON (RFC 8785): keys in UTF-16 order, ECMAScript numbers, minimal escapes. The result
 * is a fixed point: reading it and writing it again gives the same text.
 *
 * The input is a JSON value of bounded depth (see `json/guard.ts`); anything else is a bug.
 */
import { invariant } from './invariant.ts'

export function canonicalJson(value: unknown): string {
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
        : writeObject(value as Record<string, unknown>)
    default:
      invariant(false, `canonical JSON cannot hold a ${typeof value}`)
  }
}

/**
 * Whether a text is the canonical form of the value that was read from it. The native writer tells in
 * a fifth of the time, as long as the keys came in order; where it says no, the exact one decides.
 */
export function isCanonicalText(text: string, value: unknown): boolean {
  return (JSON.stringify(value) === text && hasSortedKeys(value)) || canonicalJson(value) === text
}

function hasSortedKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(hasSortedKeys)
  let previous: string | null = null
  for (const key of Object.keys(value)) {
    if (previous !== null && key < previous) return false
    if (!hasSortedKeys((value as Record<string, unknown>)[key])) return false
    previous = key
  }
  return true
}

function writeArray(items: readonly unknown[]): string {
  let text = '['
  for (let index = 0; index < items.length; index++) {
    text += index === 0 ? canonicalJson(items[index]) : `,${canonicalJson(items[index])}`
  }
  return `${text}]`
}

function writeObject(object: Record<string, unknown>): string {
  const keys = Object.keys(object).sort()
  let text = '{'
  for (let index = 0; index < keys.length; index++) {
    // INVARIANT (own keys): Object.keys names own properties, so this read meets no prototype.
    const key = keys[index] as string
    text += `${index === 0 ? '' : ','}${quoteString(key)}:${canonicalJson(object[key])}`
  }
  return `${text}}`
}

/** JSON.stringify of a well-formed string is RFC 8785's form; half a pair must not be papered over. */
function quoteString(text: string): string {
  invariant(text.isWellFormed(), 'canonical JSON holds well-formed strings only')
  return JSON.stringify(text)
}
