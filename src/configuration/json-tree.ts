/**
 * JSON with the place of everything in it. Comments and trailing commas are read as well, since many
 * configurations that are called JSON hold them; they are kept and never made. Total and linear;
 * nesting is bounded.
 */
import { Refused } from './failure.ts'

export interface JsonNode {
  readonly kind: 'object' | 'array' | 'plain'
  readonly start: number
  /** Behind the last unit. */
  readonly end: number
  /** Of a plain value. */
  readonly value?: unknown
  /** Of an object: its members; of an array: its items, with empty keys. */
  readonly members: readonly JsonMember[]
}

export interface JsonMember {
  readonly key: string
  /** Of the key, or of an item. */
  readonly start: number
  readonly node: JsonNode
  /** The place of the comma after it; null if there is none. */
  readonly comma: number | null
}

const DEPTH_MAX = 512
const PLAIN = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: a text holds none of them unescaped
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const GAP = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y

export function readJsonTree(text: string): JsonNode {
  const reader = new Reader(text)
  const start = reader.gap(0)
  const root = reader.value(start, 0)
  const end = reader.gap(root.end)
  if (end < text.length) throw reader.fail(end, 'there is more text after the value')
  return root
}

/** Where the next thing begins that is neither blank nor a comment. */
export function skipGap(text: string, place: number): number {
  GAP.lastIndex = place
  GAP.test(text)
  return GAP.lastIndex
}

class Reader {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  gap(place: number): number {
    return skipGap(this.#text, place)
  }

  fail(place: number, message: string): Refused {
    const before = this.#text.slice(0, place)
    const line = before.split('\n').length
    const column = place - before.lastIndexOf('\n')
    return new Refused('config.syntax', `line ${line}, column ${column}: ${message}`)
  }

  value(start: number, depth: number): JsonNode {
    if (depth > DEPTH_MAX) throw this.fail(start, 'values nest too deeply')
    const first = this.#text[start]
    if (first === '{' || first === '[') return this.#holder(start, depth, first === '{')
    const end = this.#match(first === '"' ? STRING : PLAIN, start)
    if (end === null) throw this.fail(start, 'a value is expected here')
    const value: unknown = JSON.parse(this.#text.slice(start, end))
    return { kind: 'plain', start, end, value, members: [] }
  }

  #match(pattern: RegExp, place: number): number | null {
    pattern.lastIndex = place
    return pattern.test(this.#text) ? pattern.lastIndex : null
  }

  #holder(start: number, depth: number, isObject: boolean): JsonNode {
    const closing = isObject ? '}' : ']'
    const members: JsonMember[] = []
    const known = new Set<string>()
    let place = this.gap(start + 1)
    while (this.#text[place] !== closing) {
      if (members.length > 0 && members[members.length - 1]?.comma === null) {
        throw this.fail(place, `a comma or ${closing} is expected here`)
      }
      const member = this.#member(place, depth, isObject)
      if (isObject && known.has(member.key)) {
        throw new Refused('config.duplicate', 'a key occurs twice in one object', [member.key])
      }
      known.add(member.key)
      members.push(member)
      place = this.gap(member.comma === null ? member.node.end : member.comma + 1)
    }
    return { kind: isObject ? 'object' : 'array', start, end: place + 1, members }
  }

  #member(start: number, depth: number, isObject: boolean): JsonMember {
    let key = ''
    let place = start
    if (isObject) {
      const end = this.#match(STRING, start)
      if (end === null) throw this.fail(start, 'a key in double quotes is expected here')
      // `STRING` matched, so this parses as a string.
      key = JSON.parse(this.#text.slice(start, end)) as string
      const colon = this.gap(end)
      if (this.#text[colon] !== ':') throw this.fail(colon, 'a colon is expected here')
      place = this.gap(colon + 1)
    }
    const node = this.value(place, depth + 1)
    const behind = this.gap(node.end)
    return { key, start, node, comma: this.#text[behind] === ',' ? behind : null }
  }
}

/** Returns the value of a tree. */
export function jsonValue(node: JsonNode): unknown {
  if (node.kind === 'plain') return node.value
  if (node.kind === 'array') return node.members.map((member) => jsonValue(member.node))
  return Object.fromEntries(node.members.map((member) => [member.key, jsonValue(member.node)]))
}
