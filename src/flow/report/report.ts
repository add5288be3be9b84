/**
 * The audit report of a run: every decision, its inputs and its evidence, made of the facts of the run
 * and of nothing else. One shape for machines; `page.ts` shows it to people.
 */
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import { type ClaimStanding, claimStandings } from '../runtime/claims.ts'
import type { FlowCommand } from '../state/command.ts'
import type { ProgramChange } from '../state/event.ts'
import type { FlowFact } from '../state/fact.ts'
import { outstanding } from '../state/outstanding.ts'
import {
  isRejectedVersion,
  type NodeStatus,
  type RunState,
  type RunStatus,
  runStatus,
  type WorkState,
} from '../state/state.ts'
import { elementAt } from '../state/vector.ts'
import { type ArtifactReport, artifactsOf } from './artifacts.ts'
import { type OpenWork, openWorkOf } from './open-work.ts'
import { type PersonReport, peopleOf, type ReviewReport, reviewsOf } from './people.ts'
import { type RunStop, stopsOf, type ToldFinding, toldFindings } from './stops.ts'
import { type Transition, transitionsOf } from './transitions.ts'

interface PhaseReport {
  readonly phase_id: string
  readonly status: 'not_entered' | 'open' | 'blocked' | 'ended'
  readonly minimum_duration: number
  readonly cumulative_duration: number
  readonly attempts: number
  readonly tool_calls: number
  readonly rejections: number
  readonly nodes: readonly string[]
}

interface NodeReport {
  readonly node_id: string
  readonly title: string
  readonly kind: string
  readonly phase_id: string
  readonly status: string
  readonly attempts: number
  readonly tool_calls: number
  readonly seconds: number
  readonly verdict: string
  readonly score: number | null
}

interface LogReport {
  readonly phase_id: string
  /** The number of the `write_log` command, which the run gives at the end or the border of the phase. */
  readonly ended_seq: number
  /** The number of the fact that the log was written; null if it was not. */
  readonly logged_seq: number | null
  readonly digest: string | null
  /** The number of the next entry into a node, which always follows the log; null if there is none. */
  readonly next_entered_seq: number | null
}

/** When and by whom the flow of the run was changed, and from which version to which. */
interface MigrationReport {
  readonly seq: number
  readonly at: string
  readonly principal: string
  readonly from: string
  readonly to: string
  readonly comment: string | null
  /** Files of participants' programs that were pinned otherwise from then on. */
  readonly programs: readonly ProgramChange[]
}

interface Waiver {
  readonly node_id: string
  readonly invariant_id: 'TOOL_USE_NONZERO'
  readonly says: 'tools: none'
}

export interface RunReport {
  readonly run_id: string
  readonly flow_id: string
  /** Of the version that the run is walked by now; `migrations` tells of earlier ones. */
  readonly flow_digest: string
  readonly migrations: readonly MigrationReport[]
  readonly title: string
  readonly status: RunStatus
  readonly started_at: string
  readonly last_at: string
  readonly workspace: string | null
  readonly evaluator: unknown
  readonly totals: RunState['totals']
  readonly fields: RunState['fields']
  readonly phases: readonly PhaseReport[]
  readonly nodes: readonly NodeReport[]
  readonly transitions: readonly Transition[]
  readonly invariants: readonly unknown[]
  /** Invariants that do not hold for a participant, because a person's file says so. */
  readonly waivers: readonly Waiver[]
  /** Work that could change the whole workspace while a program there judged it. */
  readonly open_work: readonly OpenWork[]
  readonly findings: readonly ToldFinding[]
  /** Why it waits or has stopped, and what to do about it. */
  readonly stops: readonly RunStop[]
  readonly claims: readonly ClaimStanding[]
  readonly evidence: readonly unknown[]
  readonly reviews: readonly ReviewReport[]
  readonly artifacts: readonly ArtifactReport[]
  readonly outputs: readonly unknown[]
  readonly acts: readonly unknown[]
  readonly answers: readonly PersonReport[]
  readonly access: readonly unknown[]
  readonly log: readonly LogReport[]
  /** What was said in the run and is not kept any more; the host's to tell. */
  readonly missing?: readonly unknown[]
  /** Acts that a person took back after they were promoted; the host’s to tell. */
  readonly taken_back?: readonly unknown[]
}

