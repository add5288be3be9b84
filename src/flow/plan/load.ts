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

/** Loads a plan. Without participants, every owner is a person. */
export function loadPlan(document: unknown, participants: Participants | null): LoadedPlan {
  const owners = { owners: planOwners(document, participants) }
  const { valid, violations } = validate(planJson, document, owners)
  if (!valid) return { flow: null, valid: false, violations, warnings: [] }
  // The contract has judged it.
  const plan = document as PlanJson
  const { flow, originOf, ...told } = planToFlow(plan, participants)
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
  const found = [...told.violations, ...check.violations.map(moved)]
  const all = found.length === 0 && !hasWork(plan) ? [NO_WORK] : found
  const warnings = check.warnings.map(moved)
  return {
    flow,
    valid: all.length === 0,
    violations: byPlace(all),
    warnings: byPlace([...told.warnings, ...warnings.filter((one) => !isTold(one))]),
  }
}

/** Returns all owners, so that the contract accepts each; `planToFlow` reports those not mapped. */
export function planOwners(document: unknown, named: Participants | null): readonly string[] {
  const owners = new Set(Object.keys(named?.participants ?? {}))
  const add = (item: unknown): void => {
    const owner = field(item, 'owner_agent_id')
    if (typeof owner === 'string') owners.add(owner)
  }
  add(field(document, 'plan'))
  for (const list of [field(document, 'nodes'), field(document, 'tasks')])
    if (Array.isArray(list)) for (const node of list) add(node)
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

/** Returns whether something is done in a plan: goals alone would be reached at once. */
export function hasWork({ nodes }: PlanJson): boolean {
  return nodes.some(({ node_type }) => node_type === 'ACTION')
}

const NO_WORK: FlowProblem = {
  code: 'flow.plan_without_work',
  path: '/nodes',
  message: 'no node of the plan is an ACTION, so there is nothing to do in it',
  hint: 'add the tasks as nodes with `node_type: ACTION`',
}
