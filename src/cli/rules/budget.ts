/** Runs a piece of analysis under its budget: an answer, or a fault that claims nothing. */
import { faultError } from '../../base/index.ts'
import { type Budget, BudgetSpent, CONFLICTS_MAX } from '../../constitution/index.ts'

export function withinBudget<T>(analyse: (budget: Budget) => T): T {
  try {
    return analyse({ conflicts: CONFLICTS_MAX })
  } catch (thrown) {
    if (thrown instanceof BudgetSpent) throw faultError('rules.analysis_budget', '')
    throw thrown
  }
}
