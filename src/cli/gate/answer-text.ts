/**
 * The gate's answer for a person: what became of the act, why, what it did, and what can be done next.
 * The JSON form is the answer itself.
 */

import { CODES, isCode } from '../../base/index.ts'
import type { Obstacle } from '../../contracts/index.ts'
import { shortId } from '../../history/index.ts'
import type { ApprovalsSoFar, GateAnswer } from '../../service/index.ts'
import {
  grouped,
  resultText,
  undoSentText,
  visible,
  visibleLine,
  visibleName,
} from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { jsonPieces } from '../call/json-pieces.ts'
import { nextStep } from '../call/next-step.ts'
import type { Paint } from '../call/terminal.ts'
import { violationText } from '../call/terminal.ts'
import { byCode, findingCount, findingWords } from '../effects/entry-text.ts'
import { momentText } from '../effects/question-head.ts'
import { type LawTexts, reasonLines, shortDigest } from '../effects/question-text.ts'
import {
  heldLines,
  networkLines,
  sentLines,
  withoutAwaited,
  withoutAwaitedCode,
} from '../effects/request-text.ts'
import { approvalsText, fewHumansText, missingText } from './approvals-text.ts'

export async function printAnswer(
  { options, terminal }: CommandCall,
  answer: GateAnswer,
  dryRun = false,
): Promise<Exit> {
  if (options.isOn('json')) for (const piece of jsonPieces(answer)) await terminal.out(piece)
  else await terminal.out(answerLines(answer, terminal.paint, dryRun).join('\n'))
  await terminal.out('\n')
  return exitOf(answer, dryRun)
}

/** Prints the output of a read or a command; byte for byte if standard output is no terminal. */
export async function printOutput(
  { terminal }: CommandCall,
  { result }: GateAnswer,
): Promise<void> {
  const { stdout, stderr } = result?.outputs ?? { stdout: '', stderr: '' }
  for (const [name, text] of [
    ['output', stdout],
    ['errors', stderr],
  ] as const) {
    if (text === '') continue
    if (terminal.isTty) await terminal.out(`${terminal.paint.dim(`${name}:`)}\n`)
    const shown = terminal.isTty ? visibleLines(text) : text
    await terminal.out(shown.endsWith('\n') ? shown : `${shown}\n`)
  }
}

function visibleLines(text: string): string {
  return text
    .split('\n')
    .map((line) => visibleLine(line))
    .join('\n')
}

export function exitOf({ promoted, pending, decision }: GateAnswer, dryRun: boolean): Exit {
  if (promoted) return EXIT.yes
  if (pending !== undefined) return EXIT.waiting
  if (!dryRun || decision.decision === 'BLOCK') return EXIT.no
  return decision.decision === 'PROMOTE' ? EXIT.yes : EXIT.waiting
}

/** `cap` is the sentence about the cap that ended the run, where the caller knows its value. */
export function answerLines(
  answer: GateAnswer,
  paint: Paint,
  dryRun: boolean,
  cap: string | null = null,
): string[] {
  const { violations = [], action_id: id } = answer
  return [
    `${headline(answer, paint, dryRun)}  ${visibleName(id)}${resultWords(answer)}`,
    ...reasonLines(toldCodes(answer), textsOf(answer), paint, answer.result),
    ...setAsideLines(answer),
    ...(answer.obstacles ?? []).map((obstacle) => obstacleText(obstacle, paint)),
    ...violations.map((violation) => violationText(violation, paint)),
    ...effectLines(answer, paint),
    ...heldLines(answer.promoted ? [] : (answer.result?.side_effects.held ?? []), null, paint),
    ...sentLines(answer.requests, paint),
    ...networkLines(answer.result?.side_effects.network ?? [], paint),
    ...findingLines(answer, paint),
    ...nextLines(answer, paint, cap),
  ]
}

