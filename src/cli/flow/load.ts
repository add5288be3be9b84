/**
 * Flows as people keep them: a `flow_v1` document in YAML or JSON, a plan with its participants, an edge
 * table with its side file. Reads each of these forms, turns it into a flow and checks it. Every problem
 * has its place in the file that it is about.
 *
 * Flows for running: a flow document, an edge table, or a plan and who its agents are. Refused ones are
 * told whole.
 */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { faultError, GRAPH_LIMITS, readJson, showName } from '../../base/index.ts'
import {
  detectContract,
  type Flow,
  field,
  isObject,
  type JsonObject,
  normaliseAndValidate,
  type Participants,
  type Sources,
  type Violation,
} from '../../contracts/index.ts'
import {
  type CompiledFlow,
  checkFlow,
  compileFlow,
  type FlowProblem,
  importTable,
  loadPlan,
  OWN_ID,
  type ParsedParticipants,
  planOwners,
  readParticipants,
} from '../../flow/index.ts'
import { usageError } from '../call/command.ts'
import { parseSource, readSource } from '../call/source.ts'
import {
  type PlacedProblem,
  type PlacedText,
  placedIn,
  placedTable,
  readPlaced,
} from './problem.ts'
import { repairProblems } from './repair-words.ts'
import { type WrittenDocument, withSubflows } from './subflows.ts'

export interface FlowFile {
  readonly file: string
  readonly kind: 'flow' | 'plan' | 'table'
  /** Null when there is nothing that could be walked or drawn. */
  readonly flow: Flow | null
  readonly valid: boolean
  readonly violations: readonly PlacedProblem[]
  readonly warnings: readonly PlacedProblem[]
  /** As found, with pointers into the flow, for drawings. */
  readonly found: readonly (FlowProblem & { readonly level: 'error' | 'warning' })[]
  /** Of the file of participants, for a plan. */
  readonly participantsDigest: string | null
  /** The files of sub-flows that are a part of it. */
  readonly subflows: readonly string[]
  /** Places problems whose pointers lead into the flow; absent where the file holds something else. */
  readonly place?: (problems: readonly FlowProblem[]) => Promise<readonly PlacedProblem[]>
}

interface LoadOptions {
  readonly participants: string | null
  readonly side: string | null
}

export async function loadFlowFile(file: string, options: LoadOptions): Promise<FlowFile> {
  const { bytes } = await readSource(file)
  if (!isUtf8(bytes))
    return refused(file, [
      { code: 'document.not_json', path: '', message: 'the text is not UTF-8', file },
    ])
  const text = bytes.toString('utf8')
  if (isTable(file, text)) return loadTable(file, text, options)
  const reading = await readText(file, text)
  if (!reading.ok) return refused(file, [{ ...reading.refusal, file }])
  return isPlan(reading.value)
    ? loadPlanFile(file, withHead(reading.value), reading.places, options)
    : loadFlowDocument(file, reading)
}

/** Also in the forms that `normalize` repairs: other names for the list of nodes, no edges. */
function isPlan(value: unknown): boolean {
  const contract = detectContract(value)
  if (contract !== null) return contract === 'plan_json_v1'
  const has = (name: string): boolean => field(value, name) !== undefined
  if (has('plan')) return true
  if (has('flow_id')) return false
  const isTask = (node: unknown): boolean =>
    ['task_id', 'node_type', 'owner_agent_id'].some((name) => field(node, name) !== undefined)
  return (
    ['tasks', 'steps'].some((name) => Array.isArray(field(value, name))) ||
    listIn(value).some(isTask)
  )
}

const HEAD = ['title', 'goal', 'goal_statement', 'description', 'constraints']
const HEAD_IDS = ['plan_id', 'root_task_id', 'owner_agent_id']
const LISTS = ['nodes', 'tasks', 'steps', 'edges', 'links', 'inputs']

