/**
 * Texts as the editors change them: by cutting pieces out and putting pieces in, so that every byte
 * outside of these stays what it was. Lines end as the first line of the text does.
 */

/** Replaces `[start, end)` by a text. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Splices do not overlap; their order does not matter. */
export function splice(text: string, splices: readonly Splice[]): string {
  let changed = text
  for (const { start, end, text: piece } of [...splices].sort(
    (one, other) => other.start - one.start,
  )) {
    changed = changed.slice(0, start) + piece + changed.slice(end)
  }
  return changed
}

export function lineEnd(text: string): '\r\n' | '\n' {
  const first = text.indexOf('\n')
  return first > 0 && text[first - 1] === '\r' ? '\r\n' : '\n'
}

/** Where the line begins that holds a place. */
export function lineStart(text: string, place: number): number {
  return text.lastIndexOf('\n', place - 1) + 1
}

/** Returns the place of the line break that ends the line, or the end of the text. */
export function lineStop(text: string, place: number): number {
  const found = text.indexOf('\n', place)
  if (found < 0) return text.length
  return found > place && text[found - 1] === '\r' ? found - 1 : found
}

/** Behind the line break that ends the line. */
export function nextLine(text: string, place: number): number {
  const found = text.indexOf('\n', place)
  return found < 0 ? text.length : found + 1
}

export function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text)
}

/** Returns the part of the line before a place if it is blank, else null. */
export function indentBefore(text: string, place: number): string | null {
  const before = text.slice(lineStart(text, place), place)
  return /^[ \t]*$/.test(before) ? before : null
}

/** How the text indents one level deeper: as its first indented line does. */
export function indentUnit(text: string, fallback = '  '): string {
  const found = /\n([ \t]+)\S/.exec(text)?.[1]
  if (found === undefined) return fallback
  return found.startsWith('\t') ? '\t' : found
}

/** Puts every line but the first further in. */
export function indentRest(block: string, indent: string, end: string): string {
  return block.split('\n').join(`${end}${indent}`)
}
