/**
 * The strict JSON reader (C-3): a text in, a value or a refusal with code and place out. It never
 * throws and is linear in its input.
 *
 * The platform's parser does the work; two cheap passes add what it lets through. The guard walks
 * the value. A scan counts the keys in the text: fewer in the value than in the text means that an
 * object named a key twice. Only a refused text is read again, slowly, to find the exact place.
 */

import { utf8Length } from './json-bytes.ts'
import { guardValue, isRefusal } from './json-guard.ts'
import type { JsonLimits } from './json-limits.ts'
import { locateRefusal } from './json-locate.ts'
import type { JsonRefusal } from './json-refusal.ts'

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: JsonRefusal }

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
