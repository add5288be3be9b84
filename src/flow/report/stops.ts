/**
 * Why a run waits or has stopped: at which node, for what cause, and what a person types next. Every run
 * that is WAITING, BLOCKED or FAILED has at least one.
 */

import { plainName } from '../answer/requirements.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { FlowCommand } from '../state/command.ts'
import type { FlowFact, RunFinding } from '../state/fact.ts'
import { hasCome, timersOf } from '../state/outstanding.ts'
import { isStuckAt, type RunState } from '../state/state.ts'
import { elementAt } from '../state/vector.ts'
import { pinnedVersion } from '../state/version.ts'
import { Causes, lateText } from './cause.ts'
import { mendedText, sourceOf, type ToldRun, wayOut } from './ways-out.ts'
import { commandText, nodeName, nodeTitle, oneLine, shownText } from './words.ts'

/** `kind` says what the run needs: an answer, a yes, a way to be opened, or nothing any more. */
export interface RunStop {
  readonly kind:
    | 'decision'
    | 'input'
    | 'participant'
    | 'answered'
    | 'approval'
    | 'time'
    | 'blocked'
    | 'refused'
    | 'failed'
  /** Absent when the run as a whole is refused. */
  readonly node_id?: string
  readonly title: string
  /** Of the finding that led here. */
  readonly code?: string
  readonly says: string
  /** What to type, the usual answer first. */
  readonly next: readonly string[]
  /** Of a yes that is needed: the act that it is about. */
  readonly action_id?: string
}

/** What the kind of a stop is called, in every view for people. */
export const STOP_WORDS: Readonly<Record<RunStop['kind'], string>> = {
  decision: 'decide',
  input: 'needs input',
  participant: 'waits for a person',
  answered: 'answered',
  time: 'waits',
  approval: 'needs a yes',
  blocked: 'blocked',
  refused: 'refused',
  failed: 'failed',
}

/** A finding with what it means. */
export type ToldFinding = RunFinding & {
  readonly seq: number
  readonly at: string
  readonly says: string
}

export function toldFindings(
  flow: CompiledFlow,
  facts: readonly FlowFact[],
): readonly ToldFinding[] {
  const causes = new Causes(flow)
  return facts.flatMap((fact) => {
    const says = causes.take(fact)
    if (says === null || fact.type !== 'flow_finding_v1') return []
    const { run_id: _, ...finding } = fact.payload
    return [{ ...finding, says }]
  })
}

/** What a person answered that no process has taken yet. */
export interface LeftAnswer {
  readonly node_id: string
  /** The number of the command that it answers. */
  readonly command: number
  readonly word: string
  readonly principal: string
  readonly at: string
  /** The machine that it is under way to, by its name; absent once it is there. */
  readonly to?: string
}

interface StoppedRun {
  readonly flow: CompiledFlow
  readonly facts: readonly FlowFact[]
  readonly state: RunState
  /** Commands that a person has to answer. */
  readonly waiting: readonly FlowCommand[]
  readonly given?: readonly LeftAnswer[]
}

export function stopsOf(run: StoppedRun): readonly RunStop[] {
  const { state, flow } = run
  const findings = toldFindings(flow, run.facts)
  const runId = state.runId ?? ''
  if (state.isRefused) return [refusedStop(runId, flow, findings)]
  const told = { runId, flow, facts: run.facts }
  const waits = run.waiting.flatMap((command) => {
    const given = run.given?.find((one) => one.command === command.command)
    const stops = waitOf(told, command, findings)
    return given === undefined ? stops : stops.map((stop) => givenStop(runId, stop, given))
  })
  const times = timersOf(state).flatMap((timer) => timeStop(runId, state, timer))
  const asked = new Set(waits.map(({ node_id }) => node_id))
  const stuck = stuckNodes(run).filter(({ nodeId }) => !asked.has(nodeId))
  const blocks = stuck.map((node) => blockedStop(told, node, findings))
  if (state.ended !== 'FAILED') return [...waits, ...times, ...blocks]
  return [...waits, ...blocks, ...failedStops(run, findings)]
}

interface StuckNode {
  readonly nodeId: string
  /** Of a phase that may not end: its nodes, one of which the finding names. */
  readonly phase: readonly string[] | null
}

