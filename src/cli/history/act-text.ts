/** Acts as a person reads them: one row in the history, or everything about one in sections. */

import type { Confirmation } from '../../contracts/index.ts'
import type { ActHistory, ActStatus, HistoryRecord } from '../../history/index.ts'
import { shortId } from '../../history/index.ts'
import { principalText } from '../../ledger/index.ts'
import {
  counted,
  failureText,
  operationLines,
  operationTitle,
  resultText,
  sizeText,
  undoSentText,
  visible,
  visibleName,
} from '../../words/index.ts'
import type { Paint } from '../call/terminal.ts'
import { byCode, findingWords } from '../effects/entry-text.ts'
import { intentText, momentText, runActorText } from '../effects/question-head.ts'
import { type LawTexts, reasonLines } from '../effects/question-text.ts'
import { withoutAwaited, withoutAwaitedCode } from '../effects/request-text.ts'

export const ACT_HEADS = ['time', 'act', 'outcome', 'who', 'effects', 'what'] as const

const TITLE_MAX = 120

export function actRow(act: ActHistory): readonly string[] {
  const { result, evaluation } = act
  const { run } = evaluation?.payload ?? {}
  const title = titleOf(act)
  return [
    momentText(act.at).replace(/ UTC$/, ''),
    shortId(act.id),
    act.outcome,
    run === undefined ? whoText(act) : runActorText(run),
    result === null ? '' : effectsOf(result.payload),
    title.length > TITLE_MAX ? `${title.slice(0, TITLE_MAX)}…` : title,
  ]
}

/** The address of a request is in the title. */
function effectsOf(result: NonNullable<ActHistory['result']>['payload']): string {
  const { held = [] } = result.side_effects
  return held.length === 1 ? resultText(result).replace(/ \(.*\)$/, '') : resultText(result)
}

/** What the act does, in one line. */
export function titleOf({ proposal, evaluation, result }: ActHistory): string {
  if (proposal === null) return visible(evaluation?.payload.action_type ?? 'a refused document')
  // The ledger does not tell the address of a request; the result tells it without its query.
  const [held] = result?.payload.side_effects.held ?? []
  if (held !== undefined && proposal.payload.operation?.type === 'NETWORK_REQUEST') {
    return `${visible(held.method)} ${visible(held.url)}`
  }
  return operationTitle(proposal.payload)
}

function whoText({ by, evaluation }: ActHistory): string {
  const { agent, run } = evaluation?.payload ?? {}
  const name = visible(principalText(by))
  if (run !== undefined) return `${runActorText(run)}, for ${name}`
  return agent === undefined ? name : `${name} (${visible(agent)})`
}

const UNDER_WAY: ReadonlySet<ActStatus> = new Set(['waiting', 'approved', 'held', 'unfinished'])

function outcomePaint(outcome: ActStatus, paint: Paint): string {
  if (outcome === 'promoted' || outcome === 'no effects') return paint.good(outcome)
  if (UNDER_WAY.has(outcome)) return paint.accent(outcome)
  return paint.bad(outcome)
}

/** Everything about one act; `texts` are of the laws that it was judged by. */
export function actLines(act: ActHistory, texts: LawTexts, paint: Paint): readonly string[] {
  return [
    `${paint.strong('Act')} ${visible(act.id)}  ${outcomePaint(act.outcome, paint)}`,
    ...proposalLines(act, paint),
    ...rehearsalLines(act, paint),
    ...findingLines(act, paint),
    ...decisionLines(act, texts, paint),
    ...answerLines(act, paint),
    ...promotionLines(act, paint),
    ...undoLines(act, paint),
    '',
    paint.dim(`the facts themselves: writ log --facts --action ${shortId(act.id)}`),
  ]
}

function section(paint: Paint, name: string, words: string): readonly string[] {
  return ['', `${paint.strong(name)}  ${words}`]
}

