/**
 * Runs of flows on this host: begun, gone on with, asked for orders. One process walks a run at a
 * time; others leave orders, which it takes.
 */
import { FaultError, faultCode, faultError, invariant, showName, uuidV7 } from '../base/index.ts'
import type { Flow } from '../contracts/index.ts'
import {
  type CompiledFlow,
  type CompiledNode,
  compileFlow,
  elementAt,
  FLOW_EVALUATOR,
  type FlowCommand,
  type FlowFact,
  type FlowFiles,
  foldFacts,
  givenText,
  type LeftAnswer,
  outstanding,
  type RunOrigin,
  type RunState,
  rulesNamed,
  runStatus,
  signalsAwaited,
  stopsOf,
} from '../flow/index.ts'
import type { LedgerReader } from '../store/index.ts'
import type { FlowHost } from './flow-host.ts'
import { bindRun, refuseElsewhere, refuseHalted } from './flow-host.ts'
import { givenAnswer, type Order, orderOf } from './orders.ts'
import { refuseMissingParts } from './programs/needed-parts.ts'
import { FlowRun, type RunOptions } from './run.ts'
import {
  artifactsFolder,
  copyLog,
  foundManifest,
  refuseForeignLog,
  showBlocked,
} from './run-files.ts'
import { isRunId, notedRuns, RunFolder, unknownRun } from './run-folder.ts'
import {
  type FactRange,
  keepDocument,
  keptDocument,
  type RunHead,
  readRun,
  refuseMissing,
  runHeads,
} from './run-records.ts'
import { refuseUnknownTools } from './tool-check.ts'

export type WatchOptions = Pick<
  RunOptions,
  'onFacts' | 'onWaiting' | 'waits' | 'abort' | 'parallel'
>

interface StartOrder extends WatchOptions {
  readonly flow: CompiledFlow
  /** Absolute, and real. */
  readonly workspace: string
  readonly participantsDigest: string | null
  /** Null if it was read from no file. */
  readonly source?: FlowFiles | null
  /** Of a run that a schedule begins: known before, so that it can begin but once. */
  readonly runId?: string
  /** Told when the run is recorded, so that its id can be resumed, and before anything else happens. */
  readonly onRun?: (runId: string) => void
}

/** The state of a run, and the facts that led to it. */
export interface WalkedRun {
  readonly runId: string
  readonly flow: CompiledFlow
  readonly state: RunState
  readonly facts: readonly FlowFact[]
  readonly range: FactRange
  readonly status: FlowRun['status']
  /** Commands that a person has to answer. */
  readonly waiting: readonly FlowCommand[]
  readonly given: readonly LeftAnswer[]
}

export function newRunId(nowMs: number): string {
  return `run-${uuidV7(nowMs, crypto.getRandomValues(new Uint8Array(16)))}`
}

/** The labels that participants of a flow name. */
export function labelsOf({ base }: CompiledFlow): readonly string[] {
  return base.nodes.flatMap(({ executor, reviewer }) => [
    ...(executor?.labels ?? []),
    ...(reviewer?.labels ?? []),
  ])
}

export async function startRun(host: FlowHost, order: StartOrder): Promise<WalkedRun> {
  const { flow, workspace, participantsDigest, source, onRun, runId: given, ...watching } = order
  await refuseHalted(host)
  refuseForeignLog(host.home, workspace)
  refuseMissingParts(flow, flow.nodes, partsAround(host, workspace))
  await refuseUnknownTools(host, flow, workspace, watching.abort)
  const runId = given ?? newRunId(host.clock.nowMs())
  await bindRun(host.ledger, runId)
  const run = new FlowRun({ host, flow, runId, workspace, ...watching })
  return run.folder.locked(async () => {
    await keepDocument(host.ledger, flow.base)
    const pinned = run.programs.pin()
    await run.programs.keep(host.ledger)
    const origin = {
      workspace,
      participants_digest: participantsDigest,
      evaluator: FLOW_EVALUATOR,
      artifacts: artifactsFolder(runId),
      ...(source === undefined || source === null ? {} : { source }),
      ...pinned,
    }
    await run.send({ type: 'started', run_id: runId, origin })
    onRun?.(runId)
    return walked(run)
  })
}

