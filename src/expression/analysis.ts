/**
 * Analyses an expression without evaluating it: which names it uses, and which words some field must
 * hold for it to be true. Callers index many expressions by that field.
 *
 * INVARIANT (needed is needed): if the field holds any other text, the expression is false and never
 * undetermined, because a false operand of `&&` absorbs the failures of the other operands.
 */
import { chainOf, sayPath } from './path.ts'
import { type Node, partsOf } from './syntax.ts'

export interface Needs {
  /** The path without its root's values: `['descriptor', 'risk_level']`. */
  readonly steps: readonly string[]
  readonly path: string
  readonly words: ReadonlySet<string>
}

/** Variables and plain functions that occur. */
export function namesIn(node: Node): ReadonlySet<string> {
  const names = new Set<string>()
  const open = [node]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'name') names.add(next.name)
    if (next.kind === 'call' && next.target === null) names.add(next.name)
    open.push(...partsOf(next))
  }
  return names
}

export function needsOf(node: Node): Needs | null {
  switch (node.kind) {
    case 'compare':
      return node.operator === '=='
        ? (atom(node.left, [node.right]) ?? atom(node.right, [node.left]))
        : null
    case 'in':
      return node.right.kind === 'list' ? atom(node.left, node.right.items) : null
    case 'logic':
      return node.operator === '&&' ? some(node.operands) : all(node.operands)
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
