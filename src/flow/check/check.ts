/**
 * Checks a flow before it is walked: its contract, every expression, and then the graph as a whole.
 * Pure and total: any JSON value in, an answer out. Linear in the size of the flow.
 *
 * The graph is looked at when the structure holds; ids that are used twice, or that lead nowhere, do
 * not hide what else is wrong.
 */
import {
  type Flow,
  field,
  flowContract,
  type JsonObject,
  type Violation,
  validate,
} from '../../contracts/index.ts'
import { checkAmounts } from './amounts.ts'
import { checkDecisions } from './decisions.ts'
import { graphOf } from './graph.ts'
import { checkGuards, compileGuards } from './guards.ts'
import { checkPeople } from './people.ts'
import { type FlowCheck, FlowProblems } from './problem.ts'
import { checkShape } from './shape.ts'

export interface FlowCheckOptions {
  /** Problems of the shape of the graph are warnings, as for tables. */
  readonly isLenient?: boolean
}

export function checkFlow(document: unknown, { isLenient }: FlowCheckOptions = {}): FlowCheck {
  const { violations } = validate(flowContract, document)
  const problems = new FlowProblems(isLenient ?? field(document, 'table') !== undefined)
  problems.add(violations)
  if (isStructural(violations)) {
    compileReadable(document, violations, problems)
    return problems.finish()
  }
  // What is wrong, if anything, is not the structure.
  const flow = document as Flow
  const graph = graphOf(flow)
  const guards = compileGuards(flow, problems)
  checkGuards(flow, graph, guards, problems)
  checkShape(graph, problems)
  checkDecisions(graph, guards, problems)
  checkPeople(flow, graph, problems)
  checkAmounts(flow, graph, problems)
  return problems.finish()
}

/** Codes that the contract gives to documents of sound structure. */
const SEMANTIC: ReadonlySet<string> = new Set([
  'flow.duplicate_id',
  'flow.unknown_ref',
  'flow.target',
  'flow.join_mixed',
  'flow.policy_tie',
  'flow.policy_cycle',
  'flow.invariant_weaker',
  'flow.reserved_field',
  'flow.field_name',
])

function isStructural(violations: readonly Violation[]): boolean {
  return violations.some(({ code }) => !SEMANTIC.has(code))
}

/** The expressions of a broken document, where they are texts and the state can be read. */
function compileReadable(
  document: unknown,
  violations: readonly Violation[],
  problems: FlowProblems,
): void {
  if (
    violations.some(({ path, code }) => path.startsWith('/state') || code.startsWith('document.'))
  )
    return
  const state = field(document, 'state')
  const parts = {
    edges: list(document, 'edges', 'guard_expr'),
    policies: list(document, 'policies', 'policy_expr'),
    invariants: list(document, 'invariants', 'invariant_expr'),
  }
  // Only the expressions and the declared state are read.
  compileGuards(
    { ...(state === undefined ? {} : { state }), ...parts } as unknown as Flow,
    problems,
  )
}

/** Each element with nothing but its expression; what is no text has none. */
function list(document: unknown, name: string, key: string): readonly JsonObject[] {
  const items = field(document, name)
  if (!Array.isArray(items)) return []
  return items.map((item: unknown) => {
    const source = field(item, key)
    return typeof source === 'string' && source !== '' ? { [key]: source } : {}
  })
}
