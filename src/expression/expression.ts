/**
 * An expression, loaded once and evaluated often. Loading reports every fault with its place.
 * Evaluation cannot throw, loop or reach the machine, and its cost is bounded.
 *
 * INVARIANT (three values): an answer is true, false, or undetermined with the reasons. A part that
 * fails is absorbed only where the rest settles the answer without it, as CEL says.
 * INVARIANT (deciding values): the values listed as deciding determine the answer alone.
 *
 * Loading also analyses an expression without evaluating it: which names it uses, and which words some field must
 * hold for it to be true. Callers index many expressions by that field.
 *
 * INVARIANT (needed is needed): if the field holds any other text, the expression is false and never
 * undetermined, because a false operand of `&&` absorbs the failures of the other operands.
 */
import {
  type Environment,
  type Evaluator,
  type Frame,
  type HostCalls,
  kindOf,
  type Read,
  sayType,
} from './environment.ts'
import {
  type ExpressionFault,
  placeAt,
  settle,
  settleAll,
  type UndeterminedReason,
} from './fault.ts'
import { mayLackIn, type Scene } from './foresight.ts'
import { LowerContext } from './lower.ts'
import { parse } from './parse.ts'
import { chainOf, sayPath } from './path.ts'
import { type Node, partsOf } from './syntax.ts'
import { BUDGET, Failure } from './value.ts'

export interface Expression {
  readonly source: string
  /** Variables that are read, and functions of the host that are asked, by name. */
  readonly names: ReadonlySet<string>
  /** A word without which the expression is false; null when none is known. */
  readonly needs: Needs | null
  /** For `evaluate` alone. */
  readonly run: Evaluator
  /** For `mayLack` alone. */
  readonly tree: Node
}

export type Compilation =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly faults: readonly ExpressionFault[] }

export interface ExpressionResult {
  readonly value: Truth
  /** The reads that decided the answer, in the order of reading, each path once. */
  readonly deciding: readonly Read[]
  /** Why it is undetermined; empty otherwise. */
  readonly reasons: readonly UndeterminedReason[]
}

type Truth = true | false | 'undetermined'

export function compileExpression(source: string, environment: Environment): Compilation {
  const parsing = parse(source)
  if (!parsing.ok) return { ok: false, faults: [settle(source, parsing.fault)] }
  const { node } = parsing
  const lowering = new LowerContext(environment)
  const { type, run } = lowering.lower(node)
  const kind = kindOf(type)
  if (lowering.faults.length === 0 && kind !== 'bool' && kind !== 'any') {
    const message = `the expression is ${sayType(type)}, and neither true nor false`
    lowering.refuse('expression.not_boolean', node.at, message)
  }
  if (lowering.faults.length > 0) return { ok: false, faults: settleAll(source, lowering.faults) }
  const names = namesIn(node)
  return { ok: true, expression: { source, names, needs: needsOf(node), run, tree: node } }
}

/**
 * Returns a path whose absence may leave the expression undetermined in a partly known scene; null
 * when there is none.
 */
export function mayLack({ tree }: Expression, scene: Scene): string | null {
  return mayLackIn(tree, scene)
}

const NO_CALLS: HostCalls = Object.freeze({})

export function evaluate(
  expression: Expression,
  values: Readonly<Record<string, unknown>>,
  calls: HostCalls = NO_CALLS,
): ExpressionResult {
  const reads: Read[] = []
  const frame: Frame = {
    values,
    calls,
    reads,
    left: BUDGET,
    local: undefined,
    localList: '',
    localIndex: 0,
  }
  const value = expression.run(frame)
  const deciding = reads.length < 2 ? reads : eachOnce(reads)
  if (typeof value === 'boolean') return { value, deciding, reasons: NO_REASONS }
  return { value: 'undetermined', deciding, reasons: reasonsOf(expression.source, value) }
}

const NO_REASONS: readonly UndeterminedReason[] = Object.freeze([])

function eachOnce(reads: readonly Read[]): readonly Read[] {
  if (reads.length === 2) return reads[0]?.path === reads[1]?.path ? reads.slice(1) : reads
  const seen = new Map(reads.map((read) => [read.path, read]))
  return seen.size === reads.length ? reads : [...seen.values()]
}

function reasonsOf(source: string, value: unknown): readonly UndeterminedReason[] {
  if (!(value instanceof Failure)) {
    const message = 'the answer is neither true nor false'
    return [{ code: 'expression.overload', path: null, message, ...placeAt(source, 0) }]
  }
  const seen = new Set<string>()
  return value.causes
    .filter(({ code, at, path }) => {
      const key = `${code} ${at} ${path}`
      return !seen.has(key) && seen.add(key)
    })
    .map(({ code, at, path, message }) => ({ code, path, message, ...placeAt(source, at) }))
}

interface Needs {
  /** The path without its root's values: `['descriptor', 'risk_level']`. */
  readonly steps: readonly string[]
  readonly path: string
  readonly words: ReadonlySet<string>
}

/** Variables and plain functions that occur. */
function namesIn(node: Node): ReadonlySet<string> {
  const names = new Set<string>()
  const open = [node]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'name') names.add(next.name)
    if (next.kind === 'call' && next.target === null) names.add(next.name)
    open.push(...partsOf(next))
  }
  return names
}

function needsOf(node: Node): Needs | null {
  switch (node.kind) {
    case 'compare':
      return node.operator === '=='
        ? (atom(node.left, [node.right]) ?? atom(node.right, [node.left]))
        : null
    case 'in':
      return node.right.kind === 'list' ? atom(node.left, node.right.items) : null
    case 'logic':
      return node.operator === '&&' ? some(node.operands) : all(node.operands)
    // Other nodes ask for no word.
    default:
      return null
  }
}

/** Any operand of `&&` will do; fewer words tell more apart. */
function some(operands: readonly Node[]): Needs | null {
  let best: Needs | null = null
  for (const operand of operands) {
    const needs = needsOf(operand)
    if (needs !== null && (best === null || needs.words.size < best.words.size)) best = needs
  }
  return best
}

/** Every operand of `||` has to need the same field. */
function all(operands: readonly Node[]): Needs | null {
  const needs = operands.map(needsOf)
  const [first] = needs
  if (first === undefined || first === null) return null
  const words = new Set<string>()
  for (const one of needs) {
    if (one === null || one.path !== first.path) return null
    for (const word of one.words) words.add(word)
  }
  return { ...first, words }
}

function atom(field: Node, literals: readonly Node[]): Needs | null {
  const chain = chainOf(field)
  if (chain === null || chain.steps.length === 0) return null
  const words = new Set<string>()
  for (const literal of literals) {
    if (literal.kind !== 'literal' || literal.type !== 'string') return null
    words.add(literal.value)
  }
  const steps = [chain.root]
  for (const { key } of chain.steps) {
    if (typeof key === 'number') return null
    steps.push(key)
  }
  return { steps, path: sayPath(chain.root, chain.steps), words }
}
