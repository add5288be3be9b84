/**
 * An expression, loaded once and evaluated often. Loading reports every fault with its place.
 * Evaluation cannot throw, loop or reach the machine, and its cost is bounded.
 *
 * INVARIANT (three values): an answer is true, false, or undetermined with the reasons. A part that
 * fails is absorbed only where the rest settles the answer without it, as CEL says.
 * INVARIANT (deciding values): the values listed as deciding determine the answer alone.
 */
import { type Needs, namesIn, needsOf } from './analysis.ts'
import type { Environment, Evaluator, Frame, HostCalls, Read } from './environment.ts'
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
import type { Node } from './syntax.ts'
import { kindOf, sayType } from './type.ts'
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
