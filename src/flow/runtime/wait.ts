/**
 * Time and signals. A node waits before it runs (`after`, `signal`, and those of the edge that enters
 * it), between attempts (`retry`), and has a `deadline`. Time comes in with events alone: a run says
 * until when it waits, the host sends `timer` when that has come, and a signal is an event.
 */
import type { FlowEdge, FlowNode } from '../../contracts/index.ts'
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import type { FlowCommand } from '../state/command.ts'
import type { EventOf } from '../state/event.ts'
import type { EntryCause } from '../state/fact.ts'
import { hasCome } from '../state/outstanding.ts'
import { isOpen, type NodeState } from '../state/state.ts'
import { begin, escalate } from './enter.ts'
import { takeException } from './leave.ts'
import { isApproved, reroute } from './review.ts'
import { dropStage, stopAt } from './skip.ts'
import type { Turn } from './turn.ts'

export type FailureKind = 'failed' | 'timeout' | 'invalid' | 'unreachable'

type WaitCommand = Extract<FlowCommand, { type: 'wait' }>

/** The moment so many seconds after another one. */
function later(at: string, seconds: number): string {
  return new Date(Date.parse(at) + seconds * 1000).toISOString()
}

function isPast(at: string, until: string): boolean {
  return Date.parse(at) >= Date.parse(until)
}

/** Names of the signals that a flow waits for somewhere. */
export function signalNames({
  nodes,
  edges,
}: {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
}): ReadonlySet<string> {
  const names = [...nodes, ...edges].flatMap(({ signal }) => (signal === undefined ? [] : [signal]))
  return new Set(names)
}

/** Begins to wait at an entry, if there is something to wait for. A rerun waits for nothing of it. */
export function waitsAtEntry(turn: Turn, node: number, cause: EntryCause, edge: number): boolean {
  if (cause === 'rerun') return false
  const { document } = turn.draft.nodeOf(node)
  const way = edge === -1 ? null : turn.draft.edgeOf(edge).document
  const seconds = Math.max(document.after ?? 0, way?.after ?? 0)
  const named = new Set([document.signal, way?.signal].filter((name) => name !== undefined))
  const signals = [...named].filter((name) => !isHeard(turn, node, name))
  if (seconds === 0 && signals.length === 0) return takeSignals(turn, node, [...named])
  const until = seconds === 0 ? null : later(turn.event.at, seconds)
  // Those that have come already are taken with the others.
  const own = document.after === undefined ? undefined : later(turn.event.at, document.after)
  wait(turn, node, until, [...named], 'entry', turn.draft.run.rules >= 3 ? own : undefined)
  return true
}

/** Returns whether a node waits before its first attempt. */
export function isWaitingToBegin({ pending }: NodeState): boolean {
  return pending?.type === 'wait' && pending.why === 'entry'
}

/**
 * Cuts a wait short when another way leads to the node: the wait of that way counts if it is weaker. The
 * time and the signal of the node itself are waited for all the same.
 */
export function hasten(turn: Turn, { target: node, document: way }: CompiledEdge): void {
  const { pending } = turn.node(node)
  if (pending?.type !== 'wait') return
  const { document } = turn.draft.nodeOf(node)
  const { at } = turn.event
  const moments = [pending.own, way.after === undefined ? undefined : later(at, way.after)]
  const [until = ''] = moments
    .flatMap((one) => (one === undefined || isPast(at, one) ? [] : [one]))
    .sort()
    .reverse()
  const named = [...new Set([document.signal, way.signal])].filter((name) => name !== undefined)
  if (until === '' && named.every((name) => isHeard(turn, node, name))) {
    takeSignals(turn, node, named)
    turn.command({ type: 'stop', node_id: document.node_id, stopped: pending.command })
    turn.settle(node, 'running', 'hastened')
    return begin(turn, node)
  }
  if (!named.every((name) => pending.signals.includes(name))) return
  const isSooner = until === '' ? pending.until !== null : until < (pending.until ?? '')
  const isNoLater = until === '' || until === pending.until
  if (!isSooner && !(isNoLater && named.length < pending.signals.length)) return
  turn.command({ type: 'stop', node_id: document.node_id, stopped: pending.command })
  wait(turn, node, until === '' ? null : until, named, 'entry', pending.own)
}

function wait(
  turn: Turn,
  node: number,
  until: string | null,
  signals: readonly string[],
  why: WaitCommand['why'],
  own?: string,
): void {
  const node_id = turn.idOf(node)
  const values = {
    why,
    ...(until === null ? {} : { until }),
    ...(signals.length === 0 ? {} : { signals }),
  }
  turn.find({ code: 'flow.waiting', node_id, action: 'alert', values })
  turn.settle(node, 'waiting', why)
  const kept = own === undefined ? {} : { own }
  turn.command({ type: 'wait', node_id, until, signals, why, ...kept }, node)
}

function isHeard(turn: Turn, node: number, name: string): boolean {
  return hasCome(turn.draft.run, turn.node(node), name)
}