/** Laws that would have spoken, and the override that each used up. */
export function setAsideLines({ set_aside = [] }: GateAnswer): readonly string[] {
  return set_aside.map(
    ({ policy_id, override_id }) =>
      `  the law ${visible(policy_id)} was set aside by the override ${visible(override_id.slice(0, 8))}: writ log --facts --type override_v1`,
  )
}

function textsOf({ laws = [] }: GateAnswer): LawTexts {
  return new Map(laws.map(({ policy_id, text }) => [policy_id, text]))
}

/** Of an act that goes through only that it was judged by other laws than those of the file. */
function toldCodes(answer: GateAnswer): readonly string[] {
  const codes = untold(answer)
  const isAll = answer.decision.decision !== 'PROMOTE'
  return isAll ? codes : codes.filter((code) => code === 'laws.unaccepted')
}

/** Codes that no finding and no obstacle tells in more words further down. */
function untold({ decision, result, obstacles = [] }: GateAnswer): readonly string[] {
  const told = new Set([...(result?.findings ?? []), ...obstacles].map(({ code }) => code))
  return withoutAwaitedCode(decision.codes, result).filter((code) => !told.has(code))
}

/** What stopped it, in the words of the part that was stopped, with the place it speaks of. */
function obstacleText({ code, path, detail }: Obstacle, paint: Paint): string {
  const says = detail ?? (isCode(code) ? CODES[code].says : '')
  const isNamed = path === undefined || says.includes(path)
  const where = isNamed ? '' : `: ${visibleName(path)}`
  return `  ${paint.bad(visible(code))}  ${visible(says)}${where}`
}

function headline(answer: GateAnswer, paint: Paint, dryRun: boolean): string {
  const { promoted, pending, decision, expired, superseded_by } = answer
  if (promoted) return paint.good('promoted')
  if (pending !== undefined) return paint.accent('waiting')
  if (decision.decision === 'BLOCK') return paint.bad('blocked')
  if (expired === true) return paint.bad('expired')
  if (superseded_by !== undefined) return paint.bad('superseded')
  if (!dryRun) return paint.bad('denied')
  return decision.decision === 'PROMOTE'
    ? paint.good('would be promoted')
    : paint.accent('would be asked')
}

function resultWords({ result, decision }: GateAnswer): string {
  if (result === null) return ''
  const digest = decision.result_digest
  return `  ${resultText(result)}${digest === undefined ? '' : `, result ${shortDigest(digest)}`}`
}

const SIGNS = [
  ['deleted', '-'],
  ['modified', '~'],
  ['added', '+'],
] as const

/** More paths than this are only counted: the reader may be a program that reads everything. */
const PATHS_MAX = 20

/** Deletions first, as everywhere, and then where the rest is. */
function effectLines(answer: GateAnswer, paint: Paint): readonly string[] {
  const { result, pending, action_id: id } = answer
  if (result === null) return []
  const { added, modified, deleted } = result.diff.counts
  const lines: string[] = []
  for (const [name, sign] of SIGNS) {
    const colour = sign === '-' ? paint.bad : sign === '+' ? paint.good : paint.accent
    const isRoom = lines.length < PATHS_MAX
    for (const { path } of isRoom ? result.diff[name].slice(0, PATHS_MAX - lines.length) : []) {
      lines.push(`  ${colour(sign)} ${visibleName(path)}`)
    }
  }
  const more = added + modified + deleted - lines.length
  if (more === 0) return lines
  const where = pending === undefined ? `writ show ${id}` : `writ inbox ${pending.id} --all`
  return [...lines, `  ${paint.dim(`and ${grouped(more)} more: ${where}`)}`]
}

const PLACES_MAX = 10

export function findingLines(answer: GateAnswer, paint: Paint): readonly string[] {
  const { result, pending, action_id: id } = answer
  const where = pending === undefined ? `writ show ${id}` : `writ inbox ${pending.id} --all`
  const held = result?.side_effects.held ?? []
  const groups = byCode(withoutAwaited(result?.findings ?? [], held))
  return [...groups.values()].flatMap((findings) => {
    const words = findings.map(findingWords)
    const places = words.flatMap(({ where }) => (where === null ? [] : [`      ${where}`]))
    const [first] = words
    const more = findingCount(findings) - PLACES_MAX
    return [
      `  ${first?.says ?? ''} ${paint.dim(`(${first?.code ?? ''})`)}`,
      ...places.slice(0, PLACES_MAX),
      ...(more > 0 ? [`      and ${grouped(more)} more: ${where}`] : []),
    ]
  })
}

