/**
 * Problems of a flow with their places in the files of the user, and their text: one line that
 * editors and terminals turn into a link, then the sentence.
 */
import { type Code, GRAPH_LIMITS } from '../../base/index.ts'
import {
  commandText,
  type FlowCheck,
  type FlowProblem,
  type ImportFinding,
  type TableImport,
} from '../../flow/index.ts'
import { type LawText, readLawText, type TextRefusal } from '../../policy/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import type { Paint } from '../call/terminal.ts'

export interface PlacedProblem {
  readonly code: Code
  readonly path: string
  readonly message: string
  readonly hint?: string
  readonly file?: string
  /** From 1. */
  readonly line?: number
  readonly column?: number
}

/** `places` is asked only when there is something to place. */
export async function placedIn(
  file: string,
  problems: readonly FlowProblem[],
  places: () => Promise<PlacedText | null>,
): Promise<readonly PlacedProblem[]> {
  if (problems.length === 0) return []
  const text = await places()
  return problems.map((problem) => placed(file, problem, text))
}

function placed(file: string, problem: FlowProblem, text: PlacedText | null): PlacedProblem {
  const { offset, ...rest } = problem
  if (text === null) return { ...rest, file }
  const isKey = problem.code.endsWith('.unknown_key')
  const { line, column } =
    offset !== undefined
      ? text.placeInside(problem.path, offset)
      : isKey
        ? text.placeOfKey(problem.path)
        : text.placeOf(problem.path)
  return { ...rest, file, line, column }
}

/** What was found while a table was read, and what is found about the flow it became. */
export async function placedTable(
  file: string,
  side: string | null,
  { findings, originOf }: Pick<TableImport, 'findings' | 'originOf'>,
  check: FlowCheck | null,
  sideText: PlacedText | null,
): Promise<{
  readonly errors: readonly PlacedProblem[]
  readonly warnings: readonly PlacedProblem[]
}> {
  const ofFinding = ({ level: _, file: where, ...rest }: ImportFinding): PlacedProblem =>
    where === 'edges' ? { ...rest, file } : placed(side ?? '', rest, sideText)
  const ofProblem = (problem: FlowProblem): PlacedProblem => {
    const origin = originOf(problem.path)
    if (origin === null) return placed(file, problem, null)
    if (origin.file === 'side') {
      return {
        ...placed(side ?? '', { ...problem, path: origin.path }, sideText),
        path: problem.path,
      }
    }
    const { offset: _, ...rest } = problem
    return { ...rest, file, line: origin.line, column: origin.column }
  }
  const of = (level: ImportFinding['level'], problems: readonly FlowProblem[]) => [
    ...findings.filter((finding) => finding.level === level).map(ofFinding),
    ...problems.map(ofProblem),
  ]
  return {
    errors: of('error', check?.violations ?? []),
    warnings: of('warning', check?.warnings ?? []),
  }
}

export function problemLine(problem: PlacedProblem, paint: Paint): string {
  const { file = '', line, column, code, path, message, hint } = problem
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`
  const where = path === '' ? '' : `  ${path}`
  const text = `  ${paint.accent(place)}${where}  ${paint.dim(code)}\n    ${message}`
  return hint === undefined ? text : `${text}\n    ${paint.dim('hint:')} ${hint}`
}

/** Says why a flow is refused, in the words of `flow check`. */
export async function refuseFlow(
  { options, terminal }: CommandCall,
  file: string,
  files: { readonly participants: string | null; readonly side: string | null },
  violations: readonly PlacedProblem[],
): Promise<Exit> {
  if (options.isOn('json')) {
    await terminal.out(`${JSON.stringify({ valid: false, violations })}\n`)
    return EXIT.no
  }
  const given = Object.entries(files).flatMap(([name, path]) =>
    path === null ? [] : [`--${name}`, path],
  )
  const check = commandText('writ', 'flow', 'check', file, ...given)
  const lines = violations.map((one) => problemLine(one, terminal.paint))
  const head = `${terminal.paint.bad('refused')}  ${file}: nothing was started or changed`
  await terminal.out(`${[head, ...lines, `check it again: ${check}`].join('\n')}\n`)
  return EXIT.no
}

export type PlacedText = LawText

/** Texts of flow documents with the places of their parts, within the limits of graphs. */
export function readPlaced(text: string): Promise<LawText | TextRefusal> {
  return readLawText(text, GRAPH_LIMITS)
}