/** Resumes a run from its facts. Returns a run that has ended as it is. */
export async function resumeRun(
  host: FlowHost,
  runId: string,
  watching: WatchOptions = {},
): Promise<WalkedRun> {
  await refuseElsewhere(host.ledger, runId)
  const folder = new RunFolder(host.home, runId)
  return folder.locked(async () => {
    const { flow, workspace, ...history } = await loadRun(host.ledger, host.stream, runId)
    const run = new FlowRun({ host, flow, runId, workspace, ...watching })
    run.restore(history)
    if (run.state.ended === null) {
      await refuseHalted(host)
      refuseForeignLog(host.home, workspace)
      await refuseLost(host, run)
      const isLeft = ({ index }: CompiledNode): boolean =>
        elementAt(run.state.nodes, index).status !== 'done'
      const left = run.flow.nodes.filter(isLeft)
      refuseMissingParts(run.flow, left, partsAround(host, workspace))
    }
    await sweep(host, run)
    const manifests = await manifestsNow(run)
    await run.send({ type: 'resumed', manifests })
    return walked(run)
  })
}

export function partsAround({ environment }: FlowHost, workspace: string) {
  return { workspace, environment, searchPath: environment['PATH'] ?? '' }
}

/** Of each node the last thing that it said counts; what came before is history. */
function refuseLost({ ledger, stream }: FlowHost, { facts, options }: FlowRun): Promise<void> {
  const last = new Map<string, number>()
  for (const { type, payload } of facts) {
    if (type === 'participant_output_v1') last.set(payload.node_id, payload.seq)
  }
  return refuseMissing(
    ledger,
    stream,
    options.runId,
    ({ node_id, seq }) => last.get(node_id) === seq,
  )
}

async function walked(run: FlowRun): Promise<WalkedRun> {
  const status = await run.walk()
  await sweep(run.options.host, run)
  const { options, state, facts, range } = run
  const { waiting } = run
  const signals = state.ended === null ? signalsAwaited(state) : []
  run.folder.noteWaiting([...waiting.map(({ command }) => command), ...signals])
  run.folder.noteBlocked(status === 'BLOCKED')
  // What led here is in the run's own log, also where the phase has not ended.
  if (status !== 'DONE') copyLog(run.logText(), run.folder)
  const { flow } = run
  showBlocked(status === 'BLOCKED' ? stopsOf({ flow, facts, state, waiting: [] }) : [], run.folder)
  const given = givenAnswers(run.folder)
  return { runId: options.runId, flow, state, facts, range, status, waiting, given }
}

/** Stages that no node counts on any more, also those of which no fact could tell. */
export async function sweep({ attempts }: FlowHost, { folder, stages, flow, state }: FlowRun) {
  const wanted = state.ended === null ? stages.present(flow, state) : new Set<string>()
  for (const actionId of folder.begun()) {
    if (wanted.has(actionId)) continue
    await attempts.dropHeld(actionId)
    folder.forgetBegun(actionId)
  }
}

/** The manifests of sub-phases as they are found now (F-10). */
async function manifestsNow(run: FlowRun): Promise<Record<string, string>> {
  const { flow } = run
  const found: Record<string, string> = {}
  for (const { name, index } of flow.subphases) {
    if (elementAt(run.state.subphases, index).manifest === null) continue
    const seq = writtenAt(run.facts, name)
    const digest = await foundManifest(
      name,
      run.stages.pathsSince(seq),
      (path) => run.latestFile(path),
      run.folder,
    )
    if (digest !== null) found[name] = digest
  }
  return found
}

function writtenAt(facts: readonly FlowFact[], subphase: string): number {
  const fact = facts.findLast(
    ({ type, payload }) =>
      type === 'flow_event_v1' &&
      payload.kind === 'event' &&
      payload.event.type === 'manifest_written' &&
      payload.event.subphase_id === subphase,
  )
  return fact?.payload.seq ?? -1
}

