/** `writ flow test`: walks a flow as the cases of a test file say, and compares. Nothing is run or kept. */
import { dirname, join, resolve } from 'node:path'
import { checkDocument, type FlowTest } from '../../contracts/index.ts'
import {
  type CompiledFlow,
  commandText,
  compileFlow,
  coverageOf,
  type FlowProblem,
  junitXml,
  runTestCase,
  type TestCaseResult,
  type TestCoverage,
  unknownNames,
} from '../../flow/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseActorsOut, writeWhole } from '../call/output-file.ts'
import { readSource } from '../call/source.ts'
import type { Paint } from '../call/terminal.ts'
import { loadFlowFile } from '../flow/load.ts'
import { type PlacedProblem, placedIn, problemLine, readPlaced } from '../flow/problem.ts'

/** A test file: its cases with what came of them, or why none was run. */
interface TestedFile {
  readonly file: string
  readonly flow: CompiledFlow | null
  readonly problems: readonly PlacedProblem[]
  readonly cases: readonly TestCaseResult[]
}

export async function run(call: CommandCall): Promise<Exit> {
  const { options, terminal } = call
  if (call.arguments.length === 0)
    throw usageError('name a test file (flow_test_v1)', 'writ flow test flow.test.yaml')
  const junit = options.text('junit')
  if (junit !== null) await refuseActorsOut(call, junit, '--junit')
  const only = options.text('case')
  const files: TestedFile[] = []
  for (const file of call.arguments) files.push(await testFile(file, only))
  if (only !== null && files.every(({ cases, problems }) => cases.length + problems.length === 0))
    throw usageError(`no case is called ${JSON.stringify(only)}`, 'writ flow test flow.test.yaml')
  if (junit !== null) await writeWhole(junit, junitXml(files.map(suiteOf)))
  const flows = only === null ? coverages(files) : []
  const isTraced = options.isOn('trace')
  const text = options.isOn('json')
    ? toJson(files, flows)
    : toText(files, flows, isTraced, terminal.paint)
  await terminal.out(text)
  const isFull = flows.every(
    ({ untaken_nodes, untaken_edges }) => untaken_nodes.length + untaken_edges.length === 0,
  )
  const isGood = files.every(isPassed) && (isFull || !options.isOn('strict'))
  return isGood ? EXIT.yes : EXIT.no
}

function isPassed({ problems, cases }: TestedFile): boolean {
  return problems.length === 0 && cases.every(({ passed }) => passed)
}

async function testFile(file: string, only: string | null): Promise<TestedFile> {
  const { bytes } = await readSource(file)
  const placed = await readPlaced(bytes.toString('utf8'))
  if (!placed.ok) {
    const { ok: _, ...refusal } = placed
    return refused(file, [{ ...refusal, file }])
  }
  const here = (problems: readonly FlowProblem[]) => placedIn(file, problems, async () => placed)
  const { valid, violations } = checkDocument(placed.value, { as: 'flow_test_v1' })
  if (!valid) return refused(file, await here(violations))
  // The contract has accepted it.
  const test = placed.value as FlowTest
  const loaded = await loadFlow(file, test)
  if (loaded.flow === null) return refused(file, loaded.violations)
  // What is checked follows its contract.
  const compilation = compileFlow(loaded.flow)
  if (!compilation.ok) throw new Error('a flow that was checked compiles')
  const { flow } = compilation
  const unknown = unknownNames(flow, test)
  if (unknown.length > 0) return refused(file, await here(unknown))
  const chosen = test.cases.filter(({ name }) => only === null || name === only)
  return { file, flow, problems: [], cases: chosen.map((one) => runTestCase(flow, test, one)) }
}

function refused(file: string, problems: readonly PlacedProblem[]): TestedFile {
  return { file, flow: null, problems, cases: [] }
}

/** The flow that a test names, relative to the test file. */
async function loadFlow(file: string, { flow, side, participants }: FlowTest) {
  const folder = file === '-' ? '.' : dirname(file)
  const beside = (name: string): string => (resolve(name) === name ? name : join(folder, name))
  const loaded = await loadFlowFile(beside(flow), {
    side: side === undefined ? null : beside(side),
    participants: participants === undefined ? null : beside(participants),
  })
  return { flow: loaded.valid ? loaded.flow : null, violations: loaded.violations }
}