function proposalLines(act: ActHistory, paint: Paint): readonly string[] {
  const head = section(paint, 'Proposal', `${momentText(act.at)} by ${whoText(act)}`)
  if (act.proposal === null) return [...head, '  the document broke its contract and was not kept']
  const { payload } = act.proposal
  const { intent_summary, scope, effects } = payload.descriptor
  const declared = Object.entries(effects.filesystem).flatMap(([kind, globs]) =>
    globs.map((glob) => `${kind} ${visibleName(glob)}`),
  )
  const { door, run = null } = act.evaluation?.payload ?? {}
  return [
    ...head,
    `  what      ${titleOf(act)}`,
    ...operationLines(payload, true).map((line) => `            ${line}`),
    ...(door === 'exec' ? [] : [`  intent    ${intentText(intent_summary, run)}`]),
    `  scope     ${scope.filesystem.paths.map(visibleName).join(', ')}`,
    `  declared  ${declared.length === 0 ? 'nothing' : declared.join(', ')}`,
  ]
}

const PATHS_MAX = 40
const SIGNS = [
  ['deleted', '-'],
  ['modified', '~'],
  ['added', '+'],
] as const

function rehearsalLines({ result }: ActHistory, paint: Paint): readonly string[] {
  if (result === null) return section(paint, 'Rehearsal', 'did not take place')
  const { diff, execution, resources } = result.payload
  const ended = failureText(result.payload) ?? 'it succeeded'
  const words = `${ended} after ${(resources.duration_ms / 1000).toFixed(1)} s: ${resultText(result.payload)}`
  const paths = SIGNS.flatMap(([name, sign]) =>
    diff[name].map(({ path }) => `  ${sign} ${visibleName(path)}`),
  )
  const { added, modified, deleted } = diff.counts
  const more = added + modified + deleted - Math.min(paths.length, PATHS_MAX)
  return [
    ...section(paint, 'Rehearsal', words),
    `  ${momentText(execution.started_at)}, ${sizeText(diff.bytes)} written`,
    ...paths.slice(0, PATHS_MAX),
    ...(more > 0
      ? [`  and ${more} more; writ show --json lists the first ones with their hashes`]
      : []),
  ]
}

function findingLines({ result }: ActHistory, paint: Paint): readonly string[] {
  const { findings: found = [], side_effects } = result?.payload ?? {}
  const findings = withoutAwaited(found, side_effects?.held ?? [])
  if (findings.length === 0) return []
  const lines = [...byCode(findings).values()].flatMap((group) => {
    const words = group.map(findingWords)
    const [first] = words
    return [
      `  ${first?.says ?? ''} ${paint.dim(`(${first?.code ?? ''})`)}`,
      ...words.flatMap(({ where }) => (where === null ? [] : [`      ${where}`])),
    ]
  })
  return [...section(paint, 'Findings', String(findings.length)), ...lines]
}

const DECISIONS = {
  PROMOTE: 'let through',
  CONFIRM: 'a person was asked',
  BLOCK: 'refused',
} as const

function decisionLines(
  { decision, result }: ActHistory,
  texts: LawTexts,
  paint: Paint,
): readonly string[] {
  if (decision === null) return []
  const { payload } = decision
  const words = `${DECISIONS[payload.decision]}, ${momentText(payload.decided_at)}`
  return [
    ...section(paint, 'Decision', `${words}${payload.permanent ? ', until a human lifts it' : ''}`),
    ...reasonLines(
      withoutAwaitedCode(payload.codes, result?.payload ?? null),
      texts,
      paint,
      result?.payload ?? null,
    ),
  ]
}

const ANSWERS = {
  APPROVED: 'approved',
  DENIED: 'denied',
  EXPIRED: 'it was not answered in time',
} as const
const PROOFS: Readonly<Record<Confirmation['assurance'], string>> = {
  terminal: 'by a plain yes at a terminal',
  passphrase: 'with the passphrase',
  passkey: 'with a passkey',
  none: '',
}

