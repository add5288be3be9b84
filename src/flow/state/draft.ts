/**
 * A state under change, within one step or one fold of many facts. Parts are copied when they are first
 * written to, so that the state it began with stays as it is.
 *
 * Shallow copies of the parts of a state, field by field: a copy that is spelt out costs a fraction of
 * a spread, and every step makes several. The compiler sees to it that no field is left out.
 */
import { invariant } from '../../base/index.ts'
import type { CompiledEdge, CompiledFlow, CompiledNode } from '../compile/compiled-flow.ts'
import {
  isActing,
  isJudging,
  isOpen,
  type NodeState,
  type NodeStatus,
  type RunState,
  type RunTotals,
  type SpanState,
  type WorkState,
} from './state.ts'
import { DenseDraft, type ListDraft, type Vector, VectorDraft } from './vector.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** How much will be written: one step touches a few parts of a state, a fold of many facts all of them. */
type Reach = 'one step' | 'many steps'

export class RunDraft {
  readonly flow: CompiledFlow
  /** Vectors stand in it only once the draft is finished. */
  readonly run: Writable<RunState>
  readonly nodes: ListDraft<NodeState>
  readonly fired: ListDraft<number>
  readonly phases: ListDraft<SpanState>
  readonly subphases: ListDraft<SpanState>
  #ownsClaims = false
  #ownsTotals = false
  #lastNamed = -1

  constructor(state: RunState, reach: Reach) {
    this.flow = state.flow
    this.run = copyRun(state)
    const listOf = <T>(origin: Vector<T>): ListDraft<T> =>
      reach === 'one step' ? new VectorDraft(origin) : new DenseDraft(origin)
    this.nodes = listOf(state.nodes)
    this.fired = listOf(state.fired)
    this.phases = listOf(state.phases)
    this.subphases = listOf(state.subphases)
  }

  /** The draft is not written to after this. */
  finish(): RunState {
    this.#ownsClaims = false
    this.#ownsTotals = false
    this.run.nodes = this.nodes.finish()
    this.run.fired = this.fired.finish()
    this.run.phases = this.phases.finish()
    this.run.subphases = this.subphases.finish()
    return copyRun(this.run)
  }

  /** The node as one that may be written to; what it is at is changed by `setStatus`. */
  ownNode(index: number): Writable<Omit<NodeState, 'status' | 'isHeld'>> {
    return this.nodes.own(index, copyNode)
  }

  /** `isEntry`: the node is entered, which begins its phase. */
  setStatus(index: number, status: NodeStatus, isEntry = false): void {
    const node: Writable<NodeState> = this.nodes.own(index, copyNode)
    if (node.status === status) return
    this.#count(index, node.status, status, isEntry)
    node.status = status
  }

  setHeld(index: number, isHeld: boolean): void {
    const node: Writable<NodeState> = this.nodes.own(index, copyNode)
    if (node.isHeld === isHeld) return
    this.run.stuck += isHeld ? 1 : -1
    node.isHeld = isHeld
  }

  patchWork(index: number, patch: Partial<WorkState>): void {
    const node: Writable<NodeState> = this.nodes.own(index, copyNode)
    node.work = { ...node.work, ...patch }
  }

  patchPhase(index: number, patch: Partial<SpanState>): void {
    this.#patchSpan(this.phases, index, patch)
  }

  patchSubphase(index: number, patch: Partial<SpanState>): void {
    if (index >= 0) this.#patchSpan(this.subphases, index, patch)
  }

  /** Counts an attempt in the node's phase and sub-phase, and unblocks the phase. */
  countAttempt(node: number): void {
    const { phase, subphase } = this.nodeOf(node)
    if (this.phases.get(phase).isBlocked) this.patchPhase(phase, { isBlocked: false })
    const inPhase: Writable<SpanState> = this.phases.own(phase, copySpan)
    inPhase.attempts += 1
    if (subphase < 0) return
    const inSubphase: Writable<SpanState> = this.subphases.own(subphase, copySpan)
    inSubphase.attempts += 1
  }

  /** Adds to the counts of the node's phase and sub-phase. */
  addToSpans(node: number, change: (span: SpanState) => Partial<SpanState>): void {
    const { phase, subphase } = this.nodeOf(node)
    this.patchPhase(phase, change(this.phases.get(phase)))
    if (subphase >= 0) this.patchSubphase(subphase, change(this.subphases.get(subphase)))
  }

