/**
 * The JSON objects in a text that a participant wrote: those at the top, in their order, and the prose
 * around them. An object inside another one is not at the top.
 *
 * INVARIANT (bounded): the work is linear in the text. A text that is full of braces which close
 * nothing is given up on, and says so.
 */

export interface TextObjects {
  readonly objects: readonly Readonly<Record<string, unknown>>[]
  /** Everything that is in no object, as it stood. */
  readonly prose: string
  readonly isGivenUp: boolean
}

/** How often the text may be looked at in vain, in lengths of the text. */
const PASSES_MAX = 16
/** Every text may be looked at this much. */
const FREE_CHARACTERS = 1 << 20

export function objectsIn(text: string): TextObjects {
  const objects: Readonly<Record<string, unknown>>[] = []
  let prose = ''
  let behind = 0
  let budget = text.length * PASSES_MAX + FREE_CHARACTERS
  for (let at = text.indexOf('{'); at !== -1 && budget > 0; at = text.indexOf('{', at)) {
    const end = closingBrace(text, at)
    budget -= (end === -1 ? text.length : end) - at
    const found = end === -1 ? null : objectOf(text.slice(at, end + 1))
    if (found === null) {
      at++
      continue
    }
    objects.push(found)
    prose += `${text.slice(behind, at)}\n`
    behind = end + 1
    at = behind
  }
  return { objects, prose: (prose + text.slice(behind)).trim(), isGivenUp: budget <= 0 }
}

/** Where the object that opens here closes; strings are skipped. -1 when it does not. */
function closingBrace(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      at = closingQuote(text, at)
      if (at === -1) return -1
    } else if (unit === OPEN) depth++
    else if (unit === CLOSE && --depth === 0) return at
  }
  return -1
}

const QUOTE = 0x22
const OPEN = 0x7b
const CLOSE = 0x7d
const BACKSLASH = 0x5c

function closingQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === BACKSLASH) at++
    else if (unit === QUOTE) return at
  }
  return -1
}

function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    // What begins with a brace and parses is an object.
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return null
  }
}
