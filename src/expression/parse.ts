/**
 * Parses CEL, and `->` as the operator of lowest precedence, which is right-associative. Recursive
 * descent with one method for each level of precedence. Chains are loops, so only nesting recurses.
 *
 * INVARIANT (bounded): a source has at most 4,096 bytes, 64 levels of nesting and 512 nodes, so every
 * walk over the tree is bounded too.
 */
import { nearest, showName, utf8Length } from '../base/index.ts'
import type { RawFault } from './fault.ts'
import type { ArithmeticOperator, CompareOperator, LogicOperator, Node } from './syntax.ts'
import { INT_MAX, INT_MIN, type Token, tokenize } from './token.ts'

const SOURCE_BYTES_MAX = 4096
const DEPTH_MAX = 64
const NODES_MAX = 512

type ParseResult =
  | { readonly ok: true; readonly node: Node }
  | { readonly ok: false; readonly fault: RawFault }

export function parse(source: string): ParseResult {
  if (source.length > SOURCE_BYTES_MAX || utf8Length(source) > SOURCE_BYTES_MAX) {
    const message = `the expression is longer than ${SOURCE_BYTES_MAX} bytes`
    return { ok: false, fault: { code: 'expression.too_long', at: 0, message } }
  }
  const reading = tokenize(source)
  if (!reading.ok) return reading
  const parser = new Parser(reading.tokens)
  const node = parser.whole()
  if (node !== null) return { ok: true, node }
  return { ok: false, fault: parser.fault }
}

/** Words that CEL keeps for itself; as names of fields, behind a dot, they are free. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop'],
  ...['package', 'namespace', 'return', 'var', 'void', 'while'],
])
const KEYWORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in'])

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>='])
const SUMS: ReadonlySet<string> = new Set(['+', '-'])
const PRODUCTS: ReadonlySet<string> = new Set(['*', '/', '%'])

/** Words of other languages, with what CEL writes instead. */
const FOREIGN_WORDS: Readonly<Record<string, string>> = {
  and: '&&',
  or: '||',
  not: '!',
  implies: '->',
  AND: '&&',
  OR: '||',
  NOT: '!',
}

/** Every method returns null once there is a fault. Only the first fault is reported. */
class Parser {
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0
  #nodes = 0
  #fault: RawFault | null = null

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get fault(): RawFault {
    return this.#fault ?? { code: 'expression.syntax', at: 0, message: 'the expression is empty' }
  }

  whole(): Node | null {
    const { kind } = this.#token
    if (kind === 'end') return null
    const node = this.#expression()
    if (node === null || this.#token.kind === 'end') return node
    return this.#unexpected('an operator or the end')
  }

  get #token(): Token {
    // The last token is the end, and nothing goes beyond it.
    return this.#tokens[this.#next] as Token
  }

