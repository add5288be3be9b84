/**
 * Edits JSON texts. Replaces a value in place. Adds a new member after the last one, with the same
 * layout. Removes a member with its comma and, if it has lines of its own, with these lines and the
 * comment after it. Keeps all other comments.
 */

import { type JsonMember, type JsonNode, jsonValue, readJsonTree, skipGap } from './json-tree.ts'
import {
  indentBefore,
  indentRest,
  indentUnit,
  isBlank,
  lineEnd,
  lineStart,
  lineStop,
  nextLine,
  type Splice,
  splice,
} from './text.ts'
import type { Format } from './value.ts'
import { entry, indexOf, type Keys, nothing, type Value, wrongType } from './value.ts'

export const JSON_FORMAT: Format = {
  read: (text) => jsonValue(readJsonTree(text)),
  set: (text, keys, value) => splice(text, new Editor(text).set(keys, value)),
  unset: (text, keys) => splice(text, new Editor(text).unset(keys)),
  prunes: false,
}

class Editor {
  readonly #text: string
  readonly #root: JsonNode
  readonly #end: string
  readonly #unit: string
  readonly #isOneLine: boolean

  constructor(text: string) {
    this.#text = text
    this.#root = readJsonTree(text)
    this.#end = lineEnd(text)
    this.#unit = indentUnit(text)
    const { start, end, members } = this.#root
    this.#isOneLine = members.length > 0 && !text.slice(start, end).includes('\n')
  }