  /** Returns the totals of the run as a copy that the draft may change. */
  ownTotals(): Writable<RunState['totals']> {
    if (!this.#ownsTotals) this.run.totals = copyTotals(this.run.totals)
    this.#ownsTotals = true
    return this.run.totals
  }

  nameClaim(id: string, node: number): void {
    if (!this.#ownsClaims) this.run.claimNodes = new Map(this.run.claimNodes)
    this.#ownsClaims = true
    // Copied just now, or earlier in this draft.
    const claimNodes = this.run.claimNodes as Map<string, number>
    claimNodes.set(id, node)
  }

  /** Returns -1 if the flow has no such node. Tries the last node and the one after it first. */
  placeNamed(id: string): number {
    const { nodes } = this.flow
    const next = this.#lastNamed + 1
    if (nodes[next]?.nodeId === id) this.#lastNamed = next
    else if (nodes[this.#lastNamed]?.nodeId !== id)
      this.#lastNamed = this.flow.nodeIndex.get(id) ?? -1
    return this.#lastNamed
  }

  nodeNamed(id: string): number {
    return found(this.flow.nodeIndex.get(id))
  }

  edgeNamed(id: string): CompiledEdge {
    return found(this.flow.edgeById.get(id))
  }

  phaseNamed(id: string): number {
    return found(this.flow.phaseIndex.get(id))
  }

  subphaseNamed(id: string): number {
    return found(this.flow.subphaseIndex.get(id))
  }

  edgeOf(index: number): CompiledEdge {
    // Indexes come from the compiled flow.
    return this.flow.edges[index] as CompiledEdge
  }

  nodeOf(index: number): CompiledNode {
    // Indexes come from the compiled flow.
    return this.flow.nodes[index] as CompiledNode
  }

  #patchSpan(spans: ListDraft<SpanState>, index: number, patch: Partial<SpanState>): void {
    const span = spans.get(index)
    if (patch.pending !== undefined && (patch.pending === null) !== (span.pending === null))
      this.run.spansPending += patch.pending === null ? -1 : 1
    if (patch.isBlocked !== undefined && patch.isBlocked !== span.isBlocked)
      this.run.stuck += patch.isBlocked ? 1 : -1
    Object.assign(spans.own(index, copySpan), patch)
  }

  #count(node: number, before: NodeStatus, after: NodeStatus, isEntry: boolean): void {
    const { run } = this
    const opened = Number(isOpen(after)) - Number(isOpen(before))
    run.acting += Number(isActing(after)) - Number(isActing(before))
    run.waiting += Number(after === 'waiting') - Number(before === 'waiting')
    run.stuck += Number(isStuckStatus(after)) - Number(isStuckStatus(before))
    run.failed += Number(after === 'failed') - Number(before === 'failed')
    const stopped = Number(after === 'blocked') - Number(before === 'blocked')
    const isJudged = isJudging(after)
    const isChanged = isJudged !== isJudging(before)
    if (opened === 0 && stopped === 0 && !isChanged) return
    run.open += opened
    const { phase, subphase } = this.nodeOf(node)
    const inPhase: Writable<SpanState> = this.phases.own(phase, copySpan)
    if (isChanged)
      inPhase.judging = isJudged
        ? [...inPhase.judging, node]
        : inPhase.judging.filter((one) => one !== node)
    // What is undone, promoted, judged or put to a person after the end of its phase does not begin it again.
    const mayBegin = run.rules >= 6 ? isEntry : run.rules < 5 || !AFTER_END.has(after)
    const isBegun = opened > 0 && mayBegin
    countOpen(inPhase, opened, stopped, isBegun)
    if (subphase >= 0) countOpen(this.subphases.own(subphase, copySpan), opened, stopped, isBegun)
  }
}

/** By version 5 of the rules. */
const AFTER_END: ReadonlySet<NodeStatus> = new Set(['rolling_back', 'waiting'])

function countOpen(
  span: Writable<SpanState>,
  opened: number,
  stopped: number,
  isBegun: boolean,
): void {
  span.open += opened
  span.blocked += stopped
  if (!isBegun) return
  span.isActive = true
  span.isLogged = false
  span.isLogFailed = false
}

/** Returns whether a node waits for another event. Such a node keeps the run from its end. */
export function isStuckStatus(status: NodeStatus): boolean {
  return status === 'blocked' || status === 'provisional' || status === 'approved'
}

/** Fails if a fact or a command names a part that the flow does not have. */
function found<T>(part: T | undefined): T {
  invariant(part !== undefined, 'a run names parts of its own flow')
  return part
}

function copyNode(node: NodeState): NodeState {
  return {
    status: node.status,
    round: node.round,
    walk: node.walk,
    isDue: node.isDue,
    attempts: node.attempts,
    entries: node.entries,
    granted: node.granted,
    synced: node.synced,
    joined: node.joined,
    reached: node.reached,
    hasFired: node.hasFired,
    isLeftBehind: node.isLeftBehind,
    isHeld: node.isHeld,
    pending: node.pending,
    deadline: node.deadline,
    heard: node.heard,
    awaited: node.awaited,
    failedCalls: node.failedCalls,
    calls: node.calls,
    call: node.call,
    callRound: node.callRound,
    work: node.work,
  }
}

function copySpan(span: SpanState): SpanState {
  return {
    open: span.open,
    judging: span.judging,
    blocked: span.blocked,
    attempts: span.attempts,
    seconds: span.seconds,
    toolCalls: span.toolCalls,
    rejections: span.rejections,
    hasOtherIssue: span.hasOtherIssue,
    isActive: span.isActive,
    isBlocked: span.isBlocked,
    isLogFailed: span.isLogFailed,
    isLogged: span.isLogged,
    manifest: span.manifest,
    pending: span.pending,
  }
}

function copyTotals(totals: RunTotals): RunTotals {
  return {
    attempts: totals.attempts,
    seconds: totals.seconds,
    tokens: totals.tokens,
    toolCalls: totals.toolCalls,
    rejections: totals.rejections,
  }
}

function copyRun(run: RunState): RunState {
  return {
    runId: run.runId,
    flow: run.flow,
    seq: run.seq,
    at: run.at,
    round: run.round,
    open: run.open,
    acting: run.acting,
    waiting: run.waiting,
    stuck: run.stuck,
    failed: run.failed,
    spansPending: run.spansPending,
    calling: run.calling,
    backs: run.backs,
    totals: run.totals,
    artifacts: run.artifacts,
    limits: run.limits,
    ended: run.ended,
    isRefused: run.isRefused,
    rules: run.rules,
    programs: run.programs,
    unpinned: run.unpinned,
    fields: run.fields,
    claimNodes: run.claimNodes,
    signals: run.signals,
    nodes: run.nodes,
    fired: run.fired,
    phases: run.phases,
    subphases: run.subphases,
  }
}
