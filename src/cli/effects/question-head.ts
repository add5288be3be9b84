/**
 * The head of a question: who asks, since when, what would be done, in whose words, why a person is
 * asked, and whether it can be taken back. The same at the prompt, in the inbox and before an approval.
 *
 * Why a person is asked, in words: one sentence a reason, the code behind it. What an actor says is
 * quoted and marked as its own words.
 */

import { CODES, isCode } from '../../base/index.ts'
import { findPersuasion, type RunMark } from '../../contracts/index.ts'
import { allProposals, DELETIONS_MAX, MODIFICATIONS_MAX } from '../../gate/index.ts'
import type { Question } from '../../service/index.ts'
import { LEVEL } from '../call/home.ts'
import type { Paint } from '../call/terminal.ts'
import { counted, grouped } from './amount.ts'
import { operationLines, operationTitle, undoSentText } from './operation-text.ts'
import { failureText, questionId } from './question-text.ts'
import { visible, visibleName } from './visible.ts'

/** For these laws the reason also says which values broke the law. */
const TELLS_VALUES: ReadonlySet<string> = new Set(['ASK_HIGH', 'ASK_MANY_DELETIONS'])

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
    ...(question.door === 'exec' ? [] : [row('intent', intentText(intent, asker.run))]),
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

function trustText({ confinement }: Question): string {
  return `confinement: ${confinement} (${CONFINEMENTS[confinement]}), custody: ${LEVEL}`
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
    confinement: question.confinement,
    custody: LEVEL,
    yes_counts_unseen: countsAhead,
    undo_days: undoDays,
    set_aside: question.setAside,
  }
}

interface ReasonWords {
  readonly code: string
  readonly words: string
}

type Asked = Pick<
  Question,
  'decision' | 'result' | 'proposal' | 'deferred' | 'risk' | 'isDeclaredByApproval' | 'lawTexts'
>

/** Laws of a new home, by what broke them. A law's own text comes first. */
const LAW_WORDS: Readonly<Record<string, (asked: Asked) => string>> = {
  ASK_HIGH: (asked) => `its risk is ${asked.risk}: ${riskWords(asked)}`,
  ASK_ENV_FILES: () => 'it changes a file with settings that often hold secrets (.env)',
  ASK_MANY_DELETIONS: ({ result }) => `it deletes ${grouped(result.diff.counts.deleted)} files`,
  ASK_REPOSITORY_GONE: () => 'it deletes a whole repository',
  ASK_INPUTS_CHANGED: () => 'files that it may rest on changed meanwhile',
  ASK_AFTER_ROLLBACKS: () => 'several acts of this actor were taken back lately',
}

function reasonWords(asked: Asked): readonly ReasonWords[] {
  const { codes } = asked.decision
  const hasLaw = codes.some((code) => code.startsWith('law.'))
  return codes
    .filter((code) => !(code === 'confirm.law' && hasLaw) && code !== 'effect.not_observed')
    .filter((code) => !(code === 'confirm.intent' && codes.includes('cooldown')) || argues(asked))
    .map((code) => ({ code, words: wordsOf(code, asked) }))
}

export function reasonTextLines(asked: Asked, paint: Paint): readonly string[] {
  return reasonWords(asked).map(
    ({ code, words }) => `  ${words} ${paint.dim(`(${visible(code)})`)}`,
  )
}

function wordsOf(code: string, asked: Asked): string {
  const { proposal, deferred, result } = asked
  if (code.startsWith('law.')) return lawWords(code.slice('law.'.length), asked)
  switch (code) {
    case 'confirm.descriptor':
      return asked.isDeclaredByApproval
        ? 'nothing was declared (--write, --delete): you decide by what you see'
        : `the actor wants a person to confirm${ownWords(proposal.descriptor.confirmation.reason)}`
    case 'confirm.class':
      return sendWords(result)
    case 'confirm.intent':
      return argues(asked)
        ? 'its intent argues for itself instead of saying what it does'
        : 'the same act was taken back before'
    case 'effect.deferred_execution':
      return deferred.size === 1
        ? '1 path would run by itself later, without a person starting it'
        : `${counted(deferred.size, 'path')} would run by themselves later, without a person starting them`
    case 'result.failed':
      return failureText(result) ?? 'the command failed'
    // Codes whose own sentence is enough.
    default:
      return isCode(code) ? CODES[code].says : 'a reason that this version does not know'
  }
}

/** Returns whether an intent argues for itself. */
function argues({ proposal }: Asked): boolean {
  return allProposals(proposal).some(
    ({ proposal: { descriptor } }) => findPersuasion(descriptor.intent_summary).length > 0,
  )
}

function sendWords({ side_effects: { held = [] } }: Asked['result']): string {
  const isCompensated =
    held.length > 0 && held.every(({ compensation }) => compensation !== undefined)
  const then = isCompensated
    ? '; undo asks to send what compensates it'
    : ', which no undo takes back'
  return `something would be sent to another machine${then}`
}

function ownWords(text: string): string {
  return text.trim() === '' ? '' : `, in its own words: “${visible(text)}”`
}

function lawWords(id: string, asked: Asked): string {
  const own = asked.lawTexts.get(id)
  const known = Object.hasOwn(LAW_WORDS, id) ? LAW_WORDS[id]?.(asked) : undefined
  if (own === undefined) {
    return known ?? `the law ${visible(id)} asks; \`writ laws explain\` says why`
  }
  const text = visible(own)
  return known !== undefined && TELLS_VALUES.has(id) ? `${text} Here ${known}.` : text
}

/** Why the risk is what it is, the strongest reason of the host first. */
function riskWords({ result, proposal, deferred, risk }: Asked): string {
  const { deleted, modified } = result.diff.counts
  const words = [
    ...(deferred.size > 0 ? ['something would run by itself later'] : []),
    ...(deleted > DELETIONS_MAX ? [`${grouped(deleted)} deletions`] : []),
    ...(modified > MODIFICATIONS_MAX ? [`${grouped(modified)} changed files`] : []),
    ...(proposal.descriptor.scope.network.required ? ['it uses a network'] : []),
    ...(proposal.descriptor.risk_level === risk ? ['the actor says so'] : []),
  ]
  return words.length === 0 ? 'by what it does' : words.join(', ')
}
