/** `writ laws check`: can these laws be read, and if not, what is wrong at which line and column. */
import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { findHome, HomeFailure, humansWithCredential } from '../../host/index.ts'
import {
  fewHumansWarnings,
  LAYERED,
  type Law,
  type LawFault,
  type Laws,
  type LawsReading,
  loadLaws,
  mostApprovals,
} from '../../policy/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { withHistory } from '../home.ts'
import { readSource } from '../source.ts'
import { surroundings } from '../surroundings.ts'
import type { Paint } from '../terminal.ts'

export async function run(call: Call): Promise<Exit> {
  const named = call.arguments.length > 0 ? call.arguments : [lawsOfHome(call)]
  const answers: Answer[] = []
  for (const file of named) {
    const reading = await readLawFile(file)
    const warnings = reading.ok ? await humansWarnings(call, file, reading.laws) : []
    answers.push({
      file,
      reading: reading.ok ? { ...reading, warnings: [...reading.warnings, ...warnings] } : reading,
    })
  }
  await call.terminal.out(
    call.options.isOn('json') ? toJson(answers) : toText(answers, call.terminal.paint),
  )
  return answers.every(({ reading }) => reading.ok) ? EXIT.yes : EXIT.no
}

/** Laws that want more humans than the home has; nothing where there is no home to look at. */
async function humansWarnings(call: Call, file: string, laws: Laws): Promise<readonly LawFault[]> {
  if (mostApprovals(laws) === 1) return []
  const humans = await humansOfHome(call)
  if (humans === null) return []
  const { bytes } = await readSource(file)
  return fewHumansWarnings(bytes.toString('utf8'), laws, humans)
}

async function humansOfHome(call: Call): Promise<number | null> {
  try {
    return await withHistory(call, async ({ register }) => humansWithCredential(register))
  } catch (error) {
    // Laws are checked anywhere, also where there is no home yet or none that this user trusts.
    if (error instanceof HomeFailure) return null
    throw error
  }
}

interface Answer {
  readonly file: string
  readonly reading: LawsReading
}

/** Found, not believed: laws are checked before a human registers them. */
export function lawsOfHome(call: Call): string {
  return join(findHome(surroundings(), call.options.text('home')), 'laws.yaml')
}

export async function readLawFile(file: string): Promise<LawsReading> {
  const { bytes } = await readSource(file)
  if (isUtf8(bytes)) return loadLaws(bytes.toString('utf8'), LAYERED)
  const message = 'the text is not UTF-8'
  const fault: LawFault = { code: 'document.not_json', path: '', message, line: 1, column: 1 }
  return { ok: false, faults: [fault] }
}

function toJson(answers: readonly Answer[]): string {
  const shown = answers.map(({ file, reading }) => ({
    file,
    accepted: reading.ok,
    faults: reading.ok ? [] : reading.faults,
    warnings: reading.ok ? reading.warnings : [],
    laws: reading.ok ? ownLaws(reading.laws.laws).map(described) : [],
  }))
  return `${JSON.stringify(shown.length === 1 ? shown[0] : shown)}\n`
}

function ownLaws(laws: readonly Law[]): readonly Law[] {
  return laws.filter(({ isBuiltIn }) => !isBuiltIn)
}

function described({ policyId, tier, action, readsResult, approvals }: Law) {
  const several = approvals === 1 ? {} : { approvals }
  return {
    policy_id: policyId,
    tier,
    violation_action: action,
    reads_result: readsResult,
    ...several,
  }
}

function toText(answers: readonly Answer[], paint: Paint): string {
  return answers
    .map(({ file, reading }) =>
      reading.ok
        ? [
            `${paint.good('accepted')}  ${file}`,
            ...listing(ownLaws(reading.laws.laws), paint),
            ...reading.warnings.map(
              (one) => `${paint.dim('warning')}${faultText(file, one, paint)}`,
            ),
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

function listing(laws: readonly Law[], paint: Paint): readonly string[] {
  const width = Math.max(0, ...laws.map(({ policyId }) => policyId.length))
  return laws.map(({ policyId, tier, action, readsResult, approvals }) => {
    const when = readsResult || tier === 2 ? 'after the rehearsal' : 'before the rehearsal'
    const by = approvals === 1 ? '' : ` by ${approvals} humans`
    return `  ${policyId.padEnd(width)}  ${paint.dim(`tier ${tier}, ${action}${by}, ${when}`)}`
  })
}

/** Begins with `file:line:column`, which editors and terminals turn into a link. */
function faultText(file: string, fault: LawFault, paint: Paint): string {
  const { line, column, code, message, hint } = fault
  const place = paint.accent(`${file}:${line}:${column}`)
  const text = `  ${place}  ${paint.dim(code)}\n    ${message}`
  return hint === undefined ? text : `${text}\n    ${paint.dim('hint:')} ${hint}`
}