/** Nodes that a person can let go on; one of each phase that may not end. */
function stuckNodes({ flow, state, facts }: StoppedRun): readonly StuckNode[] {
  const found: StuckNode[] = []
  const ofPhase = new Map<number, string[]>()
  const present = new Set<string>()
  for (const { index, nodeId, phase } of flow.nodes) {
    const node = elementAt(state.nodes, index)
    if (!isStuckAt(node, elementAt(state.phases, phase))) continue
    if (node.status === 'blocked' || node.isHeld) found.push({ nodeId, phase: null })
    else ofPhase.set(phase, [...(ofPhase.get(phase) ?? []), nodeId])
    if (node.entries > 0 && !node.isLeftBehind) present.add(nodeId)
  }
  for (const [index, nodes] of ofPhase) {
    // A node that the run has not come to in this round is not run again.
    const entered = nodes.filter((one) => present.has(one))
    const nodeId = lastFound(facts, entered.length > 0 ? entered : nodes)
    const phase = flow.phases[index]?.nodes.map((node) => flow.nodes[node]?.nodeId ?? '') ?? []
    if (nodeId !== undefined) found.push({ nodeId, phase })
  }
  return found
}

/** The node that a finding last named: it kept the phase from its end. Else the last of them. */
function lastFound(facts: readonly FlowFact[], nodes: readonly string[]): string | undefined {
  const fact = facts.findLast(
    ({ type, payload }) => type === 'flow_finding_v1' && nodes.includes(payload.node_id ?? ''),
  )
  return (fact?.type === 'flow_finding_v1' ? fact.payload.node_id : undefined) ?? nodes.at(-1)
}

function waitOf(
  run: ToldRun,
  command: FlowCommand,
  findings: readonly ToldFinding[],
): readonly RunStop[] {
  const { runId, flow } = run
  switch (command.type) {
    case 'ask_human':
      return [
        command.why === 'input'
          ? inputStop(runId, flow, command)
          : decisionStop(run, command.node_id, findings),
      ]
    case 'run_participant':
    case 'ask_again':
      return [withLate(run, participantStop(runId, flow, command), command)]
    case 'promote': {
      const { node_id } = command
      const says =
        'its effects need a yes at a terminal, in the console, or with `--pass-fd N` of a program that hands the passphrase over'
      const act = actOf(run, command)
      const approve = act === null ? [] : [commandText('writ', 'approve', act)]
      const next = [...approve, commandText('writ', 'inbox'), resumeText(runId)]
      const title = nodeTitle(flow, node_id)
      return [{ kind: 'approval', node_id, title, says, next, ...(act && { action_id: act }) }]
    }
    // Commands that the host carries out without a person.
    default:
      return []
  }
}

/** The act whose stage the run promotes; null for runs that did not record it. */
function actOf(
  { facts }: ToldRun,
  { node_id, manifest }: Extract<FlowCommand, { type: 'promote' }>,
): string | null {
  const acts = facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') return []
    const { event } = payload
    if (event.type !== 'attempt_ended' || event.node_id !== node_id) return []
    return event.stage?.manifest === manifest ? (event.stage.action_id ?? []) : []
  })
  return acts.at(-1) ?? null
}

/** A person has answered; nothing more is asked of people here. */
function givenStop(runId: string, stop: RunStop, given: LeftAnswer): RunStop {
  const isThere = given.to === undefined
  const says = isThere
    ? `${givenText(given)}; the process that goes on with the run takes it`
    : givenText(given)
  const next = isThere ? resumeText(runId) : `writ flow status ${runId}`
  return { ...stop, kind: 'answered', says: oneLine(says), next: [next] }
}

/** Who answered what, and when. */
export function givenText({ principal, word, at, to }: LeftAnswer): string {
  const way = to === undefined ? '' : `; it is under way to the machine ${to}, which walks the run`
  return `${principal} answered \`${word}\` at ${at}${way}`
}

/** A node that waits for a time or a signal that has not come; a deadline is no reason to wait. */
function timeStop(
  runId: string,
  state: RunState,
  timer: ReturnType<typeof timersOf>[number],
): readonly RunStop[] {
  if (timer.type === 'deadline') return []
  const { flow } = state
  const { node_id, until, why } = timer
  const node = elementAt(state.nodes, flow.nodeIndex.get(node_id) ?? -1)
  const signals = timer.signals.filter((name) => !hasCome(state, node, name))
  const what = [
    ...(until === null ? [] : [`until ${until}`]),
    ...(signals.length === 0 ? [] : [`for the signal ${signals.map(oneLine).join(' and ')}`]),
  ]
  const says = `it waits ${what.join(' and ')}${why === 'retry' ? ', before the next attempt' : ''}`
  const send = signals.map((name) => commandText('writ', 'flow', 'signal', runId, name))
  const next = [...send, `${resumeText(runId)} --wait`]
  return [
    { kind: 'time', node_id, title: nodeTitle(flow, node_id), code: 'flow.waiting', says, next },
  ]
}

function resumeText(runId: string): string {
  return commandText('writ', 'flow', 'resume', runId)
}