/** Moves title and goal of a plan into `plan`, or lists of tasks out of it. */
function withHead(value: unknown): unknown {
  if (!isObject(value)) return value
  const plan = field(value, 'plan')
  if (plan === undefined) {
    const [head, rest] = partedBy(value, [...HEAD, ...HEAD_IDS])
    return Object.keys(head).length === 0 ? value : { plan: head, ...rest }
  }
  if (!isObject(plan) || LISTS.some((name) => field(value, name) !== undefined)) return value
  const [lists, head] = partedBy(plan, LISTS)
  return { ...value, plan: head, ...lists }
}

/** Returns the parts of an object that have one of these names, and the others. */
function partedBy(object: JsonObject, names: readonly string[]): readonly [JsonObject, JsonObject] {
  const entries = Object.entries(object)
  const parts = [true, false].map((isNamed) =>
    Object.fromEntries(entries.filter(([name]) => names.includes(name) === isNamed)),
  )
  return [parts[0] ?? {}, parts[1] ?? {}]
}

function refused(file: string, violations: readonly PlacedProblem[]): FlowFile {
  const nothing = { flow: null, valid: false, warnings: [], found: [], participantsDigest: null }
  return { file, kind: 'flow', ...nothing, subflows: [], violations }
}

/** By its name; a text from standard input by its header. */
function isTable(file: string, text: string): boolean {
  if (/\.(?:csv|tsv)$/i.test(file)) return true
  return file === '-' && /^\uFEFF?"?[\w ]+"?[,;\t][^\r\n]*\b(?:source|edge_signature)\b/.test(text)
}

type Places = () => Promise<PlacedText | null>