  #isMark(text: string): boolean {
    const token = this.#token
    return token.kind === 'mark' && token.text === text
  }

  /** Consumes the mark if it is the next token. Returns whether it was. */
  #take(text: string): boolean {
    if (!this.#isMark(text)) return false
    this.#next++
    return true
  }

  #refuse(fault: RawFault): null {
    this.#fault ??= fault
    return null
  }

  #unexpected(wanted: string): null {
    const { kind, text, at } = this.#token
    const found = kind === 'end' ? 'the end of the expression' : showName(text)
    const operator =
      kind === 'name' && Object.hasOwn(FOREIGN_WORDS, text) ? FOREIGN_WORDS[text] : null
    const hint = operator === null || operator === undefined ? null : `write ${showName(operator)}`
    const message = `expected ${wanted}, found ${found}`
    return this.#refuse({ code: 'expression.syntax', at, message, hint })
  }

  #made<N extends Node>(node: N): N | null {
    if (++this.#nodes <= NODES_MAX) return node
    const message = `the expression has more than ${NODES_MAX} parts`
    return this.#refuse({ code: 'expression.too_large', at: node.at, message })
  }

  /** Runs one level deeper; nesting beyond the limit is refused where it begins. */
  #nested(read: () => Node | null): Node | null {
    if (this.#depth >= DEPTH_MAX) {
      const message = `the expression nests deeper than ${DEPTH_MAX} levels`
      return this.#refuse({ code: 'expression.too_deep', at: this.#token.at, message })
    }
    this.#depth++
    const node = read()
    this.#depth--
    return node
  }

  /** `a -> b -> c` is `a -> (b -> c)`. */
  #expression(): Node | null {
    const operands: Node[] = []
    const places: number[] = []
    for (;;) {
      const operand = this.#choice()
      if (operand === null) return null
      operands.push(operand)
      if (!this.#isMark('->')) break
      places.push(this.#token.at)
      this.#next++
    }
    let right = operands.pop() ?? null
    while (operands.length > 0 && right !== null) {
      const left = operands.pop() as Node // The loop ends when none is left.
      const at = places.pop() as number // There is one place between two operands.
      right = this.#made({ kind: 'implies', at, operator: '->', left, right })
    }
    return right
  }

  #choice(): Node | null {
    const condition = this.#logic('||')
    if (condition === null || !this.#isMark('?')) return condition
    const at = this.#token.at
    this.#next++
    const yes = this.#nested(() => this.#logic('||'))
    if (yes === null) return null
    if (!this.#take(':')) return this.#unexpected('`:` of the choice')
    const no = this.#nested(() => this.#choice())
    return no === null ? null : this.#made({ kind: 'choice', at, condition, yes, no })
  }

  #logic(operator: LogicOperator): Node | null {
    const operands: Node[] = []
    const at = this.#token.at
    do {
      const operand = operator === '||' ? this.#logic('&&') : this.#relation()
      if (operand === null) return null
      operands.push(operand)
    } while (this.#take(operator))
    const [only] = operands
    if (operands.length === 1 && only !== undefined) return only
    return this.#made({ kind: 'logic', at, operator, operands })
  }

  #relation(): Node | null {
    let left = this.#sum()
    while (left !== null) {
      const { kind, text, at } = this.#token
      const isIn = kind === 'name' && text === 'in'
      if (!isIn && !(kind === 'mark' && COMPARISONS.has(text))) return left
      this.#next++
      const right = this.#sum()
      if (right === null) return null
      // `COMPARISONS` holds the text.
      left = isIn
        ? this.#made({ kind: 'in', at, operator: 'in', left, right })
        : this.#made({ kind: 'compare', at, operator: text as CompareOperator, left, right })
    }
    return null
  }

  #sum(): Node | null {
    return this.#arithmetic(SUMS, () => this.#arithmetic(PRODUCTS, () => this.#unary()))
  }

  #arithmetic(operators: ReadonlySet<string>, read: () => Node | null): Node | null {
    let left = read()
    while (left !== null) {
      const { kind, text, at } = this.#token
      if (kind !== 'mark' || !operators.has(text)) return left
      this.#next++
      const right = read()
      if (right === null) return null
      const operator = text as ArithmeticOperator // `operators` holds the text.
      left = this.#made({ kind: 'arithmetic', at, operator, left, right })
    }
    return null
  }

  #unary(): Node | null {
    const { at } = this.#token
    if (this.#take('!')) {
      const operand = this.#nested(() => this.#unary())
      return operand === null ? null : this.#made({ kind: 'not', at, operand })
    }
    if (!this.#take('-')) return this.#member()
    const number = this.#token
    if (number.kind === 'int') {
      this.#next++
      return this.#members(this.#int(at, -number.value))
    }
    const operand = this.#nested(() => this.#unary())
    return operand === null ? null : this.#made({ kind: 'negate', at, operand })
  }

  #member(): Node | null {
    return this.#members(this.#primary())
  }

  /** What follows a value: fields, indices, calls. */
  #members(first: Node | null): Node | null {
    let base = first
    while (base !== null) {
      if (this.#take('.')) base = this.#selection(base)
      else if (this.#isMark('[')) base = this.#index(base)
      else return base
    }
    return null
  }

  #selection(base: Node): Node | null {
    const { kind, text, at } = this.#token
    if (kind !== 'name' || KEYWORDS.has(text)) return this.#unexpected('the name of a field')
    this.#next++
    if (!this.#take('(')) return this.#made({ kind: 'select', at, base, name: text })
    const args = this.#list(')')
    return args === null ? null : this.#made({ kind: 'call', at, name: text, target: base, args })
  }

  #index(base: Node): Node | null {
    const { at } = this.#token
    this.#next++
    const index = this.#nested(() => this.#expression())
    if (index === null) return null
    if (!this.#take(']')) return this.#unexpected('`]`')
    return this.#made({ kind: 'index', at, base, index })
  }

  #primary(): Node | null {
    const token = this.#token
    const { at } = token
    switch (token.kind) {
      case 'string':
        this.#next++
        return this.#made({ kind: 'literal', at, type: 'string', value: token.value })
      case 'double':
        this.#next++
        return this.#made({ kind: 'literal', at, type: 'double', value: token.value })
      case 'int':
        this.#next++
        return this.#int(at, token.value)
      case 'name':
        return this.#word(token.text, at)
      case 'mark':
        return this.#bracket(token.text, at)
      case 'end':
        return this.#unexpected('a value')
      default:
        return token satisfies never
    }
  }

  #int(at: number, value: bigint): Node | null {
    if (value > INT_MAX || value < INT_MIN) {
      const message = `${showName(String(value))} is too large for an int`
      return this.#refuse({ code: 'expression.number', at, message })
    }
    return this.#made({ kind: 'literal', at, type: 'int', value: narrow(value) })
  }

  #bracket(mark: string, at: number): Node | null {
    if (mark === '(') {
      this.#next++
      const inner = this.#nested(() => this.#expression())
      if (inner === null) return null
      return this.#take(')') ? inner : this.#unexpected('`)`')
    }
    if (mark === '[') {
      this.#next++
      const items = this.#list(']')
      return items === null ? null : this.#made({ kind: 'list', at, items })
    }
    if (mark !== '{') return this.#unexpected('a value')
    const message = 'maps in braces are a part of CEL that writ leaves out'
    return this.#refuse({ code: 'expression.unsupported', at, message })
  }

  #word(text: string, at: number): Node | null {
    if (text === 'in') return this.#unexpected('a value')
    if (RESERVED.has(text)) {
      const message = `${showName(text)} is a word that CEL keeps for itself`
      return this.#refuse({ code: 'expression.syntax', at, message })
    }
    this.#next++
    if (text === 'null') return this.#made({ kind: 'literal', at, type: 'null', value: null })
    if (text === 'true' || text === 'false') {
      return this.#made({ kind: 'literal', at, type: 'bool', value: text === 'true' })
    }
    if (!this.#take('(')) return this.#made({ kind: 'name', at, name: text })
    const args = this.#list(')')
    return args === null ? null : this.#made({ kind: 'call', at, name: text, target: null, args })
  }

  /** Parses expressions between commas and consumes `end`. A comma may precede `]`. */
  #list(end: ')' | ']'): Node[] | null {
    const items: Node[] = []
    // The grammar of CEL also allows a comma alone.
    if (end === ']' && this.#take(',') && !this.#isMark(end)) return this.#unexpected('`]`')
    while (!this.#take(end)) {
      const item = this.#nested(() => this.#expression())
      if (item === null) return null
      items.push(item)
      if (this.#take(',')) {
        if (end === ')' && this.#isMark(')')) this.#unexpected('a value')
      } else if (!this.#isMark(end)) this.#unexpected(`\`,\` or \`${end}\``)
      if (this.#fault !== null) return null
    }
    return items
  }
}

/** Ints are numbers where these are exact, so that one int has one form. */
export function narrow(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

export function guess(name: string, legal: Iterable<string>): string | null {
  const near = nearest(name, legal)
  return near === null ? null : `did you mean ${showName(near)}?`
}
