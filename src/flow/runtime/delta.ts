/**
 * Whether a rerun changed anything of substance (F-8). Text is the multiset of its lines that are not
 * blank, white space and what shows nothing folded; JSON is its canonical form; anything else is its bytes.
 */
import { canonicalJson, DOCUMENT_LIMITS, digestBytes, readJson } from '../../base/index.ts'
import { RULES_NOW } from '../compile/rules.ts'

export interface Delta {
  readonly by: 'lines' | 'json' | 'bytes'
  readonly isEqual: boolean
  /** Lines; for JSON and bytes 0 or 1. */
  readonly added: number
  readonly removed: number
}

interface Content {
  readonly format: string
  readonly content: string
}

const TEXT: ReadonlySet<string> = new Set(['md', 'txt', 'html', 'css', 'js'])

/** By version 5 of the rules characters that show nothing change nothing. */
export function deltaOf(before: Content, after: Content, rules = RULES_NOW): Delta {
  if (before.format === 'json' && after.format === 'json') {
    const [one, other] = [jsonOf(before.content), jsonOf(after.content)]
    if (one !== null && other !== null) return wholeDelta('json', one === other)
  }
  if (TEXT.has(before.format) && TEXT.has(after.format)) return linesDelta(before, after, rules)
  return wholeDelta('bytes', digestBytes(before.content) === digestBytes(after.content))
}

function wholeDelta(by: Delta['by'], isEqual: boolean): Delta {
  const count = isEqual ? 0 : 1
  return { by, isEqual, added: count, removed: count }
}

/** Null when the text is no JSON, which is then compared byte by byte. */
function jsonOf(text: string): string | null {
  const reading = readJson(text, DOCUMENT_LIMITS)
  return reading.ok ? canonicalJson(reading.value) : null
}

function linesDelta(before: Content, after: Content, rules: number): Delta {
  const counts = new Map<string, number>()
  let removed = 0
  for (const line of linesOf(before.content, rules)) {
    counts.set(line, (counts.get(line) ?? 0) + 1)
    removed++
  }
  let added = 0
  for (const line of linesOf(after.content, rules)) {
    const left = counts.get(line) ?? 0
    if (left === 0) added++
    else {
      counts.set(line, left - 1)
      removed--
    }
  }
  return { by: 'lines', isEqual: added === 0 && removed === 0, added, removed }
}

function linesOf(text: string, rules: number): string[] {
  const shown = rules < 5 ? text : text.replace(/[\p{DI}\p{Cf}]+/gu, '')
  return shown
    .split(/\r\n|\r|\n/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
}
