/** The answer of a trial of laws, for people: what would change, how often each law speaks, what is gone. */
import { plain } from '../history/plain.ts'
import { table } from '../history/table.ts'
import type { Paint } from '../terminal.ts'
import type { TrialAnswer } from './trial-run.ts'

const HEADS = ['action', 'was', 'would be', 'because of'] as const

export function trialText(answer: TrialAnswer, paint: Paint): string {
  const { proposals, changed, unjudgeable, laws } = answer
  const judged = proposals - unjudgeable.length
  const words = `past proposals judged, ${changed.length} would be decided otherwise`
  const parts = [`${paint.strong(`${judged} of ${proposals}`)} ${words}\n`]
  if (changed.length > 0) parts.push(`\n${table({ paint }, HEADS, changed.map(row))}`)
  if (laws.length > 0) {
    const rows = laws.map(({ policy_id, broken, text = '' }) => [
      plain(policy_id),
      String(broken),
      plain(text),
    ])
    parts.push(`\n${table({ paint }, ['law', 'broken by', 'what it says'], rows)}`)
  }
  if (unjudgeable.length > 0) {
    const rows = unjudgeable.map(({ action_id, reason }) => [plain(action_id), reason])
    parts.push(
      `\n${paint.strong('Cannot be judged')}\n${table({ paint }, ['action', 'why'], rows)}`,
    )
  }
  return parts.join('')
}

function row({ action_id, from, to, policy_id, approvals }: TrialAnswer['changed'][number]) {
  const [was, would] = [asked(from, approvals?.from), asked(to, approvals?.to)]
  return [plain(action_id), was, would, plain(policy_id ?? 'lists or settings')]
}

function asked(decision: string, approvals = 1): string {
  return approvals === 1 ? decision : `${decision} by ${approvals}`
}
