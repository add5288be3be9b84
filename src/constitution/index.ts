/**
 * Room: constitution. Rulesets and inputs in, three-valued verdicts out; and exact analysis for the
 * people who write rules. Pure: no clock, no chance, no machine. Nothing here acts, and no room but
 * the command line and the server sees it. Sees base and contracts.
 */
export { type Budget, BudgetSpent, CONFLICTS_MAX } from './analysis/inquiry.ts'
export {
  difference,
  type Proof,
  prove,
  type VerdictChange,
  type VerdictClaim,
} from './analysis/proof.ts'
export {
  type Progress,
  type RulesetSurvey,
  surveyRuleset,
  surveyRulesets,
} from './analysis/survey.ts'
export { type Uncovered, uncovered } from './kernel/coverage.ts'
export { rewriteGuards } from './kernel/form.ts'
export {
  type Constitution,
  establish,
  inputsAreBound,
  KERNEL_VERSION,
  KERNEL_VERSIONS,
  type KernelVersion,
  type RulesetSource,
} from './kernel/kernel.ts'
export { pathsOfRule } from './kernel/matcher.ts'
export { type Inputs, type InputValue, seenAt } from './kernel/projection.ts'
export type { RuleDecision } from './kernel/verdict.ts'
