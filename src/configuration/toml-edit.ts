/**
 * Edits TOML texts at the places that `toml-eslint-parser` reports; no package prints TOML as it was
 * written. Replaces a value in place. Adds a new key after the last key of its table, and a new table
 * as a section at the end. Removes a key or a table with its lines.
 */
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser'
import { Refused } from './failure.ts'
import {
  indentBefore,
  lineEnd,
  lineStart,
  lineStop,
  nextLine,
  type Splice,
  splice,
} from './text.ts'
import type { Format } from './value.ts'
import { indexOf, isTable, type Keys, nothing, type Value, wrongType } from './value.ts'

export const TOML_FORMAT: Format = {
  read: (text) => getStaticTOMLValue(readProgram(text)),
  set: (text, keys, value) => splice(text, new Editor(text).set(keys, value)),
  unset: (text, keys) => splice(text, new Editor(text).unset(keys)),
  prunes: true,
}

function readProgram(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: '1.0' })
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    const isDuplicate = /multiple times/i.test(error.message)
    const place = `line ${error.lineNumber}, column ${error.column}`
    throw new Refused(
      isDuplicate ? 'config.duplicate' : 'config.syntax',
      `${place}: ${error.message}`,
    )
  }
}

type Path = readonly (string | number)[]
type Body = AST.TOMLTopLevelTable | AST.TOMLTable

/** A key with its value, and the whole path of it. */
interface Line {
  readonly path: Path
  readonly pair: AST.TOMLKeyValue
}

class Editor {
  readonly #text: string
  readonly #top: AST.TOMLTopLevelTable
  readonly #end: string

  constructor(text: string) {
    this.#text = text
    this.#top = readProgram(text).body[0]
    this.#end = lineEnd(text)
  }

