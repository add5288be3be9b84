/**
 * Parses the text form of a guard into its tree.
 *
 *     or      = and { "OR" and }         NOT binds tighter than AND, and AND tighter than OR;
 *     and     = unit { "AND" unit }      a chain is one node, parentheses keep a node apart
 *     unit    = "NOT" unit | "(" or ")" | call
 *     call    = ( "AND" | "OR" ) "(" [ or { "," or } ] ")" | operator "(" operand { "," operand } ")"
 *             | "WINDOW_MATCH" [ "(" [ "window" ] ")" ]
 *     operand = path | string | "[" … "]" | "{" … "}"
 *
 * Form only: numbers, empty sets and unknown paths pass, so that the admission refuses them by code.
 * INVARIANT (a text is worth its tree): a text holds no more values and nests no deeper than a tree
 * in a document may. Time is linear in the source.
 */
import { DOCUMENT_LIMITS, nearest, pointerSteps, showName } from '../../base/index.ts'
import { isObject, type JsonObject } from '../kernel/contract.ts'
import { GUARD_OPERATORS, type GuardOperator } from './guard.ts'
import { type GuardToken, lineAndColumn, readToken, sayForeign } from './guard-token.ts'

/** A guard lies three levels deep: in the document, in its list of rules, in the rule. */
const LEVELS_MAX = DOCUMENT_LIMITS.depthMax - 3

export interface GuardPosition {
  /** UTF-16 offset into the source. */
  readonly offset: number
  /** Line and column count from 1; a column is a code point. */
  readonly line: number
  readonly column: number
}

/** A text that is a guard by its form; the tree is still to be judged. */
export interface GuardSyntax {
  readonly tree: JsonObject
  /** How many values the tree holds, counted as in a document. */
  readonly values: number
  /** Returns the place in the source of the value at a JSON Pointer into the tree. */
  readonly locate: (pointer: string) => GuardPosition
}

export interface SyntaxProblem {
  readonly place: GuardPosition
  readonly message: string
  readonly hint: string | null
}

export type ParsedGuard =
  | { readonly ok: true; readonly syntax: GuardSyntax }
  | { readonly ok: false; readonly problem: SyntaxProblem }

export function readGuardText(
  source: string,
  valuesMax: number = DOCUMENT_LIMITS.valuesMax,
): ParsedGuard {
  const parser = new Parser(source, valuesMax)
  const tree = parser.readAll()
  if (tree === null) return { ok: false, problem: parser.problem() }
  const locate = (pointer: string) => placeOf(source, parser.offsetOf(tree, pointer))
  return { ok: true, syntax: { tree, values: parser.values, locate } }
}

function placeOf(source: string, offset: number): GuardPosition {
  return { offset, ...lineAndColumn(source, offset) }
}

/** What each operand of a call is called in the tree, and what may stand there. */
const OPERANDS = {
  EQ: [
    ['field', 'path'],
    ['value', 'literal'],
  ],
  IN: [
    ['field', 'path'],
    ['set', 'literal'],
  ],
  EXISTS: [['field', 'path']],
  INTERSECTS: [
    ['left', 'side'],
    ['right', 'side'],
  ],
} as const satisfies Record<string, readonly (readonly [string, OperandKind])[]>

type OperandKind = 'path' | 'literal' | 'side'
type Call = keyof typeof OPERANDS
type Literal = string | number | boolean | null
type Operand = Literal | readonly Literal[]

/** The offset of a node or list, and the offsets of its members. */
interface Mark {
  readonly at: number
  readonly members: Readonly<Record<string, number>> | readonly number[]
}

const WORD_VALUES: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Every method that reads gives null once a problem is noted; the first problem stays. */
class Parser {
  values = 0
  readonly #source: string
  readonly #valuesMax: number
  readonly #marks = new Map<object, Mark>()
  #token: GuardToken
  #nesting = 0
  #problem: { at: number; message: string; hint: string | null } | null = null

  constructor(source: string, valuesMax: number) {
    this.#source = source
    this.#valuesMax = valuesMax
    this.#token = readToken(source, 0)
  }