async function readText(file: string, text: string) {
  const isYaml = /\.ya?ml$/i.test(file) || (file === '-' && !/^\s*[{[]/.test(text))
  if (isYaml) {
    const placed = await readPlaced(text)
    if (!placed.ok) {
      const { ok: _, ...refusal } = placed
      return { ok: false as const, refusal }
    }
    return { ok: true as const, value: placed.value, places: async () => placed }
  }
  const reading = readJson(text, GRAPH_LIMITS)
  if (!reading.ok) return reading
  let places: Promise<PlacedText | null> | null = null
  const placesOnce = () => {
    places ??= placesOfJson(text)
    return places
  }
  return { ok: true as const, value: reading.value, places: placesOnce }
}

/** Above this size a JSON file is not read a second time for its places. */
const PLACED_UNITS_MAX = 4 * 1024 * 1024

/** JSON is YAML; only asked for when something is wrong. */
async function placesOfJson(text: string): Promise<PlacedText | null> {
  if (text.length > PLACED_UNITS_MAX) return null
  const placed = await readPlaced(text)
  return placed.ok ? placed : null
}

async function loadFlowDocument(file: string, written: WrittenDocument): Promise<FlowFile> {
  const subflows: string[] = []
  const whole = await withSubflows(file, written, (path) => {
    subflows.push(path)
    return readDocument(path, 'the sub-flow')
  })
  if (whole.violations.length > 0) return refused(file, whole.violations)
  const { value, place } = whole
  const { valid, violations, warnings } = checkFlow(value)
  return {
    file,
    kind: 'flow',
    // Drawn only when nodes and edges can be relied on.
    flow: isDrawable(violations) ? (value as Flow) : null,
    valid,
    violations: await place(violations),
    warnings: await place(warnings),
    found: foundOf(violations, warnings),
    participantsDigest: null,
    subflows,
    place,
  }
}

/** What can be wrong with a flow whose structure is sound. */
const UNSOUND =
  /^flow\.(?:type_const|required|field_type|unknown_key|enum|empty|range|participant|secret_name)$|^document\./

function isDrawable(violations: readonly FlowProblem[]): boolean {
  return !violations.some(({ code }) => UNSOUND.test(code))
}

function foundOf(
  violations: readonly FlowProblem[],
  warnings: readonly FlowProblem[],
): FlowFile['found'] {
  return [
    ...violations.map((one) => ({ ...one, level: 'error' as const })),
    ...warnings.map((one) => ({ ...one, level: 'warning' as const })),
  ]
}

async function loadPlanFile(
  file: string,
  value: unknown,
  places: Places,
  options: LoadOptions,
): Promise<FlowFile> {
  const named =
    options.participants === null ? null : await readParticipantsFile(options.participants)
  if (named !== null && !named.ok) {
    const name = options.participants ?? ''
    return refused(
      name,
      named.violations.map((one) => ({ ...one, file: name })),
    )
  }
  const participants: Participants | null = named === null ? null : named.participants
  const { plan, repairs } = repairedPlan(value, participants)
  const { flow, valid, violations, warnings } = loadPlan(plan, participants)
  // Where lists were renamed or grew, places of the repaired plan are not those of the file.
  const where: Places = areNodesWhere(value, plan) ? places : async () => null
  const unnamed: readonly FlowProblem[] =
    participants === null && flow !== null ? [WITHOUT_PARTICIPANTS] : []
  return {
    file,
    kind: 'plan',
    flow,
    valid,
    violations: await placedIn(file, violations, where),
    warnings: await placedIn(file, [...repairs, ...unnamed, ...warnings], where),
    found: [],
    participantsDigest: named === null ? null : named.digest,
    subflows: [],
  }
}

/** What `writ normalize --as PLAN_GEN` makes of a plan, with what it repaired. */
function repairedPlan(value: unknown, participants: Participants | null) {
  // All of them, so that none is repaired to another one; the flow reports those without a participant.
  const owners = { owners: planOwners(value, participants) }
  const sources = { nowMs: Date.now(), ...stableIds(value) }
  const { normalized, repairs } = normaliseAndValidate('PLAN_GEN', value, owners, sources)
  const plan = withOwnIds(value, normalized ?? value)
  return { plan, repairs: repairProblems(repairs) }
}

/** Keeps what a plan calls its tasks, where they got other ids, so that people can name them so. */
function withOwnIds(value: unknown, plan: unknown): unknown {
  const [written, read] = [listIn(value), field(plan, 'nodes')]
  if (!Array.isArray(read) || !isObject(plan)) return plan
  const ids = written.map((node) => field(node, 'task_id') ?? field(node, 'id'))
  const nodes = read.map((node: unknown, index) => {
    const own = ids[index]
    if (typeof own !== 'string' || !isObject(node)) return node
    return own === field(node, 'task_id') ? node : { ...node, [OWN_ID]: own }
  })
  return { ...plan, nodes }
}

function listIn(plan: unknown): readonly unknown[] {
  const list = field(plan, 'nodes') ?? field(plan, 'tasks')
  return Array.isArray(list) ? list : []
}

/** Ids that are the same whenever a plan is read: by its own names, else by their order. */
function stableIds(plan: unknown): Pick<Sources, 'newId' | 'idOf'> {
  const own = JSON.stringify(field(field(plan, 'plan'), 'plan_id'))
  const whole = JSON.stringify(plan)
  let count = 0
  return {
    newId: () => uuidOf(`${count++} ${whole}`),
    idOf: (name) => uuidOf(`${name} ${own}`),
  }
}

/** A UUID of version 8, whose digits are of its maker's choice. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const [version, variant] = [`8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`]
  return [hex.slice(0, 8), hex.slice(8, 12), version, variant, hex.slice(20, 32)].join('-')
}

function areNodesWhere(value: unknown, plan: unknown): boolean {
  const [written, read] = [field(value, 'nodes'), field(plan, 'nodes')]
  return Array.isArray(written) && Array.isArray(read) && written.length === read.length
}

const WITHOUT_PARTICIPANTS: FlowProblem = {
  code: 'flow.plan_participant',
  path: '/plan',
  message: 'no participants are given, so every agent is taken for a person',
  hint: 'name a file with `--participants`',
}

async function readParticipantsFile(name: string): Promise<ParsedParticipants> {
  const { value } = await readDocument(name, 'the participants')
  return readParticipants(value)
}

async function readDocument(name: string, what: string): Promise<WrittenDocument> {
  const { bytes } = await readSource(name)
  const text = bytes.toString('utf8')
  const reading = await readText(name, text)
  if (reading.ok) return reading
  const { message, code } = reading.refusal
  throw faultError(
    'cli.usage',
    name,
    `${what} ${showName(name)} cannot be read: ${message} (${code})`,
  )
}

async function loadTable(file: string, text: string, { side }: LoadOptions): Promise<FlowFile> {
  const read = await readTableFiles(file, text, side)
  const check = read.flow === null ? null : checkFlow(read.flow)
  const { errors, warnings } = await placedTable(file, side, read, check, read.sidePlaces)
  return {
    file,
    kind: 'table',
    flow: read.flow,
    valid: errors.length === 0 && read.flow !== null,
    violations: errors,
    warnings,
    found: check === null ? [] : foundOf(check.violations, check.warnings),
    participantsDigest: null,
    subflows: [],
  }
}

interface TableNames {
  readonly flowId?: string
  readonly title?: string
}

/** A table and its side file; the flow is named after the file when nothing says otherwise. */
export async function readTableFiles(
  file: string,
  text: string,
  side: string | null,
  names: TableNames = {},
) {
  const placed = side === null ? null : await readSide(side)
  const stem = file === '-' ? 'table' : basename(file, extname(file))
  const flowId = names.flowId ?? (stem === '' ? 'table' : stem)
  const read = importTable(text, placed?.value, { flowId, title: names.title ?? stem })
  return { ...read, sidePlaces: placed }
}

async function readSide(name: string): Promise<PlacedText> {
  const { bytes } = await readSource(name)
  const placed = await readPlaced(bytes.toString('utf8'))
  if (placed.ok) return placed
  const { message, code, line, column } = placed
  throw faultError(
    'cli.usage',
    name,
    `the side file ${showName(name)} cannot be read: ${message} (${code}, line ${line}, column ${column})`,
  )
}

type FlowSource =
  | {
      readonly ok: true
      readonly kind: FlowFile['kind']
      readonly flow: CompiledFlow
      readonly participantsDigest: string | null
      readonly subflows: readonly string[]
      readonly warnings: readonly Violation[]
    }
  | { readonly ok: false; readonly violations: readonly PlacedProblem[] }

/**
 * `participants` names a file, for a plan; a plan that a human hands over counts as approved by him
 * (F-14). `side` names the side file of a table.
 */
export async function readFlow(
  name: string,
  participants: string | null,
  side: string | null = null,
): Promise<FlowSource> {
  const loaded = await loadFlowFile(name, { participants, side })
  const { kind, flow, valid, violations, warnings, participantsDigest, subflows } = loaded
  if (!valid || flow === null) return { ok: false, violations }
  if (flow.nodes.length === 0) return { ok: false, violations: [{ ...NOTHING_TO_DO, file: name }] }
  if (kind === 'plan' && participants === null) {
    throw usageError('a plan is run with participants', 'writ flow run PLAN --participants FILE')
  }
  // What is checked follows its contract.
  const compilation = compileFlow(flow)
  if (!compilation.ok) throw new Error('a flow that was checked compiles')
  return { ok: true, kind, flow: compilation.flow, participantsDigest, subflows, warnings }
}

/** A flow without nodes is a sound document, and no work. */
const NOTHING_TO_DO: Violation = {
  code: 'flow.empty',
  path: '/nodes',
  message: 'the flow has no node, so nothing would be done',
}

export async function participantsIn(name: string) {
  const reading = await parseSource(await readSource(name))
  if (!reading.ok) {
    const { code, message } = reading.refusal
    const words = `the participants ${showName(name)} are refused: ${message} (${code})`
    throw faultError('cli.usage', name, words)
  }
  return readParticipants(reading.value)
}
