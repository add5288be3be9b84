/**
 * Laws that are part of writ: they guard writ itself, stand in tier 0, and no file can take them
 * away or use their names. What they name is also hidden from every run; this is the second lock.
 */
import type { LawDocument } from '../contracts/index.ts'

function writItself(expression: string): readonly LawDocument[] {
  return [
    {
      policy_id: 'WRIT_ITSELF',
      text: 'No act changes the identity, the state or the stages of writ itself.',
      tier: 0,
      policy_expr: expression,
      priority: 1_000_000,
      conflicts_with: [],
      override_mode: 'merge',
      violation_action: 'block',
    },
  ]
}

/** The law file and the rules are not among them: they apply only when a human accepted them. */
export const BUILT_IN_LAWS: readonly LawDocument[] = writItself(
  [
    "touches('**/.writ/id')",
    "touches('**/.writ/stage/**')",
    "touches('**/.writ/runs/**')",
    "touches('**/.local/state/writ/**')",
  ].join(' || '),
)

/** As they were up to evaluator 2. */
export const FIRST_BUILT_IN_LAWS: readonly LawDocument[] = writItself(
  "touches('**/.writ/**') || touches('**/.local/state/writ/**')",
)
