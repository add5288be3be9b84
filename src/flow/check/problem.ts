/**
 * Violations and warnings about a flow. A problem has a code, a pointer into the document and one
 * sentence; a problem in an expression also has the offset in it.
 *
 * INVARIANT (tables load): in a flow that was imported from a table, problems of shape are warnings. A
 * table records an existing process, so it must load; a run reports the problem at the edge concerned.
 */
import { type Code, compareCodePoints } from '../../base/index.ts'
import type { Violation } from '../../contracts/index.ts'

export interface FlowProblem extends Violation {
  /** UTF-16 offset in the expression at `path`; absent when the problem is not in an expression. */
  readonly offset?: number
}

export interface FlowCheck {
  readonly valid: boolean
  /** The flow is refused. */
  readonly violations: readonly FlowProblem[]
  /** Legal, and probably not what was meant. */
  readonly warnings: readonly FlowProblem[]
}

/** Codes about the shape of the graph: for a table of edges they are warnings. */
const OF_SHAPE: ReadonlySet<Code> = new Set<Code>([
  'flow.unreachable',
  'flow.dead_end',
  'flow.cycle',
  'flow.way_back',
  'flow.join_unfillable',
  'flow.decision_ambiguous',
])

export class FlowProblems {
  readonly #violations: FlowProblem[] = []
  readonly #warnings: FlowProblem[] = []
  readonly #isLenient: boolean

  constructor(isLenient: boolean) {
    this.#isLenient = isLenient
  }

  refuse(code: Code, path: string, message: string, hint?: string | null, offset?: number): void {
    const list = this.#isLenient && OF_SHAPE.has(code) ? this.#warnings : this.#violations
    list.push(problem(code, path, message, hint, offset))
  }

  warn(code: Code, path: string, message: string, hint?: string | null, offset?: number): void {
    this.#warnings.push(problem(code, path, message, hint, offset))
  }

  add(violations: readonly Violation[]): void {
    for (const violation of violations) this.#violations.push(violation)
  }

  finish(): FlowCheck {
    const violations = sorted(this.#violations)
    return { valid: violations.length === 0, violations, warnings: sorted(this.#warnings) }
  }
}

function problem(
  code: Code,
  path: string,
  message: string,
  hint: string | null | undefined,
  offset: number | undefined,
): FlowProblem {
  return {
    code,
    path,
    message,
    ...(hint === undefined || hint === null ? {} : { hint }),
    ...(offset === undefined ? {} : { offset }),
  }
}

/** By place, then by code, then by place in the expression; exact repeats once. */
function sorted(problems: readonly FlowProblem[]): readonly FlowProblem[] {
  const list = [...problems].sort(compare)
  return list.filter((one, index) => {
    const before = list[index - 1]
    return before === undefined || compare(before, one) !== 0 || before.message !== one.message
  })
}

function compare(one: FlowProblem, other: FlowProblem): number {
  return (
    compareCodePoints(one.path, other.path) ||
    compareCodePoints(one.code, other.code) ||
    (one.offset ?? -1) - (other.offset ?? -1)
  )
}
