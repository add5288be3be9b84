/**
 * A question in words: what would be done, why a person is asked, and how risky it is. One sentence a
 * reason; what an actor says is quoted and marked as its own words.
 */
import { CODES, isCode, visible } from '../base/index.ts'
import { findPersuasion, type SandboxResult } from '../contracts/index.ts'
import { allProposals, DELETIONS_MAX, MODIFICATIONS_MAX } from '../gate/index.ts'
import type { Question } from '../service/index.ts'
import { counted, grouped } from './amount.ts'
import { operationTitle } from './operation-text.ts'

/** For these laws the reason also says which values broke the law. */
const TELLS_VALUES: ReadonlySet<string> = new Set(['ASK_HIGH', 'ASK_MANY_DELETIONS'])

/** The head of a question as JSON. */
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
    custody: question.custody,
    yes_counts_unseen: countsAhead,
    undo_days: undoDays,
    set_aside: question.setAside,
  }
}

interface ReasonWords {
  readonly code: string
  readonly words: string
}

/** What the reasons of a question follow from. */
export type AskedQuestion = Pick<
  Question,
  'decision' | 'result' | 'proposal' | 'deferred' | 'risk' | 'isDeclaredByApproval' | 'lawTexts'
>

/** Laws of a new home, by what broke them. A law's own text comes first. */
const LAW_WORDS: Readonly<Record<string, (asked: AskedQuestion) => string>> = {
  ASK_HIGH: (asked) => `its risk is ${asked.risk}: ${riskWords(asked)}`,
  ASK_ENV_FILES: () => 'it changes a file with settings that often hold secrets (.env)',
  ASK_MANY_DELETIONS: ({ result }) => `it deletes ${grouped(result.diff.counts.deleted)} files`,
  ASK_REPOSITORY_GONE: () => 'it deletes a whole repository',
  ASK_INPUTS_CHANGED: () => 'files that it may rest on changed meanwhile',
  ASK_AFTER_ROLLBACKS: () =>
    'at least 3 acts of this actor were taken back in the last 24 hours; until that is no longer so, each of its acts is asked about',
}

export function reasonWords(asked: AskedQuestion): readonly ReasonWords[] {
  const { codes } = asked.decision
  const hasLaw = codes.some((code) => code.startsWith('law.'))
  return codes
    .filter((code) => !(code === 'confirm.law' && hasLaw) && code !== 'effect.not_observed')
    .filter(
      (code) =>
        !(code === 'confirm.intent' && codes.includes('cooldown')) || arguing(asked) !== null,
    )
    .map((code) => ({ code, words: wordsOf(code, asked) }))
}

/** How the command ended, when it did not end well; null when it did. */
export function failureText({ execution }: SandboxResult): string | null {
  const { status, exit_code: exitCode, signal, killed_by: killedBy } = execution
  if (status === 'SUCCESS') return null
  if (killedBy !== undefined) return `the command was ended: it used up its ${killedBy}`
  if (signal !== null) return `the command was ended by ${visible(signal)}`
  return exitCode === null ? 'the command failed' : `the command failed with status ${exitCode}`
}

function wordsOf(code: string, asked: AskedQuestion): string {
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
      return arguing(asked) ?? 'the same act was taken back before'
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

/** Which words of the actor argue for themselves (both are judged); null if none do. */
function arguing({ proposal }: AskedQuestion): string | null {
  const all = allProposals(proposal).map((one) => one.proposal.descriptor)
  const isFound = (text: string): boolean => findPersuasion(text).length > 0
  if (all.some(({ intent_summary }) => isFound(intent_summary)))
    return 'its intent argues for itself instead of saying what it does'
  if (all.some(({ confirmation }) => isFound(confirmation.reason)))
    return 'its reason for the confirmation argues for itself instead of saying what to look at'
  return null
}

function sendWords({ side_effects: { held = [] } }: AskedQuestion['result']): string {
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

function lawWords(id: string, asked: AskedQuestion): string {
  const own = asked.lawTexts.get(id)
  const known = Object.hasOwn(LAW_WORDS, id) ? LAW_WORDS[id]?.(asked) : undefined
  if (own === undefined) {
    return known ?? `the law ${visible(id)} asks; \`writ laws explain\` says why`
  }
  const text = visible(own)
  return known !== undefined && TELLS_VALUES.has(id) ? `${text} Here ${known}.` : text
}

/** Why the risk is what it is, the strongest reason of the host first. */
function riskWords({ result, proposal, deferred, risk }: AskedQuestion): string {
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