  set(keys: Keys, value: Value): Splice[] {
    const found = this.#find(keys)
    if (found !== null) return this.#setBelow(found.pair.value, keys, found.path.length, value)
    const gone = this.#pieces(keys)
    if (gone.length > 0) return [...gone, this.#append(keys, value)]
    return [this.#insert(keys, value)]
  }

  unset(keys: Keys): Splice[] {
    const found = this.#find(keys)
    if (found === null) {
      const gone = this.#pieces(keys)
      if (gone.length === 0) throw nothing(keys)
      return gone
    }
    if (found.path.length === keys.length) return [this.#line(found.pair)]
    return [this.#unsetBelow(found.pair.value, keys, found.path.length)]
  }

  *#tables(): Iterable<Body> {
    yield this.#top
    for (const part of this.#top.body) if (part.type === 'TOMLTable') yield part
  }

  *#lines(): Iterable<Line> {
    for (const table of this.#tables()) {
      for (const pair of pairsOf(table))
        yield { path: [...pathOf(table), ...keyNames(pair.key)], pair }
    }
  }

  /** The key that names the path, or the one whose value the path goes into. */
  #find(keys: Keys): Line | null {
    for (const line of this.#lines()) {
      if (line.path.length <= keys.length && begins(keys, line.path)) return line
    }
    return null
  }

  /** Everything that lies below a path, each with its lines. */
  #pieces(keys: Keys): Splice[] {
    const gone: Splice[] = []
    for (const part of this.#top.body) {
      if (part.type === 'TOMLTable') {
        if (begins(part.resolvedKey, keys)) gone.push(this.#section(part))
        else for (const pair of part.body) this.#takeBelow(pair, part.resolvedKey, keys, gone)
      } else this.#takeBelow(part, [], keys, gone)
    }
    return gone
  }

  #takeBelow(pair: AST.TOMLKeyValue, base: Path, keys: Keys, gone: Splice[]): void {
    const path = [...base, ...keyNames(pair.key)]
    if (path.length > keys.length && begins(path, keys)) gone.push(this.#line(pair))
  }

  #setBelow(node: AST.TOMLContentNode, keys: Keys, at: number, value: Value): Splice[] {
    const [start, end] = node.range
    if (at === keys.length) return [{ start, end, text: tomlForm(value, keys, node) }]
    // `at` is below `keys.length`.
    const key = keys[at] as string
    if (node.type === 'TOMLInlineTable') {
      for (const pair of node.body) {
        const names = keyNames(pair.key)
        if (begins(keys.slice(at), names))
          return this.#setBelow(pair.value, keys, at + names.length, value)
      }
      const member = `${keys.slice(at).map(keyForm).join('.')} = ${tomlForm(value, keys, null)}`
      return [this.#addBeside(node, node.body, member)]
    }
    if (node.type !== 'TOMLArray') throw wrongType(keys, at, 'a plain value, which holds no keys')
    const index = indexOf(key, node.elements.length)
    if (index === null) throw wrongType(keys, at, 'a list, which has no such place')
    const item = node.elements[index]
    if (item !== undefined) return this.#setBelow(item, keys, at + 1, value)
    const inner = keys.slice(at + 1).reduceRight<Value>((held, one) => ({ [one]: held }), value)
    return [this.#addBeside(node, node.elements, tomlForm(inner, keys, null))]
  }

  #addBeside(
    holder: AST.TOMLArray | AST.TOMLInlineTable,
    members: readonly AST.TOMLNode[],
    member: string,
  ): Splice {
    const last = members[members.length - 1]
    if (last === undefined) {
      const pad = holder.type === 'TOMLInlineTable' ? ' ' : ''
      const [start, end] = holder.range
      return { start: start + 1, end: end - 1, text: `${pad}${member}${pad}` }
    }
    const [start, end] = last.range
    const indent = indentBefore(this.#text, start)
    const gap = indent === null ? ' ' : `${this.#end}${indent}`
    return { start: end, end, text: `,${gap}${member}` }
  }

  /** Removes the value at `keys` below a node; `at` is an index of `keys`. */
  #unsetBelow(node: AST.TOMLContentNode, keys: Keys, at: number): Splice {
    const key = keys[at] as string
    if (node.type === 'TOMLInlineTable') {
      for (const [index, pair] of node.body.entries()) {
        const names = keyNames(pair.key)
        if (!begins(keys.slice(at), names)) continue
        if (at + names.length < keys.length)
          return this.#unsetBelow(pair.value, keys, at + names.length)
        return removeBeside(node, node.body, index)
      }
      throw nothing(keys)
    }
    if (node.type !== 'TOMLArray') throw wrongType(keys, at, 'a plain value, which holds no keys')
    const index = indexOf(key, node.elements.length)
    const item = index === null ? undefined : node.elements[index]
    if (index === null || item === undefined) throw nothing(keys)
    if (at + 1 < keys.length) return this.#unsetBelow(item, keys, at + 1)
    return removeBeside(node, node.elements, index)
  }

  #insert(keys: Keys, value: Value): Splice {
    const holder = this.#holder(keys)
    const base = pathOf(holder)
    const rest = keys.slice(base.length)
    // Keys that are written with dots go on so; an element of a list of tables has no other way.
    const isDotted = pairsOf(holder).some((pair) => keyNames(pair.key)[0] === rest[0])
    const isElement = base.some((step) => typeof step === 'number')
    if (rest.length === 1 || isDotted || isElement) return this.#addLine(holder, rest, value, keys)
    return this.#append(keys, value)
  }

  /** The table with the longest header that leads to the path. */
  #holder(keys: Keys): Body {
    let best: Body = this.#top
    for (const table of this.#tables()) {
      const path = pathOf(table)
      if (path.length < keys.length && begins(keys, path) && path.length >= pathOf(best).length)
        best = table
    }
    return best
  }

