/** The answer of a trial of laws, for people: what would change, how often each law speaks, what is gone. */

import type { Paint } from '../call/terminal.ts'
import { plain } from '../history/plain.ts'
import { shortId } from '../history/short-id.ts'
import { table } from '../history/table.ts'
import type { TrialAnswer } from './trial-run.ts'

const HEADS = ['action', 'was', 'would be', 'because of'] as const

export function trialText(answer: TrialAnswer, paint: Paint): string {
  const { proposals, changed, unjudgeable, laws } = answer
  const judged = proposals - unjudgeable.length
  const words = `past proposals judged, ${changed.length} would be decided otherwise`
  const parts = [`${paint.strong(`${judged} of ${proposals}`)} ${words}\n`]
  if (changed.length > 0) parts.push(`\n${table({ paint }, HEADS, changed.map(row))}`)
  if (laws.length > 0) {
    const heads = ['broken by', 'law', 'what it says'].join('  ')
    parts.push(`\n${paint.dim(heads)}\n`, ...laws.flatMap((law) => lawLines(law, paint)))
  }
  if (unjudgeable.length > 0) {
    const rows = unjudgeable.map(({ action_id, reason }) => [shortId(plain(action_id)), reason])
    parts.push(
      `\n${paint.strong('Cannot be judged')}\n${table({ paint }, ['action', 'why'], rows)}`,
    )
  }
  return parts.join('')
}

/** How many proposals break the law, and its text below, broken to fit 80 columns. */
function lawLines({ policy_id, broken, text = '' }: TrialAnswer['laws'][number], paint: Paint) {
  const lines = text === '' ? [] : wrapped(plain(text), TEXT_COLUMNS)
  return [
    `${String(broken).padStart('broken by'.length)}  ${plain(policy_id)}\n`,
    ...lines.map((line) => `           ${paint.dim(line)}\n`),
  ]
}

const TEXT_COLUMNS = 69

/** Breaks a text between words; a longer word has a line of its own. */
function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

function row({ action_id, from, to, policy_id, approvals }: TrialAnswer['changed'][number]) {
  const [was, would] = [asked(from, approvals?.from), asked(to, approvals?.to)]
  return [shortId(plain(action_id)), was, would, plain(policy_id ?? 'lists or settings')]
}

function asked(decision: string, approvals = 1): string {
  return approvals === 1 ? decision : `${decision} by ${approvals}`
}