  readAll(): JsonObject | null {
    const tree = this.#chain('OR')
    if (tree === null) return null
    if (this.#token.kind !== 'end') return this.#unexpected('AND, OR or the end of the guard')
    if (levelsOf(tree) > LEVELS_MAX) return this.#tooDeep(0)
    return tree
  }

  problem(): SyntaxProblem {
    const { at, message, hint } = this.#problem ?? { at: 0, message: 'unreadable', hint: null }
    return { place: placeOf(this.#source, at), message, hint }
  }

  offsetOf(tree: JsonObject, pointer: string): number {
    let current: unknown = tree
    let offset = this.#marks.get(tree)?.at ?? 0
    for (const step of pointerSteps(pointer)) {
      if (typeof current !== 'object' || current === null) break
      const members = this.#marks.get(current)?.members ?? {}
      // A list of offsets is read by index as an object is by key; own keys only.
      if (Object.hasOwn(members, step)) offset = (members as Record<string, number>)[step] ?? offset
      current = Object.hasOwn(current, step) ? (current as JsonObject)[step] : undefined
      offset = this.#marks.get(current as object)?.at ?? offset
    }
    return offset
  }

  #chain(op: 'AND' | 'OR'): JsonObject | null {
    const next = () => (op === 'OR' ? this.#chain('AND') : this.#unit())
    const first = next()
    if (first === null || !this.#isWord(op)) return first
    const args = [first]
    while (this.#isWord(op)) {
      this.#advance()
      const operand = next()
      if (operand === null) return null
      args.push(operand)
    }
    return this.#node(this.#marks.get(first)?.at ?? 0, { op, args }, 3)
  }

  #unit(): JsonObject | null {
    const { kind, text, at } = this.#token
    if (++this.#nesting > DOCUMENT_LIMITS.depthMax) return this.#tooDeep(at)
    const unit = this.#isWord('NOT')
      ? this.#not()
      : kind === 'mark' && text === '('
        ? this.#group()
        : kind === 'word'
          ? this.#call()
          : this.#unexpected('a condition')
    this.#nesting--
    return unit
  }

  #not(): JsonObject | null {
    const { at } = this.#advance()
    const arg = this.#unit()
    return arg === null ? null : this.#node(at, { op: 'NOT', arg }, 2)
  }

  #group(): JsonObject | null {
    this.#advance()
    const inner = this.#chain('OR')
    return inner !== null && this.#expect(')') ? inner : null
  }

  #call(): JsonObject | null {
    const { text, at } = this.#token
    if (!isOperator(text)) return this.#unknownWord()
    this.#advance()
    if (text === 'WINDOW_MATCH') return this.#windowMatch(at)
    if (!this.#expect('(')) return null
    if (text === 'AND' || text === 'OR') return this.#prefixChain(text, at)
    // NOT never comes here: `#unit` has taken it.
    return this.#leaf(text as Call, at)
  }

  /** `AND(a)` and `OR(a, b)`: the only way to write a chain of one. */
  #prefixChain(op: 'AND' | 'OR', at: number): JsonObject | null {
    const args: JsonObject[] = []
    while (!this.#isMark(')')) {
      if (args.length > 0 && !this.#expect(',')) return null
      const arg = this.#chain('OR')
      if (arg === null) return null
      args.push(arg)
    }
    this.#advance()
    return this.#node(at, { op, args }, 3)
  }

  #windowMatch(at: number): JsonObject | null {
    if (this.#isMark('(')) {
      this.#advance()
      if (this.#isWord('window')) this.#advance()
      if (!this.#expect(')')) return null
    }
    return this.#node(at, { op: 'WINDOW_MATCH' }, 2)
  }

  #leaf(op: Call, at: number): JsonObject | null {
    const node: Record<string, unknown> = { op }
    const members: Record<string, number> = { op: at }
    for (const [index, [name, kind]] of OPERANDS[op].entries()) {
      if (index > 0 && !this.#expect(',')) return null
      members[name] = this.#token.at
      const operand = this.#operand(kind)
      if (operand === undefined) return null
      node[name] = operand
    }
    return this.#expect(')') ? this.#node(at, node, 2, members) : null
  }

  /** Undefined once a problem is noted: null is a literal, and refused later by its code. */
  #operand(kind: OperandKind): Operand | undefined {
    const { kind: found, text } = this.#token
    if (kind !== 'literal' && found === 'word') {
      this.#advance()
      return this.#spend(1) ? text : undefined
    }
    if (kind === 'path') return this.#unexpected('a path') ?? undefined
    if (this.#isMark('[') || this.#isMark('{')) return this.#set()
    if (kind === 'side') return this.#unexpected('a path or a set') ?? undefined
    return this.#literal()
  }

  #set(): readonly Literal[] | undefined {
    const { at, text } = this.#advance()
    const close = text === '[' ? ']' : '}'
    const items: Literal[] = []
    const members: number[] = []
    if (!this.#spend(1)) return undefined
    while (!this.#isMark(close)) {
      if (items.length > 0 && !this.#expect(',')) return undefined
      members.push(this.#token.at)
      const item = this.#literal()
      if (item === undefined) return undefined
      items.push(item)
    }
    this.#advance()
    this.#marks.set(items, { at, members })
    return items
  }

  #literal(): Literal | undefined {
    const { kind, text } = this.#token
    if (kind === 'string') return this.#string()
    if (kind === 'number' || (kind === 'word' && WORD_VALUES.has(text))) {
      this.#advance()
      if (!this.#spend(1)) return undefined
      return kind === 'number' ? Number(text) : WORD_VALUES.get(text)
    }
    const hint = kind === 'word' ? `write ${showName(`"${text}"`)}` : null
    return this.#unexpected('a string in double quotes', hint) ?? undefined
  }

  #string(): string | undefined {
    const value = decodeString(this.#token.text)
    if (value === null) {
      return this.#fail('the string is not one that JSON could hold', null) ?? undefined
    }
    this.#advance()
    return this.#spend(1) ? value : undefined
  }

  #node(
    at: number,
    node: JsonObject,
    values: number,
    members: Readonly<Record<string, number>> = {},
  ): JsonObject | null {
    this.#marks.set(node, { at, members })
    return this.#spend(values) ? node : null
  }

  #spend(values: number): boolean {
    this.values += values
    if (this.values <= this.#valuesMax) return true
    this.#fail('the guards of the document hold more values than a document may', null)
    return false
  }

  #advance(): GuardToken {
    const token = this.#token
    this.#token = readToken(this.#source, token.at + token.text.length)
    return token
  }

  #isWord(text: string): boolean {
    return this.#token.kind === 'word' && this.#token.text === text
  }

  #isMark(text: string): boolean {
    return this.#token.kind === 'mark' && this.#token.text === text
  }

  #expect(mark: string): boolean {
    if (!this.#isMark(mark)) {
      this.#unexpected(showName(mark))
      return false
    }
    this.#advance()
    return true
  }

