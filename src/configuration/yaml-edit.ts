/**
 * Edits YAML 1.2 texts at the places that the `yaml` package reports. The printer of the package
 * keeps comments but changes the layout, so the editor splices texts instead: all other lines stay
 * as they are. Refuses a file with several documents, and a change through an alias.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  Scalar,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { Refused } from './failure.ts'
import {
  indentBefore,
  indentUnit,
  lineEnd,
  lineStart,
  nextLine,
  type Splice,
  splice,
} from './text.ts'
import type { Format } from './value.ts'
import { entry, indexOf, isTable, type Keys, nothing, type Value, wrongType } from './value.ts'

const ALIASES_MAX = 100
/** A Windows or old line end inside a text is written as an escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const NEEDS_ESCAPES = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/

export const YAML_FORMAT: Format = {
  read: (text) => documentValue(readDocument(text)),
  set: (text, keys, value) => splice(text, new Editor(text).set(keys, value)),
  unset: (text, keys) => splice(text, new Editor(text).unset(keys)),
  prunes: false,
}

function readDocument(text: string): Document.Parsed | null {
  const parsed = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    uniqueKeys: true,
    keepSourceTokens: true,
    prettyErrors: true,
  })
  // An empty stream has no documents; its type says more than that.
  const documents = [...parsed] as Document.Parsed[]
  if (documents.length > 1) {
    throw new Refused('config.syntax', 'the file holds more than one document')
  }
  const [document = null] = documents
  const [problem] = document === null ? [] : [...document.errors, ...document.warnings]
  if (problem === undefined) return document
  const code = problem.code === 'DUPLICATE_KEY' ? 'config.duplicate' : 'config.syntax'
  throw new Refused(code, problem.message.split('\n')[0]?.replace(/:$/, '') ?? 'this is no YAML')
}

/** An empty document is an empty table: that is what a change can be made in. */
function documentValue(document: Document.Parsed | null): Value {
  if (document === null || document.contents === null) return {}
  if (isScalar(document.contents) && isEmpty(document.contents)) return {}
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX })
  } catch {
    throw new Refused('config.syntax', 'the aliases of the document cannot be followed')
  }
}

type Place = { readonly node: Node; readonly pair: Pair | null }

class Editor {
  readonly #text: string
  readonly #document: Document.Parsed | null
  readonly #end: string
  readonly #unit: number

  constructor(text: string) {
    this.#text = text
    this.#document = readDocument(text)
    this.#end = lineEnd(text)
    this.#unit = Math.max(1, indentUnit(text).replaceAll('\t', '').length)
  }

