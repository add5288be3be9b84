/** Heads of HTTP/1 messages as text: lines that end in CR LF, fields with their names and values. */

export type Field = readonly [name: string, value: string]

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const FIELDS_MAX = 128
/** Visible characters, blanks and what is beyond ASCII; no other control character. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Where a head ends: the index after the empty line, or null while it did not come. */
export function headEnd(bytes: Uint8Array, from = 0): number | null {
  for (let at = Math.max(from, 3); at < bytes.length; at++) {
    if (bytes[at] !== 10 || bytes[at - 1] !== 13) continue
    if (bytes[at - 2] === 10 && bytes[at - 3] === 13) return at + 1
  }
  return null
}

/** The first line and the fields; null when a line can be read in two ways. */
export function readHead(
  bytes: Uint8Array,
): { readonly first: string; readonly fields: Field[] } | null {
  const text = latin1(bytes)
  if (!text.endsWith('\r\n\r\n')) return null
  const [first = '', ...lines] = text.slice(0, -4).split('\r\n')
  if (lines.length > FIELDS_MAX || !VALUE.test(first)) return null
  const fields: Field[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0))
    const value = line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, '')
    // A folded line begins with a blank, which no name holds.
    if (!TOKEN.test(name) || !VALUE.test(value)) return null
    fields.push([name, value])
  }
  return { first, fields }
}

export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** Returns all values of a field. `name` is in lower case; the case of the field does not matter. */
export function valuesOf(fields: readonly Field[], name: string): readonly string[] {
  return fields.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value)
}

/** The words of a field that is a list. */
export function wordsOf(fields: readonly Field[], name: string): readonly string[] {
  return valuesOf(fields, name)
    .flatMap((value) => value.split(','))
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')
}

export function writeHead(first: string, fields: readonly Field[]): Uint8Array {
  const text = [first, ...fields.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0))
}

const PIECE = 8_192

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  }
  return text
}