  set(keys: Keys, value: Value): Splice[] {
    let node = this.#root
    for (const [at, key] of keys.entries()) {
      const member = this.#member(node, keys, at)
      if (member === undefined) {
        const inner = keys.slice(at + 1).reduceRight<Value>((held, one) => entry(one, held), value)
        return this.#add(node, key, inner)
      }
      node = member.node
    }
    const { start, end } = node
    return [{ start, end, text: this.#render(value, this.#indentOf(start)) }]
  }

  unset(keys: Keys): Splice[] {
    let node = this.#root
    for (const [at] of keys.entries()) {
      const member = this.#member(node, keys, at)
      if (member === undefined) throw nothing(keys)
      if (at === keys.length - 1) return this.#remove(node, node.members.indexOf(member))
      node = member.node
    }
    throw nothing(keys)
  }

  #member(node: JsonNode, keys: Keys, at: number): JsonMember | undefined {
    // `at` is an index of `keys`.
    const key = keys[at] as string
    if (node.kind === 'object') return node.members.find((member) => member.key === key)
    if (node.kind === 'plain') throw wrongType(keys, at, 'a plain value, which holds no keys')
    const index = indexOf(key, node.members.length)
    if (index === null) throw wrongType(keys, at, 'a list, which has no such place')
    return node.members[index]
  }

  #add(node: JsonNode, key: string, value: Value): Splice[] {
    const last = node.members[node.members.length - 1]
    const name = node.kind === 'object' ? `${JSON.stringify(key)}:${this.#colonGap(node)}` : ''
    if (last === undefined) return this.#addFirst(node, name, value)
    const indent = indentBefore(this.#text, last.start)
    if (indent === null || lineStart(this.#text, last.start) <= node.start) {
      return [
        this.#addBeside(node, last, `${name}${this.#render(value, this.#indentOf(node.start))}`),
      ]
    }
    const behind = last.comma === null ? last.node.end : last.comma + 1
    const stop = this.#restOfLine(behind)
    const comma = last.comma === null ? '' : ','
    const line = `${this.#end}${indent}${name}${this.#render(value, indent)}${comma}`
    if (last.comma !== null) return [{ start: stop, end: stop, text: line }]
    if (stop === behind) return [{ start: stop, end: stop, text: `,${line}` }]
    return [
      { start: behind, end: behind, text: ',' },
      { start: stop, end: stop, text: line },
    ]
  }

  /** On the same line as the last member. */
  #addBeside(node: JsonNode, last: JsonMember, member: string): Splice {
    const [first, second] = node.members
    const between =
      first?.comma == null || second === undefined
        ? ' '.repeat(/:\S|^[{[]\S*[}\]]$/.test(this.#text.slice(node.start, node.end)) ? 0 : 1)
        : this.#text.slice(first.comma + 1, second.start)
    const gap = isBlank(between) && !between.includes('\n') ? between : ' '
    const place = last.comma === null ? last.node.end : last.comma + 1
    return last.comma === null
      ? { start: place, end: place, text: `,${gap}${member}` }
      : { start: place, end: place, text: `${gap}${member},` }
  }

  #addFirst(node: JsonNode, name: string, value: Value): Splice[] {
    const inside = this.#text.slice(node.start + 1, node.end - 1)
    const outer = this.#indentOf(node.start)
    const indent = `${outer}${this.#unit}`
    if (this.#isOneLine && isBlank(inside)) {
      const text = `${name}${this.#render(value, outer)}`
      return [{ start: node.start + 1, end: node.end - 1, text }]
    }
    const line = `${this.#end}${indent}${name}${this.#render(value, indent)}`
    const place = node.start + 1
    if (!isBlank(inside)) return [{ start: place, end: place, text: line }]
    return [{ start: place, end: node.end - 1, text: `${line}${this.#end}${outer}` }]
  }

  #remove(node: JsonNode, index: number): Splice[] {
    const { members } = node
    // `unset` passes the index of a member.
    const member = members[index] as JsonMember
    const stop = member.comma === null ? member.node.end : member.comma + 1
    if (members.length === 1) return [this.#removeOnly(node, member, stop)]
    const hasLines =
      indentBefore(this.#text, member.start) !== null &&
      lineStart(this.#text, member.start) > node.start &&
      this.#restOfLine(stop) === lineStop(this.#text, stop)
    const before = members[index - 1]
    const next = members[index + 1]
    if (next !== undefined) {
      const end = hasLines ? nextLine(this.#text, stop) : next.start
      const start =
        hasLines && end <= next.start ? lineStart(this.#text, member.start) : member.start
      return [{ start, end: Math.min(end, next.start), text: '' }]
    }
    // The last of two members or more has one before it.
    return this.#removeLast(before as JsonMember, member, stop, hasLines)
  }

  /** The one before is the last now: its comma goes, unless commas trail here. */
  #removeLast(before: JsonMember, member: JsonMember, stop: number, hasLines: boolean): Splice[] {
    const comma = before.comma as number
    if (!hasLines) {
      return member.comma === null
        ? [{ start: before.node.end, end: member.node.end, text: '' }]
        : [{ start: comma + 1, end: stop, text: '' }]
    }
    const line = lineStart(this.#text, member.start)
    const start = this.#text[line - 2] === '\r' ? line - 2 : line - 1
    const gone = { start, end: lineStop(this.#text, stop), text: '' }
    if (member.comma !== null) return [gone]
    return [{ start: comma, end: comma + 1, text: '' }, gone]
  }

  #removeOnly(node: JsonNode, member: JsonMember, stop: number): Splice {
    const before = this.#text.slice(node.start + 1, member.start)
    const behind = this.#text.slice(stop, node.end - 1)
    if (isBlank(before) && isBlank(behind)) {
      return { start: node.start + 1, end: node.end - 1, text: '' }
    }
    return { start: member.start, end: stop, text: '' }
  }

  /** Behind what is left of a line, when that is blank or a comment; else the place itself. */
  #restOfLine(place: number): number {
    const stop = lineStop(this.#text, place)
    const rest = this.#text.slice(place, stop)
    if (isBlank(rest)) return place === stop ? place : stop
    const isComment = /^[ \t]*(?:\/\/|\/\*[^*]*\*\/[ \t]*$)/.test(rest)
    return isComment && skipGap(this.#text, place) >= stop ? stop : place
  }

  #indentOf(place: number): string {
    return /^[ \t]*/.exec(this.#text.slice(lineStart(this.#text, place)))?.[0] ?? ''
  }

  #colonGap(node: JsonNode): string {
    const { start, end, members } = node.members.length > 0 ? node : this.#root
    const [first] = members
    if (first === undefined) return ' '
    const between = /:(\s*)$/.exec(this.#text.slice(start, first.node.start))?.[1] ?? ' '
    return end > start && !between.includes('\n') ? between : ' '
  }

  #render(value: Value, indent: string): string {
    if (this.#isOneLine) {
      const tight = JSON.stringify(value)
      return this.#colonGap(this.#root) === '' ? tight : spaced(value)
    }
    return indentRest(JSON.stringify(value, null, this.#unit), indent, this.#end)
  }
}

/** On one line, with blanks behind colons and commas. */
function spaced(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
