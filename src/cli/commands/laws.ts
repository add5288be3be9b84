/**
 * `writ laws check`: can these laws be read, and if not, what is wrong at which line and column.
 * `writ laws explain` and `writ laws test`: why an act was decided, and what other laws would change.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Digest,
  FaultError,
  fault,
  faultCode,
  faultError,
  showName,
} from '../../base/index.ts'
import { learnGrants } from '../../gate/index.ts'
import { wholeActionId } from '../../history/index.ts'
import { findHome, openHome } from '../../home/index.ts'
import { humansWithCredential } from '../../ledger/index.ts'
import {
  DEFAULT_LAW_DOCUMENTS,
  fewHumansWarnings,
  type Law,
  type LawFault,
  type LawSet,
  mostApprovals,
  type ParsedLaws,
} from '../../policy/index.ts'
import { lastAccepted } from '../../service/index.ts'
import { visible } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { streamsToRead, withHistory } from '../call/home.ts'
import { refuseOut, writeWhole } from '../call/output-file.ts'
import { readSource } from '../call/source.ts'
import { type Paint, progressBar, surroundings } from '../call/terminal.ts'
import { momentOption } from '../history/option-values.ts'
import { readLawFile, usableReading } from '../laws/acceptance.ts'
import { explainAction, explanationText } from '../laws/explained-action.ts'
import { answersIn, lessonsText, withGrants } from '../laws/learning.ts'
import { TrialRun, trialText } from '../laws/trial.ts'

export async function check(call: CommandCall): Promise<Exit> {
  const isOwn = call.arguments.length === 0
  const named = isOwn ? [lawsOfHome(call)] : call.arguments
  if (isOwn) for (const file of named) refuseGone(file)
  const { options, terminal } = call
  const accepted = isOwn ? await ofHome(() => acceptedDigest(call)) : null
  const answers: Answer[] = []
  for (const file of named) {
    const { reading, digest } = await readLawFile(file)
    const warnings = reading.ok ? await humansWarnings(call, file, reading.laws) : []
    answers.push({
      file,
      digest,
      inForce: accepted === null ? null : accepted === digest,
      reading: reading.ok ? { ...reading, warnings: [...reading.warnings, ...warnings] } : reading,
    })
  }
  await terminal.out(options.isOn('json') ? toJson(answers) : toText(answers, terminal.paint))
  return answers.every(({ reading }) => reading.ok) ? EXIT.yes : EXIT.no
}

/** Fails if a home has lost its law file. */
function refuseGone(file: string): void {
  if (existsSync(file)) return
  const message = `the law file is gone: ${showName(file)}; the laws that were accepted stay in force`
  const hint =
    'put the file back, or run `writ laws accept`, which shows what changes and leaves the default laws alone in force'
  const details = { file, reason: 'ENOENT' }
  throw new FaultError(fault('cli.file_unreadable', file, details, { message, hint }))
}

/** Of the laws in force: those of the record where it is read by several machines, else the registered ones. */
async function acceptedDigest(call: CommandCall): Promise<string> {
  const { registeredLaws } = openHome(surroundings(), call.options.text('home'))
  try {
    return await withHistory(call, async ({ ledger }) =>
      ledger.files === null
        ? registeredLaws
        : ((await lastAccepted(ledger))?.laws.laws ?? registeredLaws),
    )
  } catch (error) {
    // Laws are checked also where the record cannot be read.
    if (error instanceof FaultError) return registeredLaws
    throw error
  }
}

/** Laws that want more humans than the home has; nothing where there is no home to look at. */
async function humansWarnings(
  call: CommandCall,
  file: string,
  laws: LawSet,
): Promise<readonly LawFault[]> {
  if (mostApprovals(laws) === 1) return []
  const humans = await ofHome(() =>
    withHistory(call, async ({ register }) => humansWithCredential(register)),
  )
  if (humans === null) return []
  const { bytes } = await readSource(file)
  return fewHumansWarnings(bytes.toString('utf8'), laws, humans)
}

/** Laws are checked anywhere: null where there is no home yet, or none that this user trusts. */
async function ofHome<T>(look: () => T | Promise<T>): Promise<T | null> {
  try {
    return await look()
  } catch (error) {
    if (faultCode(error)?.startsWith('home.')) return null
    throw error
  }
}

interface Answer {
  readonly file: string
  readonly digest: Digest
  /** Null for a file that is not that of a home which this user trusts. */
  readonly inForce: boolean | null
  readonly reading: ParsedLaws
}

