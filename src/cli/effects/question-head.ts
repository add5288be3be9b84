/**
 * The head of a question: who asks, since when, what would be done, in whose words, why a person is
 * asked, and whether it can be taken back. The same at the prompt, in the inbox and before an approval.
 *
 * Why a person is asked, in words: one sentence a reason, the code behind it. What an actor says is
 * quoted and marked as its own words.
 */

import type { RunMark } from '../../contracts/index.ts'
import type { Question } from '../../service/index.ts'
import {
  type AskedQuestion,
  counted,
  operationLines,
  operationTitle,
  reasonWords,
  undoSentText,
  visible,
  visibleName,
} from '../../words/index.ts'
import type { Paint } from '../call/terminal.ts'
import { questionId } from './question-text.ts'

export function headLines(question: Question, paint: Paint, whole: boolean): readonly string[] {
  const { asker, proposal } = question
  const row = (name: string, words: string): string => `  ${paint.dim(name.padEnd(9))} ${words}`
  const { intent_summary: intent, scope } = proposal.descriptor
  const [root = '/'] = scope.filesystem.paths
  const details = operationLines(proposal, whole).map((line) => `            ${line}`)
  return [
    `${paint.strong('whole' in question ? 'A part of question' : 'Question')} ${questionId(question)}`,
    row('who', `${askerText(asker)}, ${momentText(asker.at)}`),
    row('what', paint.strong(operationTitle(proposal))),
    ...details,
    // The words of a command under `writ exec`, and of an act of a session, are writ's own.
    ...(question.door === 'exec' || question.confinement === 'confined'
      ? []
      : [row('intent', intentText(intent, asker.run))]),
    row('where', visibleName(root)),
    row('undo', undoText(question)),
    ...(isAgents(question) ? [row('trust', trustText(question))] : []),
    ...question.setAside.map((law) => row('set aside', setAsideText(law))),
  ]
}

/** The intent of an attempt is written by the host, from the node of the flow. */
export function intentText(intent: string, run: RunMark | null): string {
  return `“${visible(intent)}” (${run === null ? "the actor's own words" : 'from the flow'})`
}

/** Whether an agent asks, whose confinement matters. */
function isAgents({ asker }: Question): boolean {
  return asker.kind === 'ai' || asker.agent !== null
}

function trustText({ confinement, custody }: Question): string {
  return `confinement: ${confinement} (${CONFINEMENTS[confinement]}), custody: ${custody}`
}

const CONFINEMENTS: Readonly<Record<Question['confinement'], string>> = {
  confined: 'the agent runs in a session',
  advisory: 'only what the agent sends through writ is seen',
}

/** Which law does not speak, by which override, and how long that lasts. */
function setAsideText(law: Question['setAside'][number]): string {
  const { policy_id, override_id, reason, until, uses } = law
  const times = counted(uses, 'act')
  const bound = until === undefined ? `for ${times}` : `until ${momentText(until)}, for ${times}`
  return `the law ${visible(policy_id)}, by the override ${visible(override_id.slice(0, 8))} ${bound}: “${visible(reason)}”`
}

export function askerText({ principal, agent, run }: Question['asker']): string {
  if (run !== null) return `${runActorText(run)}, for ${visible(principal)}`
  return agent === null
    ? visible(principal)
    : `${visible(principal)} through the agent ${visible(agent)}`
}

/** Who worked at which node of which run: `writer at draft of run-…`. */
export function runActorText({ run_id, node_id, participant, actor }: RunMark): string {
  const who = participant.startsWith('human:') ? participant : actor.replace(/^actor:/, '')
  return `${visible(who)} at ${visible(node_id)} of ${visible(run_id)}`
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

export function reasonTextLines(asked: AskedQuestion, paint: Paint): readonly string[] {
  return reasonWords(asked).map(
    ({ code, words }) => `  ${words} ${paint.dim(`(${visible(code)})`)}`,
  )
}