  set(keys: Keys, value: Value): Splice[] {
    const root = this.#root()
    if (root === null) return [this.#first(keys, value)]
    let place: Place = { node: root, pair: null }
    for (const [at] of keys.entries()) {
      const next = this.#step(place.node, keys, at)
      if (next === undefined) {
        const inner = keys.slice(at + 1).reduceRight<Value>((held, one) => entry(one, held), value)
        // `at` is an index of `keys`.
        return [this.#add(place.node, keys[at] as string, inner)]
      }
      place = next
    }
    return [this.#replace(place, value)]
  }

  unset(keys: Keys): Splice[] {
    let place: Place = { node: this.#root() ?? new Scalar(null), pair: null }
    for (const [at] of keys.entries()) {
      const next = this.#step(place.node, keys, at)
      if (next === undefined) throw nothing(keys)
      if (at === keys.length - 1) return [this.#remove(place, next)]
      place = next
    }
    throw nothing(keys)
  }

  #root(): Node | null {
    const contents = this.#document?.contents ?? null
    return contents === null || (isScalar(contents) && isEmpty(contents)) ? null : contents
  }

  #step(node: Node, keys: Keys, at: number): Place | undefined {
    // Callers pass an index of `keys`.
    const key = keys[at] as string
    if (isAlias(node)) {
      const message = 'the path goes through an alias: what it shares would change elsewhere too'
      throw new Refused('config.shared', message, keys)
    }
    if (isMap(node)) {
      const pair = node.items.find((one) => keyText(one.key) === key)
      if (pair === undefined) return undefined
      // In a parsed document, the value of a pair is a node or null.
      return { node: (pair.value as Node | null) ?? new Scalar(null), pair }
    }
    if (!isSeq(node)) throw wrongType(keys, at, 'a plain value, which holds no keys')
    const index = indexOf(key, node.items.length)
    if (index === null) throw wrongType(keys, at, 'a list, which has no such place')
    // In a parsed document, items are nodes; `index` may be the next free place.
    const item = node.items[index] as Node | undefined
    if (isPair(item)) throw wrongType(keys, at, 'a pair in a list, which cannot be named')
    return item === undefined ? undefined : { node: item, pair: null }
  }

  /** A document without anything in it but comments. */
  #first(keys: Keys, value: Value): Splice {
    const inner = keys.reduceRight<Value>((held, one) => entry(one, held), value)
    const start = this.#text.length
    const breaks = this.#text === '' || this.#text.endsWith('\n') ? '' : this.#end
    return { start, end: start, text: `${breaks}${this.#block(inner, 0)}${this.#end}` }
  }

  #replace({ node, pair }: Place, value: Value): Splice {
    const [start, stop] = rangeOf(node)
    if (this.#isInFlow(node, start)) return { start, end: stop, text: JSON.stringify(value) }
    const isBlock = isBlockNode(node)
    const end = this.#contentEnd(node)
    const tail = isBlock && this.#text[end - 1] === '\n' ? this.#end : ''
    // Behind the colon, or behind the dash: where a value on the same line begins.
    const from = isBlock && pair !== null ? this.#behindColon(pair) : start
    const text =
      pair === null
        ? this.#item(value, this.#columnOf(start), node)
        : this.#inline(value, this.#columnOf(rangeOf(pair.key)[0]), node)
    const breaks = text.startsWith(this.#end)
    const before = this.#text[from - 1] ?? ' '
    const lead = breaks || /\s/.test(before) ? '' : ' '
    const cut = breaks && before === ' ' ? 1 : 0
    return { start: from - cut, end: isBlock ? end : stop, text: `${lead}${text}${tail}` }
  }

  #add(node: Node, key: string, value: Value): Splice {
    if (!isCollection(node)) throw wrongType([key], 0, 'a plain value, which holds no keys')
    const name = isMap(node) ? `${keyForm(key)}: ` : ''
    if (node.flow === true) return this.#addInFlow(node, `${name}${JSON.stringify(value)}`)
    // `isCollection` held above: the node is a map or a list.
    const column = this.#collectionColumn(node as YAMLMap | YAMLSeq)
    const indent = ' '.repeat(column)
    const body = isMap(node)
      ? `${keyForm(key)}:${glued(this.#inline(value, column, null), this.#end)}`
      : `- ${this.#item(value, column + 2, null)}`
    const end = this.#contentEnd(node)
    const place = this.#text[end - 1] === '\n' ? end : nextLine(this.#text, end)
    const isOpen = this.#text[place - 1] !== '\n'
    const text = isOpen ? `${this.#end}${indent}${body}` : `${indent}${body}${this.#end}`
    return { start: place, end: place, text }
  }

  #addInFlow(node: YAMLMap | YAMLSeq, member: string): Splice {
    const last = node.items[node.items.length - 1]
    const [start] = rangeOf(node)
    if (last === undefined) {
      const [, stop] = rangeOf(node)
      return { start: start + 1, end: stop - 1, text: member }
    }
    // In a parsed document, members are nodes or pairs.
    const place = endOf(last as Node | Pair)
    return { start: place, end: place, text: `, ${member}` }
  }

  #remove({ node: holder, pair: above }: Place, { node, pair }: Place): Splice {
    // `#step` found the member in this holder, so the holder is a map or a list.
    const collection = holder as YAMLMap | YAMLSeq
    const members = collection.items as readonly (Node | Pair)[]
    const index = members.indexOf(pair ?? node)
    if (collection.flow === true) return this.#removeInFlow(members, index)
    if (members.length === 1) return this.#empty(collection, above)
    const start = this.#memberStart(collection, index)
    const next = index + 1 < members.length ? this.#memberStart(collection, index + 1) : null
    if (indentBefore(this.#text, start) === null) {
      // Behind a dash on the same line: the next one takes its place.
      return { start, end: next ?? start, text: '' }
    }
    const end = this.#contentEnd((pair?.value as Node | null) ?? (pair?.key as Node) ?? node, node)
    const stop = this.#text[end - 1] === '\n' ? end : nextLine(this.#text, end)
    return { start: lineStart(this.#text, start), end: stop, text: '' }
  }

  /** Removes a member of a flow collection; `index` is its place in `members`. */
  #removeInFlow(members: readonly (Node | Pair)[], index: number): Splice {
    const member = members[index] as Node | Pair
    const next = members[index + 1]
    if (next !== undefined) return { start: startOf(member), end: startOf(next), text: '' }
    const before = members[index - 1]
    const start = before === undefined ? startOf(member) : endOf(before)
    return { start, end: endOf(member), text: '' }
  }

  /** A block that loses its last member is written as an empty collection. */
  #empty(collection: YAMLMap | YAMLSeq, above: Pair | null): Splice {
    const end = this.#contentEnd(collection)
    const tail = this.#text[end - 1] === '\n' ? this.#end : ''
    const empty = isMap(collection) ? '{}' : '[]'
    if (above === null) {
      const [start] = rangeOf(collection)
      return { start, end, text: `${empty}${tail}` }
    }
    const start = this.#behindColon(above)
    const lead = this.#text[start - 1] === ' ' ? '' : ' '
    return { start, end, text: `${lead}${empty}${tail}` }
  }

  /** Writes a value that follows `key:` or `-`, without the blank before it. */
  #inline(value: Value, column: number, old: Node | null): string {
    const isPlain = !isTable(value) && !Array.isArray(value)
    if (isPlain) return scalarForm(value, old)
    // A value that is not plain is a table or a list.
    if (Object.keys(value as object).length === 0) return Array.isArray(value) ? '[]' : '{}'
    return `${this.#end}${this.#block(value, column + this.#unit)}`
  }