interface LoadedRun {
  /** The flow that the run began with. */
  readonly flow: CompiledFlow
  readonly workspace: string
  readonly facts: readonly FlowFact[]
  readonly range: FactRange
}

/** A run as it is recorded, with the flow that it walks. */
export async function loadRun(
  ledger: LedgerReader,
  stream: string,
  runId: string,
): Promise<LoadedRun> {
  if (!isRunId(runId)) throw unknownRun(runId)
  const { facts, range } = await readRun(ledger, stream, runId)
  const [first] = facts
  if (first?.type !== 'flow_started_v1') throw unknownRun(runId)
  const { flow_digest: digest, origin } = first.payload
  const flow = await flowOf(ledger, digest, runId, rulesOf(runId, origin?.evaluator))
  return { flow, workspace: origin?.workspace ?? '', facts, range }
}

/** Fails if a later writ began the run: its rules are not known here. */
function rulesOf(runId: string, evaluator: RunOrigin['evaluator'] | undefined): number {
  const rules = rulesNamed(evaluator)
  if (rules !== null) return rules
  const { name = '', version = '' } = evaluator ?? {}
  const message = `the run ${showName(runId)} is walked by the rules ${showName(`${name}/${version}`)}, which this writ does not know`
  throw faultError('flow.rules_unknown', runId, message, 'install the writ that began the run')
}

async function flowOf(
  ledger: LedgerReader,
  digest: string,
  runId: string,
  rules: number,
): Promise<CompiledFlow> {
  const document = await keptDocument(ledger, digest)
  if (document === null) {
    const message = `the flow of the run ${showName(runId)} is no longer kept: its body is ${showName(digest)}`
    throw faultError('flow.flow_missing', digest, message)
  }
  // It is kept under its digest, and its contract accepted it before the run began.
  const compilation = compileFlow(document as Flow, rules)
  invariant(compilation.ok, 'a flow that was run compiles')
  return compilation.flow
}

/** Returns the state of a run by its facts; carries nothing out. */
export async function lookAtRun(
  { ledger, stream, home }: Pick<FlowHost, 'home' | 'stream'> & { readonly ledger: LedgerReader },
  runId: string,
): Promise<WalkedRun> {
  const { flow: begun, facts, range } = await loadRun(ledger, stream, runId)
  const state = foldFacts(begun, facts)
  const folder = new RunFolder(home, runId)
  const noted = new Set(folder.waiting())
  const open = outstanding(state)
  const waiting = open.filter((command) => isPersons(command) || noted.has(command.command))
  const isWaiting = open.length > 0 && waiting.length === open.length
  const status = runStatus(state)
  return {
    runId,
    flow: state.flow,
    state,
    facts,
    range,
    status: status === 'RUNNING' && isWaiting ? 'WAITING' : status,
    waiting,
    given: givenAnswers(folder),
  }
}

/** Only a person can answer it. */
export function isPersons(command: FlowCommand): boolean {
  if (command.type === 'ask_human') return true
  if (command.type !== 'run_participant') return false
  return command.participant === null || 'human' in command.participant
}

/** A run by its id, or by a beginning of it that no other run has; the newest without one. */
export async function findRun(
  ledger: LedgerReader,
  stream: string,
  given: string | null,
): Promise<RunHead> {
  const found: RunHead[] = []
  for await (const head of runHeads(ledger, stream)) {
    if (given === null || head.run_id === given) return head
    if (given.length >= SHORT_ID_MIN && head.run_id.includes(given)) found.push(head)
  }
  const [only, ...others] = found
  if (only === undefined) throw unknownRun(given ?? '')
  if (others.length > 0) throw ambiguousRun(given ?? '', found)
  return only
}

const RUNS_NAMED = 5

function ambiguousRun(given: string, found: readonly RunHead[]): FaultError {
  const named = found
    .slice(0, RUNS_NAMED)
    .map(({ run_id, flow_id, started_at }) => `${run_id} (${showName(flow_id)}, ${started_at})`)
  const more = found.length > RUNS_NAMED ? `, and ${found.length - RUNS_NAMED} more` : ''
  const message = `${found.length} runs have ${showName(given)} in their id: ${named.join(', ')}${more}`
  return faultError('flow.run_ambiguous', given, message, 'say more of the id')
}

