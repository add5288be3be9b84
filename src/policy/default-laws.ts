/**
 * The law file that a new home begins with: the default laws, so that a person sees them and can change
 * them in place, what is not kept, and the settings.
 */
import type { LawDocument } from '../contracts/index.ts'
import { DEFAULT_LAW_DOCUMENTS } from './default-law-documents.ts'

/** Writes one law as a person would. No part of a default law needs quotes in YAML. */
function lawText(law: LawDocument): string {
  const { policy_id, text = '', tier, policy_expr, priority } = law
  const lines = policy_expr.split('\n')
  const expression =
    lines.length === 1
      ? [`policy_expr: ${policy_expr}`]
      : ['policy_expr: |-', ...lines.map((line) => `  ${line}`)]
  const rows = [
    `text: ${text}`,
    `tier: ${tier}`,
    ...expression,
    `priority: ${priority}`,
    'conflicts_with: []',
    `override_mode: ${law.override_mode}`,
    `violation_action: ${law.violation_action}`,
  ]
  return [`  - policy_id: ${policy_id}`, ...rows.map((row) => `    ${row}`), ''].join('\n')
}

export const DEFAULT_LAWS = `# The laws of this home: what the gate refuses or asks about, besides what writ always refuses.
# docs/laws.md explains each of them and the language; \`writ laws check\` tells what is wrong.
# A change applies when a human accepts it (\`writ laws accept\`); until then the accepted laws hold.
#
# The default laws hold also where this file does not name them: a law of the same id replaces one,
# \`disable: [ID]\` turns one off, \`replace: true\` begins with none.
#
# tier 0: nobody can set the law aside. tier 1: a human can, for one act or a limited time.
# tier 2: asks. An expression that is true means that the law is broken.
laws:
${DEFAULT_LAW_DOCUMENTS.map(lawText).join('\n')}
# Places whose changes nobody keeps, besides those that writ knows: dropped, never promoted.
ephemeral: []

settings:
  # A plain yes at the terminal counts for what can be taken back, up to HIGH.
  plain_yes: true
  # How long a question waits: about files, and about requests that would be sent.
  question_ttl: 7d
  confirmation_minutes: 15
  cooldown_minutes: 15
  # How long outputs are kept, and how long an act can be taken back. Facts are kept for ever.
  retention:
    outputs_days: 30
    undo_days: 14
    undo_quota_mb: 2048
`
