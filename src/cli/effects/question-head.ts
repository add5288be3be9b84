/**
 * The head of a question: who asks, since when, what would be done, in whose words, why a person is
 * asked, and whether it can be taken back. The same at the prompt, in the inbox and before an approval.
 */
import type { Question } from '../../service/index.ts'
import type { Paint } from '../call/terminal.ts'
import { counted } from './amount.ts'
import { operationLines, operationTitle } from './operation-text.ts'
import { questionId } from './question-text.ts'
import { type ReasonWords, reasonTextLines, reasonWords } from './reason-text.ts'
import { undoSentText } from './result-text.ts'
import { visible, visibleName } from './visible.ts'

export function headLines(question: Question, paint: Paint, whole: boolean): readonly string[] {
  const { asker, proposal } = question
  const row = (name: string, words: string): string => `  ${paint.dim(name.padEnd(9))} ${words}`
  const { intent_summary: intent, scope } = proposal.descriptor
  const [root = '/'] = scope.filesystem.paths
  const details = operationLines(proposal, whole).map((line) => `            ${line}`)
  return [
    `${paint.strong('Question')} ${questionId(question)}`,
    row('who', `${askerText(asker)}, ${momentText(asker.at)}`),
    row('what', paint.strong(operationTitle(proposal))),
    ...details,
    // The words of a command under `writ exec` are writ's own.
    ...(question.door === 'exec'
      ? []
      : [row('intent', `“${visible(intent)}” (the actor's own words)`)]),
    row('where', visibleName(root)),
    row('undo', undoText(question)),
    ...question.setAside.map((law) => row('set aside', setAsideText(law))),
  ]
}

/** Which law does not speak, by which override, and how long that lasts. */
function setAsideText(law: Question['setAside'][number]): string {
  const { policy_id, override_id, reason, until, uses } = law
  const times = counted(uses, 'act')
  const bound = until === undefined ? `for ${times}` : `until ${momentText(until)}, for ${times}`
  return `the law ${visible(policy_id)}, by the override ${visible(override_id.slice(0, 8))} ${bound}: “${visible(reason)}”`
}

export function askerText({ principal, agent }: Question['asker']): string {
  return agent === null
    ? visible(principal)
    : `${visible(principal)} through the agent ${visible(agent)}`
}

/** `2026-11-16 08:20:01 UTC`. */
export function momentText(iso: string): string {
  const text = new Date(iso).toISOString()
  return `${text.slice(0, 10)} ${text.slice(11, 19)} UTC`
}

export function undoText({
  undoDays,
  result,
  proposal,
}: Pick<Question, 'undoDays' | 'result' | 'proposal'>): string {
  const { held = [] } = result.side_effects
  if (undoDays === null) {
    return held.length === 0 ? 'cannot be taken back whole' : undoSentText(held, proposal)
  }
  return `can be taken back for ${counted(undoDays, 'day')}: writ undo`
}

export function whyLines(question: Question, paint: Paint): readonly string[] {
  const reasons = reasonTextLines(question, paint)
  return reasons.length === 0 ? [] : [paint.strong('You are asked because'), ...reasons]
}

/** The same for `--json`. */
export function headJson(question: Question) {
  const { asker, proposal, risk, need, undoDays, countsAhead } = question
  const reasons: readonly ReasonWords[] = reasonWords(question)
  return {
    asked_by: asker,
    what: operationTitle(proposal),
    intent: proposal.descriptor.intent_summary,
    reasons,
    risk,
    needs: need,
    yes_counts_unseen: countsAhead,
    undo_days: undoDays,
    set_aside: question.setAside,
  }
}