export function reportOf(
  flow: CompiledFlow,
  facts: readonly FlowFact[],
  state: RunState,
  waiting: readonly FlowCommand[] = outstanding(state),
): RunReport {
  const [first] = facts
  const head = first?.type === 'flow_started_v1' ? first.payload : null
  const stops = stopsOf({ flow, facts, state, waiting })
  return {
    run_id: state.runId ?? '',
    flow_id: flow.document.flow_id,
    flow_digest: flow.digest,
    migrations: migrationsOf(facts),
    title: flow.document.title,
    status: runStatus(state),
    started_at: head?.at ?? '',
    last_at: state.at,
    workspace: head?.origin?.workspace ?? null,
    evaluator: head?.origin?.evaluator ?? null,
    totals: state.totals,
    fields: state.fields,
    phases: phasesOf(flow, state),
    nodes: nodesOf(flow, state, stops),
    transitions: transitionsOf(flow, facts),
    invariants: eventsOf(facts, 'invariant'),
    waivers: waiversOf(flow),
    open_work: openWorkOf(flow.base),
    findings: toldFindings(flow, facts),
    stops,
    claims: claimStandings(flow, state),
    evidence: facts.flatMap((fact) => (fact.type === 'flow_evidence_v1' ? [fact.payload] : [])),
    reviews: reviewsOf(flow, facts),
    artifacts: artifactsOf(flow, facts),
    outputs: outputsOf(facts),
    acts: toldOf(facts, ['promoted', 'rolled_back']).map(asHappened),
    answers: peopleOf(flow, facts),
    access: accessOf(flow, facts),
    log: logOf(facts),
  }
}

function migrationsOf(facts: readonly FlowFact[]): readonly MigrationReport[] {
  return facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') return []
    const { seq, at, event } = payload
    if (event.type !== 'migrated') return []
    const { principal, from, to, comment, changed_programs: programs = [] } = event
    return [{ seq, at, principal, from, to, comment, programs }]
  })
}

function waiversOf({ nodes }: CompiledFlow): readonly Waiver[] {
  return nodes.flatMap(({ document: { kind, executor, node_id } }) =>
    kind === 'WORK' && executor?.tools === 'none'
      ? [{ node_id, invariant_id: 'TOOL_USE_NONZERO', says: 'tools: none' } as const]
      : [],
  )
}

export function phasesOf(flow: CompiledFlow, state: RunState): readonly PhaseReport[] {
  return flow.phases.map(({ index, name, nodes, minimumDuration }) => {
    const { isActive, isBlocked, attempts, seconds, toolCalls, rejections } = elementAt(
      state.phases,
      index,
    )
    const status = isBlocked
      ? 'blocked'
      : isActive
        ? 'open'
        : attempts === 0
          ? 'not_entered'
          : 'ended'
    return {
      phase_id: name,
      status,
      minimum_duration: minimumDuration,
      cumulative_duration: seconds,
      attempts,
      tool_calls: toolCalls,
      rejections,
      nodes: nodes.map((node) => flow.nodes[node]?.document.node_id ?? ''),
    }
  })
}

/** With the stops of the run: a node where a person is asked is `waiting`, one that may not be left `held`. */
export function nodesOf(
  flow: CompiledFlow,
  state: RunState,
  stops: readonly RunStop[] = [],
): readonly NodeReport[] {
  const kinds = new Map(stops.map(({ node_id, kind }) => [node_id, kind]))
  return flow.nodes.map(({ index, document }) => {
    const { status, entries, work } = elementAt(state.nodes, index)
    return {
      node_id: document.node_id,
      title: document.title,
      kind: document.kind,
      phase_id: document.phase_id,
      status: stoppedStatus(shownStatus(status, work), kinds.get(document.node_id)),
      attempts: entries,
      tool_calls: work.toolCalls,
      seconds: work.totalSeconds,
      verdict: document.kind === 'CHECK' ? verdictOf(status) : work.verdict,
      score: work.score,
    }
  })
}

const ASKING: ReadonlySet<RunStop['kind'] | undefined> = new Set<RunStop['kind']>([
  'decision',
  'input',
  'participant',
  'answered',
  'approval',
])