  /** Writes a value that follows a dash: a collection begins on the same line. */
  #item(value: Value, column: number, old: Node | null): string {
    const text = this.#inline(value, column - this.#unit, old)
    return text.startsWith(this.#end) ? text.trimStart() : text
  }

  #block(value: Value, column: number): string {
    const indent = ' '.repeat(column)
    const text = stringify(escaped(value), { indent: this.#unit, lineWidth: 0 }).trimEnd()
    return text
      .split('\n')
      .map((line) => `${indent}${line}`)
      .join(this.#end)
  }

  #contentEnd(node: Node, fallback: Node = node): number {
    if (isCollection(node) && node.flow !== true) {
      const last = node.items[node.items.length - 1]
      if (isPair(last)) {
        // In a parsed document, the value of a pair is a node or null.
        const value = last.value as Node | null
        return value?.range == null
          ? rangeOf(last.key)[1]
          : Math.max(this.#contentEnd(value), rangeOf(last.key)[1])
      }
      // A member that is no pair is a node.
      if (last !== undefined) return this.#contentEnd(last as Node)
    }
    return node.range == null ? rangeOf(fallback)[1] : rangeOf(node)[1]
  }

  /** Where the value may begin; blanks behind the colon and an anchor or tag are kept. */
  #behindColon(pair: Pair): number {
    // Tokens are kept by the way it is read.
    const { sep = [] } = (pair.srcToken ?? {}) as {
      sep?: readonly { type: string; offset: number; source: string }[]
    }
    let end = rangeOf(pair.key)[1]
    for (const { type, offset, source } of sep) {
      if (type === 'newline' || type === 'comment') break
      if (type === 'space') continue
      end = offset + source.length
    }
    return end
  }

  #memberStart(collection: YAMLMap | YAMLSeq, index: number): number {
    // Callers pass the index of a member, which is a node or a pair.
    const member = collection.items[index] as Node | Pair
    if (isMap(collection)) return startOf(member)
    // `keepSourceTokens` is set, so a list has its token with these fields.
    const { items = [] } = (collection.srcToken ?? {}) as {
      items?: readonly { start: readonly { type: string; offset: number }[] }[]
    }
    const dash = items[index]?.start.find(({ type }) => type === 'seq-item-ind')
    return dash?.offset ?? startOf(member)
  }