interface FlowCoverage extends TestCoverage {
  readonly flow_id: string
}

/** The cases of all files about one flow count together. */
function coverages(files: readonly TestedFile[]): readonly FlowCoverage[] {
  const flows = new Map(
    files.flatMap(({ flow }) => (flow === null ? [] : [[flow.digest, flow] as const])),
  )
  return [...flows.values()].map((flow) => {
    const cases = files.flatMap((file) => (file.flow?.digest === flow.digest ? file.cases : []))
    return { flow_id: flow.document.flow_id, ...coverageOf(flow, cases) }
  })
}

function suiteOf({ file, cases, problems }: TestedFile) {
  const [first] = problems
  const problem = first === undefined ? null : `${first.message} (${first.code}, ${first.path})`
  return { file, cases, problem }
}

function toJson(files: readonly TestedFile[], flows: readonly FlowCoverage[]): string {
  const shown = files.map((one) => {
    const { file, problems, cases } = one
    return { file, passed: isPassed(one), problems, cases }
  })
  const passed = files.every(isPassed)
  return `${JSON.stringify({ passed, files: shown, coverage: flows })}\n`
}

function toText(
  files: readonly TestedFile[],
  flows: readonly FlowCoverage[],
  isTraced: boolean,
  paint: Paint,
): string {
  const cases = files.flatMap((one) => one.cases)
  const failed = cases.filter(({ passed }) => !passed).length
  const broken = files.filter(({ problems }) => problems.length > 0).length
  const passed = `${cases.length - failed} of ${count(cases.length, 'case')} passed`
  const end = [passed, ...(broken === 0 ? [] : [`${count(broken, 'file')} refused`])].join(', ')
  return [
    ...files.flatMap((one) => fileLines(one, isTraced, paint)),
    ...flows.flatMap((flow) => coverageLines(flow, paint)),
    failed + broken === 0 ? paint.good(end) : paint.bad(end),
    '',
  ].join('\n')
}

function fileLines(
  { file, problems, cases }: TestedFile,
  isTraced: boolean,
  paint: Paint,
): readonly string[] {
  if (problems.length > 0)
    return [`${paint.bad('refused')}  ${file}`, ...problems.map((one) => problemLine(one, paint))]
  return [paint.dim(file), ...cases.flatMap((one) => caseLines(file, one, isTraced, paint))]
}

function caseLines(
  file: string,
  { name, passed, status, differences, walk }: TestCaseResult,
  isTraced: boolean,
  paint: Paint,
): readonly string[] {
  const head = passed ? paint.good('pass') : paint.bad('FAIL')
  const next = commandText('writ', 'flow', 'test', file, '--case', name, '--trace')
  return [
    `  ${head}  ${name}  ${paint.dim(status)}`,
    ...(isTraced ? walk.map((line) => `        ${paint.dim(line)}`) : []),
    ...differences.flatMap(({ at, says, because }) => [
      `        ${paint.accent(at)}  ${says}`,
      ...because.map((line) => `          ${line}`),
    ]),
    ...(passed || isTraced ? [] : [`        ${paint.dim('next:')} ${next}`]),
  ]
}

const UNTAKEN_MAX = 20

function coverageLines(
  { flow_id, nodes, edges, untaken_nodes, untaken_edges }: FlowCoverage,
  paint: Paint,
): readonly string[] {
  const rest = (what: string, ids: readonly string[]): readonly string[] => {
    if (ids.length === 0) return []
    const more = ids.length > UNTAKEN_MAX ? ` and ${ids.length - UNTAKEN_MAX} more` : ''
    return [`  no case came to the ${what} ${ids.slice(0, UNTAKEN_MAX).join(', ')}${more}`]
  }
  return [
    `${paint.dim('coverage')}  ${flow_id}: ${nodes.taken} of ${count(nodes.all, 'node')}, ${edges.taken} of ${count(edges.all, 'edge')}`,
    ...rest(untaken_nodes.length === 1 ? 'node' : 'nodes', untaken_nodes),
    ...rest(untaken_edges.length === 1 ? 'edge' : 'edges', untaken_edges),
  ]
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