const SHORT_ID_MIN = 4

/**
 * Leaves an order for a run; durable on return. The process that walks the run takes it. Fails if a person
 * has answered the same question before. `id`: of an order that another machine took and that may come
 * again. It is left once, and as a second answer too, which the run keeps as one that came too late.
 */
export function leaveOrder(
  host: Pick<FlowHost, 'home' | 'clock'>,
  runId: string,
  order: Order,
  id?: string,
): void {
  const folder = new RunFolder(host.home, runId)
  const nowMs = host.clock.nowMs()
  const { command } = givenAnswer(order, nowMs) ?? {}
  const first = givenAnswers(folder).find((one) => one.command === command)
  if (first !== undefined && id === undefined) throw answeredBefore(runId, first)
  folder.leaveOrder(order, nowMs, id)
}

/** What people have answered that no process has taken yet. */
function givenAnswers(folder: RunFolder): readonly LeftAnswer[] {
  return folder.orders().flatMap(({ order, atMs }) => givenAnswer(orderOf(order), atMs) ?? [])
}

export function answeredBefore(runId: string, first: LeftAnswer): FaultError {
  const message = `${showName(first.node_id)} is answered: ${givenText(first)}, and the first answer counts`
  const next = first.to === undefined ? 'resume' : 'status'
  return faultError('flow.not_waiting', first.node_id, message, `writ flow ${next} ${runId}`)
}

/** A run whose facts are there, and of which something is missing that they name. */
export interface DamagedRun {
  readonly runId: string
  readonly error: FaultError
}

const DAMAGE: ReadonlySet<string> = new Set([
  'flow.flow_missing',
  'flow.rules_unknown',
  'body.missing',
  'machine.unknown',
])

/**
 * Returns the runs that wait for a person or are blocked, with what each of them waits for, and those that
 * are damaged. `others`: runs that other machines walk, of which nothing is noted here.
 */
export async function stoppedRuns(
  host: Pick<FlowHost, 'home' | 'stream'> & { readonly ledger: LedgerReader },
  others: readonly string[] = [],
): Promise<readonly (WalkedRun | DamagedRun)[]> {
  const found: (WalkedRun | DamagedRun)[] = []
  for (const runId of new Set([...notedRuns(host.home), ...others])) {
    try {
      const { facts } = await readRun(host.ledger, host.stream, runId)
      const run = facts.length === 0 ? null : await lookAtRun(host, runId)
      if (run !== null && isStopped(run)) found.push(run)
    } catch (error) {
      if (!(error instanceof FaultError) || !DAMAGE.has(error.fault.code)) throw error
      found.push({ runId, error })
    }
  }
  return found
}

function isStopped({ status, state, waiting }: WalkedRun): boolean {
  const isWaiting = waiting.length > 0 || signalsAwaited(state).length > 0
  return status === 'BLOCKED' || (state.ended === null && isWaiting)
}

/** Returns whether the first fact of a run is recorded. */
export async function hasBegun(
  { ledger, stream }: { readonly ledger: Pick<LedgerReader, 'store'>; readonly stream: string },
  run: string,
): Promise<boolean> {
  const query = { stream, run, type: 'flow_started_v1', limit: 1, order: 'newest_first' } as const
  return (await ledger.store.find(query)).facts.length > 0
}

/** Returns whether people have left orders that no process has taken yet. */
export function hasOrders(host: Pick<FlowHost, 'home'>, runId: string): boolean {
  return new RunFolder(host.home, runId).orders().length > 0
}

/** Returns whether a process walks the run now. */
export async function isWalked(host: Pick<FlowHost, 'home'>, runId: string): Promise<boolean> {
  try {
    await new RunFolder(host.home, runId).locked(async () => {})
    return false
  } catch (error) {
    if (faultCode(error) === 'flow.taken') return true
    throw error
  }
}