function stoppedStatus(
  status: NodeStatus,
  stop: RunStop['kind'] | undefined,
): NodeReport['status'] {
  if (ASKING.has(stop)) return 'waiting'
  return stop === 'blocked' && STOPPED_AFTER.has(status) ? 'held' : status
}

/** A node of such a state has done its part: what stops there is a way out of it, or the end of its phase. */
const STOPPED_AFTER: ReadonlySet<NodeStatus> = new Set([
  'done',
  'resting',
  'approved',
  'provisional',
])

/** Work that a CHECK which it called rejected is staged still, and neither approved nor open to judgement. */
function shownStatus(status: NodeStatus, work: WorkState): NodeStatus {
  const isRejected = work.verdict === 'REJECT' || isRejectedVersion(work)
  const isStaged = status === 'approved' || status === 'provisional'
  return isStaged && isRejected ? 'rejected' : status
}

/** What a CHECK has said, by what became of it. */
function verdictOf(status: NodeStatus): string {
  if (status === 'done' || status === 'resting') return 'APPROVE'
  return status === 'rejected' ? 'REJECT' : 'PENDING'
}

/** Ids of the edges that a run has taken. */
export function takenEdges(facts: readonly FlowFact[]): ReadonlySet<string> {
  return new Set(
    facts.flatMap(({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'fired' ? [payload.edge_id] : [],
    ),
  )
}

function eventsOf(facts: readonly FlowFact[], kind: string): readonly unknown[] {
  return facts.flatMap((fact) => {
    if (fact.type !== 'flow_event_v1' || fact.payload.kind !== kind) return []
    const { run_id: _, ...payload } = fact.payload
    return [payload]
  })
}

function toldOf(facts: readonly FlowFact[], types: readonly string[]): readonly object[] {
  return facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') return []
    if (!types.includes(payload.event.type)) return []
    const { nonce: _, ...event } = payload.event
    return [{ seq: payload.seq, ...event }]
  })
}

/** A promotion that the gate refused put nothing in place. */
function asHappened(event: object): object {
  const isRefused =
    'type' in event && event.type === 'promoted' && 'action_id' in event && event.action_id === null
  return isRefused ? { ...event, type: 'promotion_refused' } : event
}

/** What participants said: the digest of a body in place of what they wrote. */
function outputsOf(facts: readonly FlowFact[]): readonly unknown[] {
  return facts.flatMap(({ type, payload }) => {
    if (type !== 'participant_output_v1') return []
    const { seq, at, node_id, answer, repairs, errors } = payload
    return [
      { seq, at, node_id, valid: answer !== null, kind: answer?.kind ?? null, repairs, errors },
    ]
  })
}

/** Returns the access rules of the flow, and every refused access that the host saw. */
function accessOf({ document }: CompiledFlow, facts: readonly FlowFact[]): readonly unknown[] {
  const rules = (document.access_rules ?? []).map((rule) => ({ kind: 'rule', ...rule }))
  const refused = toldOf(facts, ['access_refused']).map((event) => ({
    kind: 'refused',
    ...event,
  }))
  return [...rules, ...refused]
}

export function logOf(facts: readonly FlowFact[]): readonly LogReport[] {
  const list: { -readonly [K in keyof LogReport]: LogReport[K] }[] = []
  let entered = 0
  for (const { type, payload } of facts) {
    if (type !== 'flow_event_v1') continue
    if (payload.kind === 'commanded' && payload.command.type === 'write_log') {
      const { phase_id } = payload.command
      const made = { phase_id, ended_seq: payload.seq, logged_seq: null, digest: null }
      list.push({ ...made, next_entered_seq: null })
    } else if (payload.kind === 'event' && payload.event.type === 'log_written') {
      const { phase_id, digest } = payload.event
      const last = list.findLast((one) => one.phase_id === phase_id)
      if (last === undefined || digest === null) continue
      last.logged_seq = payload.seq
      last.digest = digest
    } else if (payload.kind === 'entered') {
      for (const one of list.slice(entered)) one.next_entered_seq = payload.seq
      entered = list.length
    }
  }
  return list
}