/** Found, not believed: laws are checked before a human registers them. */
export function lawsOfHome(call: CommandCall): string {
  return join(findHome(surroundings(), call.options.text('home')), 'laws.yaml')
}

function toJson(answers: readonly Answer[]): string {
  const shown = answers.map(({ file, digest, inForce, reading }) => ({
    file,
    valid: reading.ok,
    in_force: inForce,
    digest,
    faults: reading.ok ? [] : reading.faults,
    warnings: reading.ok ? reading.warnings : [],
    laws: reading.ok ? ownLaws(reading.laws.laws).map(described) : [],
    disabled: reading.ok ? reading.laws.disabled : [],
  }))
  return `${JSON.stringify(shown.length === 1 ? shown[0] : shown)}\n`
}

function ownLaws(laws: readonly Law[]): readonly Law[] {
  return laws.filter(({ isBuiltIn }) => !isBuiltIn)
}

function described(law: Law) {
  const { policyId, tier, action, readsResult, approvals, text } = law
  return {
    policy_id: policyId,
    tier,
    violation_action: action,
    reads_result: readsResult,
    origin: law.isDefault ? 'default' : 'file',
    ...(law.isDefault ? {} : besideDefault(law)),
    ...(text === null ? {} : { text }),
    ...(approvals === 1 ? {} : { approvals }),
  }
}

/** Compares a law of the file with the default law of the same id; empty if there is none. */
function besideDefault(law: Law): { readonly default_law?: 'same' | 'replaced' } {
  const known = DEFAULT_LAW_DOCUMENTS.find(({ policy_id }) => policy_id === law.policyId)
  if (known === undefined) return {}
  const own = [law.tier, law.action, law.priority, law.overrideMode, law.conflictsWith]
  const { tier, violation_action, priority, override_mode, conflicts_with = [] } = known
  const isSame =
    JSON.stringify(own) ===
      JSON.stringify([tier, violation_action, priority, override_mode, conflicts_with]) &&
    spaced(law.expression.source) === spaced(known.policy_expr) &&
    law.approvals === (known.approvals ?? 1)
  return { default_law: isSame ? 'same' : 'replaced' }
}

function spaced(expression: string): string {
  return expression.replaceAll(/\s+/g, ' ').trim()
}

function toText(answers: readonly Answer[], paint: Paint): string {
  return answers
    .map(({ file, inForce, reading }) =>
      reading.ok
        ? [
            `${paint.good('valid')}  ${file}${forceWords(inForce)}`,
            ...listing(reading.laws, paint),
            ...reading.warnings.map((one) => warningText(file, one, paint)),
            '',
          ]
        : [
            `${paint.bad('refused')}  ${file}`,
            ...reading.faults.map((one) => faultText(file, one, paint)),
            '',
          ],
    )
    .map((lines) => lines.join('\n'))
    .join('')
}

function forceWords(inForce: boolean | null): string {
  if (inForce === null) return ''
  return inForce ? ', in force' : ', not in force: `writ laws accept` shows what it changes'
}

/** The laws of the file, then the default laws that hold below it. */
function listing({ laws, disabled, isWhole }: LawSet, paint: Paint): readonly string[] {
  const own = ownLaws(laws)
  const defaults = own.filter(({ isDefault }) => isDefault)
  const width = Math.max(0, ...own.map(({ policyId }) => policyId.length))
  const heading = (words: string): string => `  ${paint.strong(words)}`
  return [
    heading(own.length === defaults.length ? 'of this file: no law' : 'of this file'),
    ...own.filter(({ isDefault }) => !isDefault).flatMap((law) => lawLines(law, width, paint)),
    ...(defaults.length === 0 ? [] : [heading('default laws that this file leaves in force')]),
    ...defaults.flatMap((law) => lawLines(law, width, paint)),
    ...(disabled.length === 0 ? [] : [heading(`turned off here: ${disabled.join(', ')}`)]),
    ...(isWhole ? [heading('`replace: true`: no default law and no default grant holds')] : []),
  ]
}

const DEFAULT_WORDS = {
  same: ', the same as the default law',
  replaced: ', in place of the default law',
  none: '',
} as const