function nextLines(answer: GateAnswer, paint: Paint, cap: string | null) {
  const { promoted, promotion, pending, action_id: id } = answer
  if (needsRelease(answer)) return [paint.dim(RELEASE)]
  if (answer.decision.decision === 'BLOCK' && answer.cooldown_until !== undefined) {
    return [paint.dim(cooldownText(answer.cooldown_until, id))]
  }
  if (pending !== undefined) {
    const look = `look at it: writ inbox ${pending.id}`
    const words = `${look}; then writ approve ${pending.id}, or writ deny ${pending.id}; until ${momentText(pending.expires_at)}`
    return [...severalLines(pending.approvals, paint), paint.dim(words)]
  }
  if (answer.superseded_by !== undefined) {
    const newer = shortId(answer.superseded_by)
    return [paint.dim(`superseded by ${newer}, which asks about the same act: writ show ${newer}`)]
  }
  if (answer.expired === true) return [paint.dim('nothing was changed; propose it again')]
  if (answer.decision.decision === 'BLOCK') return blockLines(answer, paint, cap)
  const { held = [] } = answer.result?.side_effects ?? {}
  if (promoted && held.length > 0) return [paint.dim(undoSentText(held, null))]
  const isUndoable = promoted && promotion !== undefined && promotion.paths.length > 0
  return isUndoable ? [paint.dim(`take it back: writ rollback ${shortId(id)}`)] : []
}

/** What to type after a refusal, by its reasons; `laws explain` knows the rest. */
function blockLines(answer: GateAnswer, paint: Paint, cap: string | null): readonly string[] {
  const { decision, action_id: id, obstacles = [], violations = [] } = answer
  // An obstacle that was made with a hint holds it behind a semicolon.
  const hinted = obstacles.filter(({ detail = '' }) => detail.includes('; '))
  const told = new Set([...hinted, ...violations].map(({ code }) => code))
  const steps = decision.codes
    .filter((code) => !told.has(code))
    .flatMap((code) => stepOf(code, cap)?.replaceAll(' ID', ` ${shortId(id)}`) ?? [])
  // A document without an id of its own is on no record.
  const isRecorded = !/^[0-]*$/.test(id)
  const why = `why, and what a person can do: writ laws explain ${shortId(id)}`
  return [...new Set(steps), ...(isRecorded ? [why] : [])].map((line) => paint.dim(visible(line)))
}

const CAPPED: ReadonlySet<string> = new Set(['result.timeout', 'result.resource_killed'])

function stepOf(code: string, cap: string | null): string | null {
  return cap !== null && CAPPED.has(code) ? cap : nextStep(code)
}

/** When the refusal ends, and how a person ends it now. */
function cooldownText(until: string, id: string): string {
  const lift = `writ override --lift ${visibleName(id)} --reason "…"`
  return `refused until ${until}; a person lifts this now with ${lift}`
}

function severalLines(approvals: ApprovalsSoFar | undefined, paint: Paint): readonly string[] {
  if (approvals === undefined) return []
  const few = fewHumansText(approvals)
  return [
    `${approvalsText(approvals)}; ${missingText(approvals)}`,
    ...(few === null ? [] : [paint.bad(few)]),
  ]
}

const RELEASE =
  'a human may release such requests before a run: writ override --release FILE --host H --method M'

/** Blocked for requests that only a release lets out. */
function needsRelease({ decision, result }: GateAnswer): boolean {
  if (decision.decision !== 'BLOCK') return false
  const { network = [] } = result?.side_effects ?? {}
  return network.some(({ code }) => code === 'network.method' || code === 'network.upload')
}
