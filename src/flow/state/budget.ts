/**
 * The budgets of a run: what the flow allows, or what a human has allowed since. The run counts what
 * attempts used; the host bounds the attempts that are under way by the rest.
 */
import type { Flow } from '../../contracts/index.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { RunState } from './state.ts'

const BUDGETS = ['attempts', 'seconds', 'tokens'] as const
export type BudgetName = (typeof BUDGETS)[number]

export type BudgetLimits = Pick<NonNullable<Flow['budgets']>, BudgetName>

/** A budget that is used up. */
interface SpentBudget {
  readonly budget: BudgetName
  readonly limit: number
  readonly used: number
}

type BudgetUse = Pick<RunState, 'limits' | 'totals'>

export function limitsOf({ document }: CompiledFlow, { limits }: BudgetUse): BudgetLimits {
  return { ...document.budgets, ...limits }
}

/** Returns the first budget that is used up; null if something is left of each. */
export function spentBudget(flow: CompiledFlow, run: BudgetUse): SpentBudget | null {
  const limits = limitsOf(flow, run)
  for (const budget of BUDGETS) {
    const [limit, used] = [limits[budget], run.totals[budget]]
    if (limit !== undefined && used >= limit) return { budget, limit, used }
  }
  return null
}