function inputStop(
  runId: string,
  flow: CompiledFlow,
  command: Extract<FlowCommand, { type: 'ask_human' }>,
): RunStop {
  const { node_id, needs } = command
  const wanted = needs.map(({ name, description, accepted_types, suggested_path }) => {
    const what = description === '' || description === name ? name : `${name} (${description})`
    const types = accepted_types.length === 0 ? '' : `, as ${accepted_types.join(' or ')}`
    return `${what}${types}, at ${suggested_path ?? `inputs/${plainName(name)}`}`
  })
  const says = oneLine(`it needs ${wanted.length === 0 ? 'input' : wanted.join('; ')}`)
  const answer = (word: string): string =>
    commandText('writ', 'flow', 'answer', runId, node_id, word)
  return {
    kind: 'input',
    node_id,
    title: nodeTitle(flow, node_id),
    says,
    next: [answer('provided'), answer('abandon')],
  }
}

function decisionStop(run: ToldRun, node_id: string, findings: readonly ToldFinding[]): RunStop {
  const { runId, flow } = run
  const own = findings.filter((finding) => finding.node_id === node_id)
  const last = own.at(-1)
  const out = wayOut(
    run,
    own.filter(({ at }) => at === last?.at),
  )
  const isFailed = own.some(({ code }) => code === 'flow.attempt_failed')
  const mended = isFailed ? mendedText(run, node_id) : null
  const answer = (word: string): string =>
    commandText('writ', 'flow', 'answer', runId, node_id, word)
  return {
    kind: 'decision',
    node_id,
    title: nodeTitle(flow, node_id),
    ...(last === undefined ? {} : { code: last.code }),
    says: [last?.says ?? 'a person has to decide', ...out.says, ...(mended?.says ?? [])].join('; '),
    next: [...new Set([...out.next, answer('retry'), answer('abandon'), ...(mended?.next ?? [])])],
  }
}

/** Says which answer came too late for an earlier question of the node, until the present one is answered. */
function withLate(
  { runId, facts }: ToldRun,
  stop: RunStop,
  { node_id, review }: RunOrAsk,
): RunStop {
  const last = facts.findLast(
    ({ type, payload }) => type === 'flow_finding_v1' && payload.node_id === node_id,
  )
  if (last?.type !== 'flow_finding_v1' || last.payload.code !== 'flow.answer_late') return stop
  const now = pinnedVersion(review)
  const says = `${stop.says}; ${lateText({ ...last.payload.values, asks_now: now })}`
  if (now === null) return { ...stop, says: oneLine(says) }
  const pinned = stop.next.map((next) =>
    next.startsWith(`${commandText('writ', 'flow', 'approve', runId)} `)
      ? `${next} --digest ${now}`
      : next,
  )
  return { ...stop, says: oneLine(says), next: pinned }
}

type RunOrAsk = Extract<FlowCommand, { type: 'run_participant' | 'ask_again' }>

function participantStop(runId: string, flow: CompiledFlow, command: RunOrAsk): RunStop {
  const { node_id, review } = command
  const {
    executor,
    reviewer,
    required_files = [],
  } = flow.nodes[flow.nodeIndex.get(node_id) ?? -1]?.document ?? {}
  const participant = review === null ? executor : reviewer
  const human = participant !== undefined && 'human' in participant ? participant.human : true
  const who = human === true ? 'a person' : oneLine(human)
  const again =
    command.type === 'ask_again'
      ? `; the last answer was none: ${command.errors.map(shownText).join('; ')}`
      : ''
  const head = { kind: 'participant' as const, node_id, title: nodeTitle(flow, node_id) }
  const show = commandText('writ', 'flow', 'show', runId, node_id)
  if (review === null) {
    const answer = `${commandText('writ', 'flow', 'answer', runId, node_id)} --file ANSWER.json`
    const files = required_files.map((file) => shownText(file)).join(', ')
    const leave = files === '' ? '' : ` and leaves ${files}`
    const template = `.writ/runs/${runId}/waiting-${plainName(node_id)}.json`
    const says = `${who} works here${leave}; ${template} has the template of the answer${again}`
    return { ...head, says: oneLine(says), next: [show, answer] }
  }
  const says = `${who} judges ${nodeName(flow, review.target)}${again}`
  const approve = commandText('writ', 'flow', 'approve', runId, node_id)
  const reject = `${commandText('writ', 'flow', 'reject', runId, node_id)} --comment TEXT`
  return { ...head, says: oneLine(says), next: [show, approve, reject] }
}

function refusedStop(runId: string, flow: CompiledFlow, findings: readonly ToldFinding[]): RunStop {
  const last = findings.findLast(({ code }) => code === 'flow.manifest_mismatch')
  const says = `${last?.says ?? 'files are not as a manifest says'}; put them back as they were`
  const title = flow.document.title || flow.document.flow_id
  return { kind: 'refused', title, code: 'flow.manifest_mismatch', says, next: [resumeText(runId)] }
}

const STOPPING: ReadonlySet<RunFinding['action']> = new Set([
  'block',
  'refuse',
  'escalate',
  'reject',
  'rerun',
  'reroute',
])