/** Notes that a node has taken signals, so that its next entry waits for others. Returns false. */
function takeSignals(turn: Turn, node: number, names: readonly string[]): false {
  if (names.length > 0) turn.record({ kind: 'heard', node_id: turn.idOf(node), names })
  return false
}

/** Returns whether a timer is what a node waits for, and its time has come. */
export function isTimerDue({ pending, deadline }: NodeState, event: EventOf<'timer'>): boolean {
  const due = [pending, deadline].find((one) => one?.command === event.command)
  if (due?.type !== 'wait' && due?.type !== 'deadline') return false
  return due.until !== null && isPast(event.at, due.until)
}

export function afterTimer(turn: Turn, node: number, event: EventOf<'timer'>): void {
  const { pending } = turn.node(node)
  if (pending?.type === 'wait' && pending.command === event.command)
    return tryWait(turn, node, pending)
  missDeadline(turn, node)
}

export function afterSignal(turn: Turn, { name }: EventOf<'signal'>): void {
  for (let node = 0; node < turn.flow.nodes.length; node++) {
    const { pending } = turn.node(node)
    if (pending?.type === 'wait' && pending.signals.includes(name)) tryWait(turn, node, pending)
  }
}

/** Goes on if the time has come and every signal has. */
function tryWait(turn: Turn, node: number, { until, signals, why }: WaitCommand): void {
  if (until !== null && !isPast(turn.event.at, until)) return
  if (!signals.every((name) => isHeard(turn, node, name))) return
  takeSignals(turn, node, signals)
  if (why === 'entry') {
    turn.settle(node, 'running', 'waited')
    return begin(turn, node)
  }
  turn.settle(node, 'rejected', 'waited')
  const round = turn.draft.run.round + 1
  turn.later({ kind: 'enter', node, round, cause: 'rerun' })
}

/** A deadline counts from the first entry, through all attempts of it. */
export function startDeadline(turn: Turn, node: number, isFresh: boolean): void {
  const { deadline: seconds, node_id } = turn.draft.nodeOf(node).document
  if (seconds === undefined || (!isFresh && turn.node(node).deadline !== null)) return
  turn.command({ type: 'deadline', node_id, until: later(turn.event.at, seconds) }, node)
}

/** The Exception edge is taken, or a person decides. */
function missDeadline(turn: Turn, node: number): void {
  const { status, pending } = turn.node(node)
  const { document } = turn.draft.nodeOf(node)
  if (!isOpen(status) && status !== 'blocked') return
  if (turn.draft.run.rules >= 4 && isInTime(turn, node)) return
  const values = { deadline: document.deadline ?? null }
  const node_id = turn.idOf(node)
  turn.find({ code: 'flow.deadline', node_id, action: 'escalate', values })
  const isAsked = pending?.type === 'ask_human' && pending.why === 'escalation'
  if (pending !== null) turn.command({ type: 'stop', node_id, stopped: pending.command })
  if (turn.draft.run.rules >= 4) endReviews(turn, node)
  const isOld = turn.draft.run.rules < 5
  if (isOld && takeException(turn, node)) return turn.settle(node, 'rejected', 'deadline')
  if (!isOld && reroute(turn, node, 'deadline')) return
  escalate(turn, node, isAsked ? 'no person has decided in time' : 'its deadline has passed')
}

/**
 * Returns whether a node was approved, or has approved, before its deadline. What the host then does to the
 * tree is waited for and recorded.
 */
function isInTime(turn: Turn, node: number): boolean {
  const { status } = turn.node(node)
  if (status === 'submitted') return isApproved(turn, node)
  return status === 'promoting' || status === 'resting' || status === 'rolling_back'
}

/** Drops work that is late: its CHECK nodes judge it no longer, so no later approval promotes it. */
function endReviews(turn: Turn, node: number): void {
  dropStage(turn, node)
  for (const check of turn.draft.nodeOf(node).checks) {
    if (!isOpen(turn.node(check).status)) continue
    stopAt(turn, check)
    turn.settle(check, 'rejected', 'the deadline of its work')
  }
}

type Backoff = { readonly initial: number; readonly factor?: number; readonly max?: number }

/** Returns the seconds before the next attempt; null if this kind of failure is not tried again. */
export function retryDelay(
  { retry }: FlowNode,
  kind: FailureKind,
  failures: number,
): number | null {
  if (retry === undefined) return 0
  const { initial = 0, factor, max, ...kinds } = retry
  const own = kinds[kind]
  if (own === false) return null
  const backoff: Backoff = own ?? {
    initial,
    ...(factor === undefined ? {} : { factor }),
    ...(max === undefined ? {} : { max }),
  }
  const seconds = backoff.initial * (backoff.factor ?? 2) ** Math.max(0, failures - 1)
  return Math.min(seconds, backoff.max ?? RETRY_SECONDS_MAX)
}

const RETRY_SECONDS_MAX = 3_600

/** Waits before the next attempt; false if there is nothing to wait for. */
export function waitsToRetry(turn: Turn, node: number, seconds: number): boolean {
  if (seconds === 0) return false
  wait(turn, node, later(turn.event.at, seconds), [], 'retry')
  return true
}