  #unknownWord(): null {
    const word = this.#token
    const next = readToken(this.#source, word.at + word.text.length)
    if (next.kind === 'foreign') return this.#foreign(next)
    const near = nearest(word.text, GUARD_OPERATORS)
    const all = GUARD_OPERATORS.join(', ')
    const message = `${showName(word.text)} is no operator: the guard language has ${all}, no other`
    return this.#fail(message, near === null ? null : `did you mean ${showName(near)}?`)
  }

  #unexpected(wanted: string, hint: string | null = null): null {
    const { kind, text } = this.#token
    if (kind === 'foreign') return this.#foreign(this.#token)
    if (kind === 'open_string') return this.#fail('the string is not closed on its line', hint)
    const found = kind === 'end' ? 'the end of the guard' : showName(text)
    return this.#fail(`expected ${wanted}, found ${found}`, hint)
  }

  #foreign(token: GuardToken): null {
    const { message, hint } = sayForeign(token.text)
    return this.#fail(message, hint, token.at)
  }

  #tooDeep(at: number): null {
    return this.#fail('the guard nests deeper than a document may', null, at)
  }

  #fail(message: string, hint: string | null, at: number = this.#token.at): null {
    this.#problem ??= { at, message, hint }
    return null
  }
}

function isOperator(text: string): text is GuardOperator {
  return GUARD_OPERATORS.some((operator) => operator === text)
}

/** Nested containers, as the limits of a document count them. */
function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let deepest = 0
  const members = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
  for (const member of members) deepest = Math.max(deepest, levelsOf(member))
  return deepest + 1
}

function decodeString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' && value.isWellFormed() ? value : null
  } catch {
    return null
  }
}