function blockedStop(
  run: ToldRun,
  { nodeId: node_id, phase }: StuckNode,
  findings: readonly ToldFinding[],
): RunStop {
  const { runId, flow } = run
  const isOwn = (finding: ToldFinding): boolean =>
    phase === null
      ? finding.node_id === node_id
      : finding.invariant_id !== undefined && phase.includes(finding.node_id ?? '')
  const all = findings.filter((finding) => isOwn(finding) && STOPPING.has(finding.action))
  // What stopped it before it ran again was answered.
  const since = phase === null ? lastEntry(run.facts, node_id) : -1
  const later = all.filter(({ seq }) => seq > since)
  const own = later.length > 0 ? later : all
  const last = own.findLast(({ action }) => action === 'block') ?? own.at(-1)
  // A hindrance often has several findings at once, such as two closed ways.
  const together =
    last === undefined
      ? []
      : own.filter(({ at, action }) => at === last.at && action === last.action)
  const out = wayOut(run, together)
  const causes = last?.code === 'flow.stalled' ? closedInto(flow, node_id, findings) : []
  const words = [...together.map((finding) => finding.says), ...causes, ...out.says]
  const says = [...new Set(words)].join('; ')
  const unblock = commandText('writ', 'flow', 'answer', runId, node_id, 'unblock')
  const ways = out.isOnly ? out.next : [...out.next, unblock]
  return {
    kind: 'blocked',
    node_id,
    title: nodeTitle(flow, node_id),
    ...(last === undefined ? {} : { code: last.code }),
    says: says === '' ? 'it is blocked' : says,
    next: [...ways, resumeText(runId), commandText('writ', 'flow', 'cancel', runId)],
  }
}

/** Returns the number of the fact by which a node was entered last; -1 if it never was. */
function lastEntry(facts: readonly FlowFact[], nodeId: string): number {
  const last = facts.findLast(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'entered' && payload.node_id === nodeId,
  )
  return last?.payload.seq ?? -1
}

/** Why the ways to a node are closed on which it waits, each by what was found of it last. */
function closedInto(
  { nodes, nodeIndex }: CompiledFlow,
  nodeId: string,
  findings: readonly ToldFinding[],
): readonly string[] {
  const stalled = findings.findLast(
    ({ code, node_id }) => code === 'flow.stalled' && node_id === nodeId,
  )
  const awaited = stalled?.values['waits_for']
  const { incoming = [] } = nodes[nodeIndex.get(nodeId) ?? -1] ?? {}
  return incoming.flatMap(({ edgeId, document }) => {
    if (!Array.isArray(awaited) || !awaited.includes(document.source)) return []
    const last = findings.findLast(({ edge_id }) => edge_id === edgeId)
    return last === undefined || !STOPPING.has(last.action) ? [] : [last.says]
  })
}

/** A run that has failed does not go on; it says at which nodes, and what can be done with the run. */
function failedStops(
  { flow, state, facts }: StoppedRun,
  findings: readonly ToldFinding[],
): readonly RunStop[] {
  const runId = state.runId ?? ''
  const next = [
    commandText('writ', 'flow', 'report', runId),
    againText(facts),
    commandText('writ', 'flow', 'cancel', runId, '--undo'),
  ]
  return flow.nodes.flatMap(({ index, nodeId }) => {
    if (elementAt(state.nodes, index).status !== 'failed') return []
    const last = findings.findLast(({ node_id }) => node_id === nodeId)
    const says = last === undefined ? 'it was given up' : `it was given up; ${last.says}`
    const code = last === undefined ? {} : { code: last.code }
    return [
      {
        kind: 'failed' as const,
        node_id: nodeId,
        title: nodeTitle(flow, nodeId),
        ...code,
        says,
        next,
      },
    ]
  })
}

/** The command that begins another run of the flow. */
function againText(facts: readonly FlowFact[]): string {
  const source = sourceOf(facts)
  if (source === null) return 'writ flow run FILE'
  const { file, participants, side } = source
  return commandText(
    ...['writ', 'flow', 'run', file],
    ...(participants === undefined ? [] : ['--participants', participants]),
    ...(side === undefined ? [] : ['--side', side]),
  )
}

/** Returns the nodes that are blocked, the last finding of which has this code. */
export function nodesBlockedBy(
  code: RunFinding['code'],
  flow: CompiledFlow,
  state: RunState,
  facts: readonly FlowFact[],
): readonly string[] {
  const last = new Map<string, string>()
  for (const { type, payload } of facts) {
    if (type === 'flow_finding_v1' && payload.node_id !== undefined)
      last.set(payload.node_id, payload.code)
  }
  return flow.nodes.flatMap(({ index, nodeId }) =>
    elementAt(state.nodes, index).status === 'blocked' && last.get(nodeId) === code ? [nodeId] : [],
  )
}