function proofText({ assurance, given_ahead }: Confirmation): string {
  return given_ahead === true ? 'by a plain yes given with `--yes`' : PROOFS[assurance]
}

function answerLines({ answers, outcome }: ActHistory, paint: Paint): readonly string[] {
  if (answers.length === 0 && outcome === 'waiting') {
    return section(paint, 'Answer', 'none yet: writ inbox')
  }
  return answers.flatMap(({ payload, by }) => {
    const { answer, answered_at, reason, superseded_by } = payload
    if (superseded_by !== undefined) {
      const newer = shortId(superseded_by)
      const words = `superseded by ${newer}, which asked about the same act, ${momentText(answered_at)}`
      return section(paint, 'Answer', `${words}: writ show ${newer}`)
    }
    const who = answer === 'EXPIRED' ? '' : ` by ${visible(principalText(by))}`
    const proof = answer === 'APPROVED' ? ` ${proofText(payload)}` : ''
    const why = reason === undefined ? '' : `: “${visible(reason)}”`
    return section(
      paint,
      'Answer',
      `${ANSWERS[answer]}${who}${proof}, ${momentText(answered_at)}${why}`,
    )
  })
}

function promotionLines(act: ActHistory, paint: Paint): readonly string[] {
  if (act.promotion === null) return []
  const { status, paths, promoted_at } = act.promotion.payload
  const sent = sentLines(act)
  const changed = paths > 0 ? `${counted(paths, 'path')} changed` : 'nothing to change'
  const done = sent.length === 0 ? [changed] : paths > 0 ? [changed, 'sent'] : ['sent']
  const words = status === 'APPLIED' ? done.join(', ') : status
  return [
    ...section(paint, 'Promotion', `${words}, ${momentText(promoted_at)}`),
    ...sent,
    ...(act.outcome === 'promoted' ? [`  ${undoLine(act)}`] : []),
  ]
}

/** One line for each request: what was sent, how large, and what came of it. */
function sentLines({ requests, result }: ActHistory): readonly string[] {
  const { held = [] } = result?.payload.side_effects ?? {}
  return held.flatMap(({ step_id, method, url, has_query, body_bytes }) => {
    const own = requests.map(({ payload }) => payload).filter((one) => one.step_id === step_id)
    const last = own.findLast(({ state }) => state !== 'SAVED' && state !== 'NOT_SAVED')
    if (last === undefined) return []
    const size = body_bytes === 0 ? 'no body' : sizeText(body_bytes)
    const answer = last.answer === undefined ? last.state.toLowerCase() : String(last.answer.status)
    const saved = own.findLast(({ state }) => state === 'SAVED')?.save?.path
    const kept = saved === undefined ? '' : `, written to ${visibleName(saved)}`
    const address = `${visible(method)} ${visible(url)}${has_query ? '?…' : ''}`
    return [`  → ${address}, ${size}; answer: ${visible(answer)}${kept}`]
  })
}

/** Says how to undo an act that was promoted and not taken back. */
function undoLine({ id, promotion, result }: ActHistory): string {
  const { held = [] } = result?.payload.side_effects ?? {}
  if (held.length > 0) return undoSentText(held, null)
  return `can be taken back until ${momentText(promotion?.payload.undo_until ?? '')}: writ rollback ${shortId(id)}`
}

function undoLines({ rollback }: ActHistory, paint: Paint): readonly string[] {
  if (rollback === null) return []
  const { payload, by } = rollback
  return section(paint, 'Undo', undoWords(payload, by))
}

function undoWords(
  { restored, verified, rolled_back_at, reason }: NonNullable<ActHistory['rollback']>['payload'],
  by: HistoryRecord<unknown>['by'],
): string {
  const paths = restored === 1 ? '1 path' : `${restored} paths`
  const proof = verified ? 'as it was before' : 'not all as it was before'
  const why = reason === undefined ? '' : `: “${visible(reason)}”`
  return `${paths} restored, ${proof}, ${momentText(rolled_back_at)} by ${visible(principalText(by))}${why}`
}