  #collectionColumn(collection: YAMLMap | YAMLSeq): number {
    return this.#columnOf(this.#memberStart(collection, 0))
  }

  #columnOf(place: number): number {
    return place - lineStart(this.#text, place)
  }

  #isInFlow(node: Node, start: number): boolean {
    const holds = (one: unknown): boolean => {
      if (one === node || !isCollection(one)) return false
      const [from, to] = rangeOf(one)
      if (start < from || start >= to) return false
      if (one.flow === true) return true
      return one.items.some((item) => holds(isPair(item) ? item.value : item))
    }
    return holds(this.#document?.contents)
  }
}

function glued(text: string, end: string): string {
  return text.startsWith(end) ? text : ` ${text}`
}

function rangeOf(node: unknown): readonly [number, number, number] {
  // Callers pass nodes, which have a range if they come from a text.
  const { range } = node as { range?: readonly [number, number, number] | null }
  if (range == null) throw new Refused('config.inexact', 'a value has no place in the text')
  return range
}

function startOf(member: Node | Pair): number {
  return rangeOf(isPair(member) ? member.key : member)[0]
}

function endOf(member: Node | Pair): number {
  if (!isPair(member)) return rangeOf(member)[1]
  // In a parsed document, the value of a pair is a node or null.
  const value = member.value as Node | null
  return Math.max(rangeOf(member.key)[1], value?.range == null ? 0 : rangeOf(value)[1])
}

function isEmpty(node: Scalar): boolean {
  return node.value === null && (node.source === undefined || node.source === '')
}

function isBlockNode(node: Node): boolean {
  if (isCollection(node)) return node.flow !== true
  return isScalar(node) && (node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL')
}

function keyText(key: unknown): string | null {
  if (!isScalar(key)) return null
  return key.value === null ? '' : String(key.value)
}

function keyForm(key: string): string {
  return scalarForm(key, null)
}

/** Quoted as the value before it was, where there was one and it was quoted. */
function scalarForm(value: Value, old: Node | null): string {
  if (typeof value === 'string' && NEEDS_ESCAPES.test(value)) return JSON.stringify(value)
  const quote = isScalar(old) && typeof value === 'string' ? old.type : undefined
  const isQuoted = quote === 'QUOTE_DOUBLE' || quote === 'QUOTE_SINGLE'
  return stringify(value, {
    lineWidth: 0,
    ...(isQuoted ? { defaultStringType: quote } : {}),
  }).trimEnd()
}

/** Texts with line breaks are written in quotes: block texts depend on what surrounds them. */
function escaped(value: Value): unknown {
  if (typeof value === 'string' && NEEDS_ESCAPES.test(value)) {
    const scalar = new Scalar(value)
    scalar.type = 'QUOTE_DOUBLE'
    return scalar
  }
  if (Array.isArray(value)) return value.map(escaped)
  if (!isTable(value)) return value
  return new Map(Object.entries(value).map(([key, item]) => [key, escaped(item)]))
}
