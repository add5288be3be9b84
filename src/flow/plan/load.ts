/**
 * Loads a plan for running: validates it by its contract, turns it into a flow and checks the flow. All
 * problems have places in the plan.
 */
import {
  type Flow,
  field,
  type Participants,
  type PlanJson,
  planJson,
  type Violation,
  validate,
} from '../../contracts/index.ts'
import { checkFlow } from '../check/check.ts'
import type { FlowProblem } from '../check/problem.ts'
import { planToFlow } from './plan.ts'

export interface LoadedPlan {
  /** Null when the plan breaks its contract. */
  readonly flow: Flow | null
  readonly valid: boolean
  readonly violations: readonly FlowProblem[]
  readonly warnings: readonly FlowProblem[]
}

/** Loads a plan. Without participants, the only legal owners are the three that the contract names. */
export function loadPlan(document: unknown, participants: Participants | null): LoadedPlan {
  const owners = participants === null ? {} : { owners: ownersOf(document, participants) }
  const { valid, violations } = validate(planJson, document, owners)
  if (!valid) return { flow: null, valid: false, violations, warnings: [] }
  // The contract has judged it.
  const { flow, originOf, ...told } = planToFlow(document as PlanJson, participants)
  // A plan says less about its edges than a flow does, so problems of shape are warnings.
  const check = checkFlow(flow, { isLenient: true })
  const moved = (problem: FlowProblem): FlowProblem => {
    const { offset: _, ...rest } = problem
    return { ...rest, path: originOf(problem.path) ?? '' }
  }
  // Drops a warning about the flow if the plan already has one with the same code and place.
  const placeOf = ({ code, path }: Violation): string => `${code} ${path}`
  const places = new Set(told.warnings.map(placeOf))
  const isTold = (problem: FlowProblem): boolean => places.has(placeOf(problem))
  const all = [...told.violations, ...check.violations.map(moved)]
  const warnings = check.warnings.map(moved)
  return {
    flow,
    valid: all.length === 0,
    violations: byPlace(all),
    warnings: byPlace([...told.warnings, ...warnings.filter((one) => !isTold(one))]),
  }
}

/** Returns all owners, so that the contract accepts each; `planToFlow` reports those not mapped. */
function ownersOf(document: unknown, { participants }: Participants): readonly string[] {
  const owners = new Set(Object.keys(participants))
  const add = (item: unknown): void => {
    const owner = field(item, 'owner_agent_id')
    if (typeof owner === 'string') owners.add(owner)
  }
  add(field(document, 'plan'))
  const nodes = field(document, 'nodes')
  if (Array.isArray(nodes)) for (const node of nodes) add(node)
  return [...owners]
}

function byPlace(problems: readonly Violation[]): readonly FlowProblem[] {
  const order = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
  const sorted = problems.toSorted(
    (one, other) => order(one.path, other.path) || order(one.code, other.code),
  )
  const key = ({ code, path, message }: Violation): string => `${code} ${path} ${message}`
  return sorted.filter((one, index) => {
    const before = sorted[index - 1]
    return before === undefined || key(before) !== key(one)
  })
}