  #addLine(holder: Body, rest: Keys, value: Value, keys: Keys): Splice {
    const line = `${rest.map(keyForm).join('.')} = ${tomlForm(value, keys, null)}`
    const pairs = pairsOf(holder)
    const last = pairs[pairs.length - 1]
    if (last === undefined && holder.type === 'TOMLTopLevelTable') return this.#firstLine(line)
    // A holder without keys is a section: the line above returns for the top-level table.
    const after = last ?? (holder as AST.TOMLTable).key
    const [start, stop] = after.range
    const indent = (last === undefined ? '' : indentBefore(this.#text, start)) ?? ''
    const place = lineStop(this.#text, stop)
    return { start: place, end: place, text: `${this.#end}${indent}${line}` }
  }

  /** Adds a line before the first section and the comment directly above it. */
  #firstLine(line: string): Splice {
    const [first] = this.#top.body
    if (first === undefined) {
      const start = this.#text.length
      const breaks = this.#text === '' || this.#text.endsWith('\n') ? '' : this.#end
      return { start, end: start, text: `${breaks}${line}${this.#end}` }
    }
    let place = lineStart(this.#text, first.range[0])
    while (place > 0) {
      const above = lineStart(this.#text, place - 1)
      if (!/^[ \t]*#/.test(this.#text.slice(above, place))) break
      place = above
    }
    return { start: place, end: place, text: `${line}${this.#end}${this.#end}` }
  }

  /** A section of its own at the end. */
  #append(keys: Keys, value: Value): Splice {
    const last = keys[keys.length - 1] as string
    const start = this.#text.length
    const line = `${keyForm(last)} = ${tomlForm(value, keys, null)}`
    if (keys.length === 1) return this.#addLine(this.#top, keys, value, keys)
    const header = `[${keys.slice(0, -1).map(keyForm).join('.')}]`
    const breaks = this.#text === '' || this.#text.endsWith('\n') ? '' : this.#end
    const blank = this.#text === '' ? '' : this.#end
    return { start, end: start, text: `${breaks}${blank}${header}${this.#end}${line}${this.#end}` }
  }

  /** The lines of a key, with the comment behind it. */
  #line({ range: [start, stop] }: AST.TOMLNode): Splice {
    const from = lineStart(this.#text, start)
    const end = nextLine(this.#text, stop)
    // The last line of a text without an end takes the break before it.
    const isOpen = end === this.#text.length && !this.#text.endsWith('\n') && from > 0
    return isOpen
      ? { start: from - this.#end.length, end, text: '' }
      : { start: from, end, text: '' }
  }

  /** A header, its keys, and the blank line before it. */
  #section(table: AST.TOMLTable): Splice {
    const last = table.body[table.body.length - 1] ?? table.key
    const from = lineStart(this.#text, table.range[0])
    const above = lineStart(this.#text, Math.max(0, from - 1))
    const isBlankAbove = from > 0 && this.#text.slice(above, from).trim() === ''
    return {
      start: isBlankAbove ? above : from,
      end: nextLine(this.#text, last.range[1]),
      text: '',
    }
  }
}

function removeBeside(
  holder: AST.TOMLArray | AST.TOMLInlineTable,
  members: readonly AST.TOMLNode[],
  index: number,
): Splice {
  // `#unsetBelow` passes the index of a member.
  const member = members[index] as AST.TOMLNode
  const next = members[index + 1]
  if (next !== undefined) return { start: member.range[0], end: next.range[0], text: '' }
  const before = members[index - 1]
  if (before !== undefined) return { start: before.range[1], end: member.range[1], text: '' }
  return { start: holder.range[0] + 1, end: holder.range[1] - 1, text: '' }
}

function pathOf(table: Body): Path {
  return table.type === 'TOMLTopLevelTable' ? [] : table.resolvedKey
}

function pairsOf(table: Body): readonly AST.TOMLKeyValue[] {
  // Both kinds of `Body` hold only these parts; `filter` needs one type for both.
  return (table.body as readonly (AST.TOMLKeyValue | AST.TOMLTable)[]).filter(
    (part) => part.type === 'TOMLKeyValue',
  )
}

function keyNames({ keys }: AST.TOMLKey): readonly string[] {
  return keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))
}

function begins(path: Path, with_: Path): boolean {
  return (
    path.length >= with_.length &&
    with_.every((step, index) => String(path[index]) === String(step))
  )
}

function keyForm(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : textForm(key)
}

function textForm(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}

/** Written as the old value was, as far as the new one can be: quotes, and a number with a point. */
function tomlForm(value: Value, keys: Keys, old: AST.TOMLContentNode | null): string {
  const refuse = (what: string): Refused =>
    new Refused('config.value', `${what} cannot be written in TOML`, keys)
  if (value === null || value === undefined) throw refuse('null')
  if (typeof value === 'string') {
    if (/[\ud800-\udfff]/u.test(value)) throw refuse('half a character')
    const wasLiteral = old?.type === 'TOMLValue' && old.kind === 'string' && old.style === 'literal'
    // biome-ignore lint/suspicious/noControlCharactersInRegex: literal texts hold no control characters
    return wasLiteral && !/['\u0000-\u001f\u007f]/.test(value) ? `'${value}'` : textForm(value)
  }
  if (typeof value === 'number') {
    const isFloat = old?.type === 'TOMLValue' && old.kind === 'float'
    const text = String(value)
    return isFloat && /^-?\d+$/.test(text) ? `${text}.0` : text
  }
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) {
    return `[${value.map((item) => tomlForm(item, keys, null)).join(', ')}]`
  }
  if (!isTable(value)) throw refuse('this value')
  const members = Object.entries(value).map(
    ([key, item]) => `${keyForm(key)} = ${tomlForm(item, keys, null)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