function lawLines(law: Law, width: number, paint: Paint): readonly string[] {
  const { policyId, tier, action, readsResult, approvals, text } = law
  const when = readsResult || tier === 2 ? 'after the rehearsal' : 'before the rehearsal'
  const by = approvals === 1 ? '' : ` by ${approvals} humans`
  const place = law.isDefault ? '' : DEFAULT_WORDS[besideDefault(law).default_law ?? 'none']
  return [
    `    ${policyId.padEnd(width)}  ${paint.dim(`tier ${tier}, ${action}${by}, ${when}${place}`)}`,
    ...(text === null ? [] : [`    ${' '.repeat(width)}  ${visible(text)}`]),
  ]
}

function warningText(file: string, warning: LawFault, paint: Paint): string {
  return `${paint.dim('warning')}${faultText(file, warning, paint)}`
}

/** Begins with `file:line:column`, which editors and terminals turn into a link. */
function faultText(file: string, fault: LawFault, paint: Paint): string {
  const { line, column, code, message, hint } = fault
  const place = paint.accent(`${file}:${line}:${column}`)
  const text = `  ${place}  ${paint.dim(code)}\n    ${message}`
  return hint === undefined ? text : `${text}\n    ${paint.dim('hint:')} ${hint}`
}

/** `writ laws explain ID`: why an act was decided as it was, and what a human can do about it. */
export async function explain(call: CommandCall): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (id === undefined || id === '' || others.length > 0) {
    throw usageError('name one action', '`writ log` lists what was decided')
  }
  return withHistory(call, async (session) => {
    const streams = await streamsToRead(session, call)
    const whole = await wholeActionId(session.ledger, streams, id)
    for (const stream of streams) {
      const explained = await explainAction(session, stream, whole)
      if (explained === null) continue
      const { explanation, human } = explained
      return reply(call, { ...explanation, human }, (paint) =>
        explanationText(explanation, human, paint),
      )
    }
    throw faultError('history.unknown', id, `nothing was decided about ${showName(id)} here`)
  })
}

/** `writ laws test`: what would change over past proposals if a file were the law. Decides nothing. */
export async function test(call: CommandCall): Promise<Exit> {
  const [file = lawsOfHome(call), ...others] = call.arguments
  if (others.length > 0) throw usageError('name one law file')
  const since = momentOption(call, 'since', Date.now())
  const { laws, warnings } = await usableReading(file)
  for (const one of warnings)
    call.terminal.err(`${warningText(file, one, call.terminal.paintError)}\n`)
  const trial = new TrialRun(laws)
  return withHistory(call, async (session) => {
    const { ledger } = session
    for (const stream of await streamsToRead(session, call)) {
      const total = (await ledger.store.head(stream))?.size ?? 0
      const bar = progressBar(call.terminal, `trying laws on ${stream}`)
      await trial.take(ledger, stream, since, (seq) => bar.tick(seq, total))
      bar.end()
    }
    const answer = trial.finish()
    return reply(call, answer, (paint) => trialText(answer, paint))
  })
}

/** `writ laws learn`: proposes grants from what humans always answered alike (N-3); accepts nothing. */
export async function learn(call: CommandCall): Promise<Exit> {
  const since = momentOption(call, 'since', Date.now())
  const file = lawsOfHome(call)
  const out = call.options.text('out') ?? 'laws.learned.yaml'
  const isPrinted = out === '-'
  if (!isPrinted) await refuseOut(call, out)
  return withHistory(call, async (session) => {
    const { ledger } = session
    const streams = await streamsToRead(session, call)
    const answers = []
    for (const stream of streams)
      answers.push(...(await answersIn(ledger, stream, since, Date.now())))
    const lessons = learnGrants(answers)
    if (lessons.grants.length === 0) {
      return reply(call, { ...lessons, file: null }, (paint) => lessonsText(lessons, out, paint))
    }
    const present = existsSync(file) ? (await readSource(file)).bytes.toString('utf8') : ''
    const text = withGrants(present, lessons.grants, Date.now())
    if (!isPrinted) await writeWhole(out, text)
    const trial = new TrialRun((await usableReading(out, Buffer.from(text))).laws)
    for (const stream of streams) await trial.take(ledger, stream, since, () => undefined)
    const effect = trial.finish()
    if (isPrinted) return reply(call, { ...lessons, file: null, text, effect }, () => text)
    return reply(
      call,
      { ...lessons, file: out, effect },
      (paint) => `${lessonsText(lessons, out, paint)}\n${trialText(effect, paint)}`,
    )
  })
}
