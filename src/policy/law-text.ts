/**
 * Reads the text of a law file, YAML or JSON: its value, and the place of each part in the text. As
 * strict as the reader of documents: no duplicate keys, no foreign tags, bounded aliases, the same
 * limits. Loads the YAML library at the first use.
 */
import type { Document, LineCounter, Node, parseDocument as ParseDocument } from 'yaml'
import {
  DOCUMENT_LIMITS,
  guardValue,
  isRefusal,
  type JsonLimits,
  type JsonRefusalCode,
  pointerSteps,
  utf8Length,
} from '../base/index.ts'
import { yamlRefusal } from '../contracts/index.ts'

export interface TextPlace {
  /** From 1. */
  readonly line: number
  readonly column: number
}

export interface LawText {
  readonly ok: true
  readonly value: unknown
  /** Where the value at the pointer begins; where nothing is, what would hold it. */
  readonly placeOf: (pointer: string) => TextPlace
  /** Returns the place of the last key of the pointer. */
  readonly placeOfKey: (pointer: string) => TextPlace
  /** Returns the place of a character of the string at the pointer, or of the string itself. */
  readonly placeInside: (pointer: string, offset: number) => TextPlace
}

export interface TextRefusal extends TextPlace {
  readonly ok: false
  readonly code: JsonRefusalCode
  readonly path: string
  readonly message: string
}

const ALIASES_MAX = 100
const BEGINNING: TextPlace = { line: 1, column: 1 }

/** Other files that people write, such as flows, are read the same way, within their own limits. */
export async function readLawText(
  text: string,
  limits: JsonLimits = DOCUMENT_LIMITS,
): Promise<LawText | TextRefusal> {
  if (utf8Length(text) > limits.bytesMax) {
    const message = `the text is longer than ${limits.bytesMax} bytes`
    return { ok: false, code: 'document.too_large', path: '', message, ...BEGINNING }
  }
  const { parseDocument, LineCounter: Counter } = await import('yaml')
  return parse(text, parseDocument, new Counter(), limits)
}

/** The library throws on alias bombs and overflows the stack on absurd nesting. */
function parse(
  text: string,
  parseDocument: typeof ParseDocument,
  lines: LineCounter,
  limits: JsonLimits,
): LawText | TextRefusal {
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      uniqueKeys: true,
      prettyErrors: true,
      lineCounter: lines,
    })
    const [problem] = [...document.errors, ...document.warnings]
    if (problem !== undefined) {
      const place = placeAt(lines, problem.pos[0])
      const [code, message] = yamlRefusal(problem, place)
      return { ok: false, code, path: '', message, ...place }
    }
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX })
    const census = guardValue(value, limits)
    const places = placesOf(text, document, lines)
    if (!isRefusal(census)) return { ok: true, value, ...places }
    const { code, path, message } = census
    return { ok: false, code, path, message, ...places.placeOf(path) }
  } catch (thrown) {
    const isDeep = thrown instanceof RangeError
    const code = isDeep ? 'document.too_deep' : 'document.not_json'
    const message = isDeep
      ? 'the document nests too deeply to be read'
      : 'the text is not YAML for a JSON value'
    return { ok: false, code, path: '', message, ...BEGINNING }
  }
}

function placeAt(lines: LineCounter, offset: number): TextPlace {
  const { line, col } = lines.linePos(offset)
  return line === 0 ? BEGINNING : { line, column: col }
}

type Places = Pick<LawText, 'placeOf' | 'placeOfKey' | 'placeInside'>

function placesOf(text: string, document: Document, lines: LineCounter): Places {
  const place = (offset: number | undefined): TextPlace =>
    offset === undefined ? BEGINNING : placeAt(lines, offset)
  const placeOf = (pointer: string): TextPlace => place(nearestNode(document, pointer)?.range?.[0])
  return {
    placeOf,
    placeOfKey: (pointer) => {
      const key = keyOffset(document, pointer)
      return key === null ? placeOf(pointer) : place(key)
    },
    placeInside: (pointer, offset) => {
      const node = nodeAt(document, pointerSteps(pointer))
      const inside = node === null ? null : insideOffset(text, node, offset)
      return inside === null ? placeOf(pointer) : place(inside)
    },
  }
}

/** Returns the YAML node at these steps; null if there is none, or if an alias is on the way. */
function nodeAt(document: Document, steps: readonly string[]): Node | null {
  const found: unknown = steps.length === 0 ? document.contents : document.getIn(steps, true)
  // With `true`, `getIn` returns a node or undefined.
  return typeof found === 'object' && found !== null && 'range' in found ? (found as Node) : null
}

function nearestNode(document: Document, pointer: string): Node | null {
  const steps = [...pointerSteps(pointer)]
  for (;;) {
    const node = nodeAt(document, steps)
    if (node !== null || steps.length === 0) return node
    steps.pop()
  }
}

function keyOffset(document: Document, pointer: string): number | null {
  const steps = pointerSteps(pointer)
  const holder = nodeAt(document, steps.slice(0, -1))
  const name = steps.at(-1)
  if (holder === null || !('items' in holder)) return null
  // Items of a map are pairs with a node as key; items of a list have no key.
  for (const item of holder.items as readonly unknown[]) {
    const key = (item as { readonly key?: Node & { readonly value?: unknown } } | null)?.key
    if (key?.value === name && key?.range) return key.range[0]
  }
  return null
}

/** The offset in the file of a character of a scalar; null where folding and escapes hide it. */
function insideOffset(text: string, node: Node, offset: number): number | null {
  const value = 'value' in node ? node.value : null
  const start = node.range?.[0]
  if (typeof value !== 'string' || start === undefined) return null
  for (const mark of [0, 1]) if (text.startsWith(value, start + mark)) return start + mark + offset
  if (!('type' in node) || node.type !== 'BLOCK_LITERAL') return null
  return blockOffset(text, start, value, offset)
}

/** A literal block has the lines of its value, each behind the same indentation. */
function blockOffset(text: string, start: number, value: string, offset: number): number | null {
  const before = value.slice(0, offset).split('\n')
  let lineStart = start
  for (let line = 0; line < before.length; line++) {
    lineStart = text.indexOf('\n', lineStart) + 1
    if (lineStart === 0) return null
  }
  const indent = /^ */.exec(text.slice(lineStart))?.[0].length ?? 0
  return lineStart + indent + (before.at(-1)?.length ?? 0)
}
