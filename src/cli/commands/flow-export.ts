/** `writ flow export`: a flow, or a run, as a drawing, as a table, or as a document. */
import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { FaultError, fault, nearest, showName } from '../../base/index.ts'
import type { Flow, JsonObject } from '../../contracts/index.ts'
import {
  type DrawingOptions,
  drawingOf,
  exportTable,
  lostColumns,
  toDot,
  toMermaid,
  toSvg,
} from '../../flow/index.ts'
import { lookAtRun } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { withHistory } from '../call/home.ts'
import { refuseOut, writeWhole } from '../call/output-file.ts'
import { loadFlowFile } from '../flow/load.ts'
import { namedRun } from '../flow/named.ts'
import { problemLine } from '../flow/problem.ts'
import { runMarks } from '../flow/report-parts.ts'
import { toJson, toYaml } from '../rules/survey-text.ts'
import { choice } from './rules-fmt.ts'

const FORMATS = ['mermaid', 'dot', 'svg', 'csv', 'json', 'yaml'] as const
type Format = (typeof FORMATS)[number]

const BY_EXTENSION: Readonly<Record<string, Format>> = {
  '.mmd': 'mermaid',
  '.mermaid': 'mermaid',
  '.dot': 'dot',
  '.gv': 'dot',
  '.svg': 'svg',
  '.csv': 'csv',
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
}

export async function run(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0) {
    throw usageError(
      'name one flow, plan, edge table or run',
      'writ flow export flow.yaml --format svg --out flow.svg',
    )
  }
  const out = call.options.text('out')
  if (out !== null) await refuseOut(call, out)
  const usual = out === null ? 'mermaid' : (BY_EXTENSION[extname(out).toLowerCase()] ?? 'mermaid')
  const format = choice(call, 'format', FORMATS, usual)
  const drawn = isRun(name) ? await ofRun(call) : await ofFile(call, name)
  if (drawn === null) return EXIT.no
  const text = await textOf(
    format,
    drawn.flow,
    marked(call, drawn),
    call.options.isOn('all-columns'),
  )
  if (format === 'csv' && !call.options.isOn('all-columns')) tellLost(call, drawn.flow)
  if (out === null) await call.terminal.out(text)
  else await writeWhole(out, text)
  return EXIT.yes
}

interface Drawn {
  readonly flow: Flow
  readonly options: DrawingOptions
}

/** Runs have ids that no file has by chance; a file of that name wins. */
function isRun(name: string): boolean {
  return name !== '-' && /^run-[0-9a-f-]+$/.test(name) && !existsSync(name)
}

async function ofFile(call: CommandCall, name: string): Promise<Drawn | null> {
  const { options, terminal } = call
  const [participants, side] = [options.text('participants'), options.text('side')]
  const { flow, violations, found } = await loadFlowFile(name, { participants, side })
  if (flow !== null) return { flow, options: { problems: found } }
  if (options.isOn('json')) await terminal.out(`${JSON.stringify({ valid: false, violations })}\n`)
  else {
    const lines = violations.map((one) => `${problemLine(one, terminal.paintError)}\n`)
    terminal.err(`${terminal.paintError.bad('refused')}  ${name}\n${lines.join('')}`)
  }
  return null
}

/** The flow that a run walks, with the state of every node and what was found on the way. */
async function ofRun(call: CommandCall): Promise<Drawn> {
  return withHistory(call, async (session) => {
    const { head, stream } = await namedRun(session, call)
    const { home, ledger } = session
    const walked = await lookAtRun({ home, ledger, stream }, head.run_id)
    return { flow: walked.flow.document, options: runMarks(walked) }
  })
}

function marked(call: CommandCall, { flow, options }: Drawn): DrawingOptions {
  const ids = new Set(flow.nodes.map(({ node_id }) => node_id))
  const at = call.options.texts('at')
  for (const name of at) {
    if (ids.has(name)) continue
    const near = nearest(name, ids)
    throw new FaultError(
      fault('cli.usage', '', null, {
        message: `the flow has no node ${showName(name)}`,
        ...(near === null ? {} : { hint: `did you mean ${showName(near)}?` }),
      }),
    )
  }
  const bare = call.options.isOn('no-findings') ? { ...options, problems: [] } : options
  return { ...bare, at: [...(options.at ?? []), ...at] }
}

async function textOf(
  format: Format,
  flow: Flow,
  options: DrawingOptions,
  allColumns: boolean,
): Promise<string> {
  // A flow is a JSON object.
  const document = flow as unknown as JsonObject
  switch (format) {
    case 'mermaid':
      return toMermaid(drawingOf(flow, options))
    case 'dot':
      return toDot(drawingOf(flow, options))
    case 'svg':
      return toSvg(drawingOf(flow, options))
    case 'csv':
      return exportTable(flow, { allColumns })
    case 'json':
      return toJson(document)
    case 'yaml':
      return toYaml(document)
    default:
      return format satisfies never
  }
}

/** The table keeps its columns; what they cannot say is said. */
function tellLost({ terminal }: CommandCall, flow: Flow): void {
  const lost = lostColumns(flow)
  if (lost.length === 0) return
  const names = lost.map(showName).join(', ')
  terminal.err(
    `note: no column of the table holds ${names}; \`--all-columns\` adds five columns for them, \`--format yaml\` keeps everything\n`,
  )
}
