/** `writ flow check`: can this flow be walked by its rules, and if not, what is wrong and where. */
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FlowProblem } from '../../flow/index.ts'
import { openWork, programProblems } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import type { Paint } from '../call/terminal.ts'
import { type FlowFile, loadFlowFile } from '../flow/load.ts'
import { problemLine } from '../flow/problem.ts'
import { workspaceOf } from './flow-run.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const { options, terminal } = call
  if (call.arguments.length === 0) {
    throw usageError(
      'name a flow, a plan or an edge table, or `-` for standard input',
      'writ flow check flow.yaml',
    )
  }
  const workspace = options.text('workspace') === null ? null : workspaceOf(call)
  const answers: CheckedFile[] = []
  for (const file of call.arguments) {
    const [participants, side] = [options.text('participants'), options.text('side')]
    answers.push(await withPrograms(await loadFlowFile(file, { participants, side }), workspace))
  }
  const isGood = ({ valid, warnings }: FlowFile): boolean =>
    valid && !(options.isOn('strict') && warnings.length > 0)
  const text = options.isOn('json') ? toJson(answers) : toText(answers, terminal.paint)
  await terminal.out(text)
  return answers.every(isGood) ? EXIT.yes : EXIT.no
}

interface CheckedFile extends FlowFile {
  /** What the file of a person decides, and no warning is. */
  readonly notes: readonly string[]
}

const NOT_LOOKED_FOR =
  'programs of participants are not looked for: a service checks the documents of the request alone'

/**
 * The files of participants are looked for where the flow would run: in the given workspace, else here,
 * or next to the file of the flow if they are all there.
 */
async function withPrograms(answer: FlowFile, workspace: string | null): Promise<CheckedFile> {
  const { file, kind, flow, valid } = answer
  if (flow === null || !valid) return { ...answer, notes: [] }
  const { env: environment } = process
  // A request may not ask which files this machine has.
  const isOfRequest = (environment['WRIT_READS_BELOW'] ?? '') !== ''
  const foundIn = (place: string): ReturnType<typeof programProblems> => {
    if (isOfRequest) return { violations: [], warnings: [], notes: [NOT_LOOKED_FOR] }
    const around = { workspace: place, environment, searchPath: environment['PATH'] ?? '' }
    return programProblems(flow, around)
  }
  const isMissing = ({ violations }: ReturnType<typeof foundIn>): boolean =>
    violations.some(({ code }) => code === 'flow.program_missing')
  const here = foundIn(workspace ?? process.cwd())
  const beyond =
    workspace === null && file !== '-' && isMissing(here)
      ? foundIn(realpathSync(dirname(file)))
      : here
  const found = isMissing(beyond) ? here : beyond
  const open = openWork(flow, kind === 'plan')
  // Pointers lead into the flow, which only a flow document is.
  const place =
    answer.place ??
    (async (problems: readonly FlowProblem[]) =>
      problems.map((problem) => ({ ...problem, path: '', file })))
  return {
    ...answer,
    valid: found.violations.length === 0,
    violations: [...answer.violations, ...(await place(found.violations))],
    warnings: [...answer.warnings, ...(await place([...found.warnings, ...open]))],
    notes: found.notes,
  }
}

function toJson(answers: readonly CheckedFile[]): string {
  const shown = answers.map(({ file, valid, violations, warnings, notes }) => ({
    file,
    valid,
    violations,
    warnings,
    ...(notes.length === 0 ? {} : { notes }),
  }))
  const [first, ...others] = shown
  if (first === undefined || others.length > 0) {
    return `${JSON.stringify({ valid: shown.every(({ valid }) => valid), files: shown })}\n`
  }
  const { file: _, ...answer } = first
  return `${JSON.stringify(answer)}\n`
}

function toText(answers: readonly CheckedFile[], paint: Paint): string {
  return answers.map((answer) => answerText(answer, paint)).join('')
}

function answerText(
  { file, kind, flow, valid, violations, warnings, notes }: CheckedFile,
  paint: Paint,
): string {
  const count = (number: number, noun: string): string =>
    `${number} ${noun}${number === 1 ? '' : 's'}`
  const size =
    flow === null
      ? kind
      : `${kind}, ${count(flow.nodes.length, 'node')}, ${count(flow.edges.length, 'edge')}`
  const head = valid ? `${paint.good('valid')}  ` : `${paint.bad('invalid')}  `
  return [
    `${head}${file}  ${paint.dim(size)}`,
    ...violations.map((one) => problemLine(one, paint)),
    ...warnings.map((one) => `${paint.dim('warning')}${problemLine(one, paint)}`),
    ...notes.map((one) => `${paint.dim('note')}  ${one}`),
    '',
  ].join('\n')
}
