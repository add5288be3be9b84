/**
 * The state of a run: an immutable value. Steps share the parts that they do not change.
 *
 * INVARIANT (a run is its facts): `foldFacts` makes the state from facts alone, so the state holds
 * nothing that is not in a fact.
 */
import type { Claim, XiaojingReview } from '../../contracts/index.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import { RULES_NOW } from '../compile/rules.ts'
import type { BudgetLimits } from './budget.ts'
import type { FlowCommand, ReviewPin, StageBase } from './command.ts'
import type { EvidenceValue, ParticipantAnswer } from './event.ts'
import { filledVector, type Vector, VectorDraft } from './vector.ts'

/**
 * idle: not entered. running: a command is under way. submitted: there is something to judge.
 * waiting: for a human. approved: to be promoted after the stages below it, while others go on, or after
 * the CHECK nodes that it calls.
 * promoting, rolling_back: the gate acts.
 * resting: a CHECK that has approved and waits for its target. provisional: others go on from what is
 * staged here, and it is judged later. rejected: not done, and run again when the run comes here.
 */
const NODE_STATUSES = [
  'idle',
  'running',
  'submitted',
  'waiting',
  'approved',
  'promoting',
  'rolling_back',
  'resting',
  'provisional',
  'done',
  'rejected',
  'blocked',
  'failed',
  'abandoned',
] as const
export type NodeStatus = (typeof NODE_STATUSES)[number]

/** Returns whether the host is carrying out a command at the node. */
export function isActing(status: NodeStatus): boolean {
  return status === 'running' || status === 'promoting' || status === 'rolling_back'
}

/** Returns whether the node still waits for the host, a CHECK or a human. */
export function isOpen(status: NodeStatus): boolean {
  return isActing(status) || status === 'submitted' || status === 'waiting' || status === 'resting'
}

/** Returns whether what is open at the node is in the hands of a CHECK, or of the CHECK nodes after it. */
export function isJudging(status: NodeStatus): boolean {
  return status === 'submitted' || status === 'resting'
}

export interface Artifact {
  readonly path: string
  readonly digest: string
  readonly format: string
  readonly content: string
}

export interface RunStage {
  readonly manifest: string
  readonly standsOn: readonly StageBase[]
  /** Null until it is promoted, and again after it was rolled back. */
  readonly actionId: string | null
  /** The number of the fact that says so; the last promoted is rolled back first. */
  readonly promotedSeq: number
}

/** A promoted act that was not undone. */
interface PromotedAct {
  readonly actionId: string
  readonly seq: number
  /** The calls under way when it was promoted, by their edges. */
  readonly calls: readonly number[]
}

export interface ClaimState {
  readonly claim: Claim
  readonly principal: string
  readonly participant: string | null
  readonly evidence: readonly EvidenceState[]
}

interface EvidenceState {
  readonly evidenceId: string
  readonly principal: string
  readonly participant: string | null
  readonly supports: boolean
}

/** What is known of the work at a node. */
export interface WorkState {
  /** Of this attempt. */
  readonly answer: ParticipantAnswer | null
  readonly asks: number
  /** Why the last output of this attempt was no answer. */
  readonly errors: readonly unknown[]
  readonly retries: number
  readonly toolCalls: number
  readonly isGateBlocked: boolean
  /** The stages that the participant saw, and the review that it was asked for. */
  readonly bases: readonly StageBase[]
  readonly pin: ReviewPin | null
  /** When the attempt under way began, at a node with a deadline; null if none is, or a person works. */
  readonly startedAt: string | null
  /** Of the last attempt that ended. */
  readonly seconds: number
  readonly gatePassed: boolean
  readonly filesExist: boolean
  readonly principal: string | null
  /** Of the node. */
  readonly totalSeconds: number
  readonly rejections: number
  readonly verdict: 'APPROVE' | 'REJECT' | 'PENDING'
  readonly score: number | null
  /** A REJECT holds until an APPROVE of this or a later version. */
  readonly isLocked: boolean
  /** Digests of artifacts that a CHECK rejected. */
  readonly rejected: readonly string[]
  /**
   * The next version may be the same as the last one: that was approved and could not be put in place, or what
   * rejected it has been changed since.
   */
  readonly isUnplaced: boolean
  /** CHECK nodes that approve the present version. */
  readonly approvals: readonly number[]
  readonly artifact: Artifact | null
  readonly previous: Artifact | null
  readonly lastReview: XiaojingReview | null
  readonly lastError: unknown
  readonly stage: RunStage | null
  /** Of all attempts, oldest first. */
  readonly acts: readonly PromotedAct[]
  /** Nodes whose stages are based on the stage of this one. */
  readonly dependents: readonly number[]
  readonly claims: readonly ClaimState[]
  readonly readings: readonly EvidenceValue[] | null
}

export interface NodeState {
  readonly status: NodeStatus
  /** Grows when the run goes back; an edge leads into a node of an earlier round only. */
  readonly round: number
  /**
   * The round in which its edges fire. A rerun of a node that has not left yet goes on with the walk that
   * led there: a node that this walk has come through already is not entered again.
   */
  readonly walk: number
  /** Of a CHECK: there is work for it to judge, and it was not entered since. */
  readonly isDue: boolean
  /** Attempts since the last fresh entry; bounded by `max_attempts`. */
  readonly attempts: number
  /** Attempts in the whole run, which number the attempts at this node uniquely. */
  readonly entries: number
  /** Further attempts that a human granted. */
  readonly granted: number
  /** Edges that have fired into this node, by how they count among those it waits for. */
  readonly synced: number
  readonly joined: number
  readonly reached: number
  /** Some edge of this node has fired since it was entered. */
  readonly hasFired: boolean
  /** A node that had led here was entered again since: it leads on when it is entered again as well. */
  readonly isLeftBehind: boolean
  /** Done, and its leaving edges have been tried. */
  readonly isHeld: boolean
  readonly pending: FlowCommand | null
  /** Under way next to `pending`: until when the node has to be done. */
  readonly deadline: FlowCommand | null
  /** By signal: how many of its name had come when the node last took one. */
  readonly heard: Readonly<Record<string, number>>
  /** Calls that this node has made and that have not returned. */
  readonly awaited: number
  /**
   * Edges of this node whose calls failed; none fires again before a person or a new version lets it.
   * `NO_EDGE` in place of a call edge that a migration took away.
   */
  readonly failedCalls: readonly number[]
  /** Of a call node: the edges that wait for their turn, the one that has it, and its first round. */
  readonly calls: readonly number[]
  readonly call: number
  readonly callRound: number
  readonly work: WorkState
}

/** The place of an edge that the flow no longer has. */
export const NO_EDGE = -1

/** A phase or sub-phase. */
export interface SpanState {
  readonly open: number
  /** Open nodes that only wait for a CHECK, or for the work that they judged. */
  readonly judging: readonly number[]
  /** Nodes that are blocked: a phase does not end over them. */
  readonly blocked: number
  readonly attempts: number
  readonly seconds: number
  readonly toolCalls: number
  readonly rejections: number
  readonly hasOtherIssue: boolean
  /** Entered, and not ended since. */
  readonly isActive: boolean
  readonly isBlocked: boolean
  readonly isLogged: boolean
  /** The log could not be written when the phase came to its end. */
  readonly isLogFailed: boolean
  readonly manifest: string | null
  readonly pending: FlowCommand | null
}

/** Whether a human can let a node go on: it is blocked, its ways are closed, or its phase may not end. */
export function isStuckAt({ status, isHeld }: NodeState, { isBlocked }: SpanState): boolean {
  // What is in the hands of a CHECK, or has approved, waits at the border of its phase.
  const isStopped = isJudging(status) || (!isOpen(status) && status !== 'idle')
  return status === 'blocked' || isHeld || (isBlocked && isStopped)
}

/** Returns whether a CHECK has rejected the artifact that a node has now. */
export function isRejectedVersion({
  artifact,
  rejected,
}: Pick<WorkState, 'artifact' | 'rejected'>): boolean {
  return artifact !== null && rejected.includes(artifact.digest)
}

/** The part of a draft that `unblockedBy` reads. */
interface NodesAt {
  readonly flow: Pick<CompiledFlow, 'nodes'>
  readonly run: Pick<RunState, 'rules'>
  readonly nodes: { get(index: number): Pick<NodeState, 'status'> }
}

/**
 * Returns the node that runs again when a person lets a node go on. A CHECK has nothing to judge before its
 * work runs again if that is done: its version is promoted. So it is for a CHECK at which the run is stalled.
 */
export function unblockedBy({ flow, run, nodes }: NodesAt, node: number): number {
  const target = flow.nodes[node]?.target ?? -1
  if (run.rules === 1 || target === -1) return node
  const { status } = nodes.get(node)
  if (status !== 'done' && (run.rules < 6 || status !== 'blocked')) return node
  return nodes.get(target).status === 'done' ? target : node
}

interface SignalState {
  readonly count: number
  readonly data: unknown
}

export interface RunTotals {
  readonly attempts: number
  readonly seconds: number
  readonly tokens: number
  readonly toolCalls: number
  readonly rejections: number
}

export type RunEnd = 'DONE' | 'FAILED' | 'CANCELLED'
export type RunStatus = 'RUNNING' | 'WAITING' | 'BLOCKED' | RunEnd

/** A way back that has fired and waits until the gate acts on none of the nodes that it leaves behind. */
interface WaitingBack {
  readonly edge: number
  /** The node that it runs again, and in which round. */
  readonly node: number
  readonly round: number
}

export interface RunState {
  readonly runId: string | null
  /** The flow that the run is walked by now: lists that were read and migrations change it. */
  readonly flow: CompiledFlow
  /** The number of the next fact. */
  readonly seq: number
  readonly at: string
  readonly round: number
  /** Nodes by what they are at: open, of these acting or waiting for a human; stuck; failed. */
  readonly open: number
  readonly acting: number
  readonly waiting: number
  readonly stuck: number
  readonly failed: number
  /** Spans with a command under way. */
  readonly spansPending: number
  /** Calls that have not returned. */
  readonly calling: number
  readonly backs: readonly WaitingBack[]
  readonly totals: RunTotals
  /** The folder of artifacts, relative to the workspace. */
  readonly artifacts: string
  /** Budgets that a human has set in the place of the flow's. */
  readonly limits: BudgetLimits
  readonly ended: RunEnd | null
  readonly isRefused: boolean
  /** The version of the rules that the run was started with; it keeps them to its end. */
  readonly rules: number
  /** By the digest of a participant's declaration, the digests of the programs that it names. */
  readonly programs: ReadonlyMap<string, readonly string[]>
  /** Participants whose programs could not all be pinned, by the same digest. */
  readonly unpinned: ReadonlySet<string>
  readonly fields: Readonly<Record<string, string | number | boolean>>
  /** By claim, the node that it is about. */
  readonly claimNodes: ReadonlyMap<string, number>
  /** By name: how many signals have come, and what came with the last one. */
  readonly signals: ReadonlyMap<string, SignalState>
  readonly nodes: Vector<NodeState>
  /** The round in which each edge last fired; 0 for never. */
  readonly fired: Vector<number>
  readonly phases: Vector<SpanState>
  readonly subphases: Vector<SpanState>
}

const NO_PARTICIPANTS: ReadonlySet<string> = new Set()
const NO_PROGRAMS: ReadonlyMap<string, readonly string[]> = new Map()

const FRESH_WORK: WorkState = {
  answer: null,
  asks: 0,
  errors: [],
  retries: 0,
  toolCalls: 0,
  isGateBlocked: false,
  bases: [],
  pin: null,
  startedAt: null,
  seconds: 0,
  gatePassed: false,
  filesExist: false,
  principal: null,
  totalSeconds: 0,
  rejections: 0,
  verdict: 'PENDING',
  score: null,
  isLocked: false,
  rejected: [],
  isUnplaced: false,
  approvals: [],
  artifact: null,
  previous: null,
  lastReview: null,
  lastError: null,
  stage: null,
  acts: [],
  dependents: [],
  claims: [],
  readings: null,
}

const PASSED_WORK: WorkState = { ...FRESH_WORK, gatePassed: true }

/** Sets `gatePassed`. All nodes that never ran a participant share one object. */
export function passedWork(work: WorkState): WorkState {
  return work === FRESH_WORK ? PASSED_WORK : { ...work, gatePassed: true }
}

const NO_SIGNALS: ReadonlyMap<string, SignalState> = new Map()
const NOTHING_HEARD: Readonly<Record<string, number>> = Object.freeze({})
const NO_NODES: readonly number[] = Object.freeze([])
const NO_CALLS: readonly number[] = Object.freeze([])

const FRESH_NODE: NodeState = {
  status: 'idle',
  round: 0,
  walk: 0,
  isDue: false,
  attempts: 0,
  entries: 0,
  granted: 0,
  synced: 0,
  joined: 0,
  reached: 0,
  hasFired: false,
  isLeftBehind: false,
  isHeld: false,
  pending: null,
  deadline: null,
  heard: NOTHING_HEARD,
  awaited: 0,
  failedCalls: NO_CALLS,
  calls: NO_CALLS,
  call: -1,
  callRound: 0,
  work: FRESH_WORK,
}

const FRESH_SPAN: SpanState = {
  open: 0,
  judging: NO_NODES,
  blocked: 0,
  attempts: 0,
  seconds: 0,
  toolCalls: 0,
  rejections: 0,
  hasOtherIssue: false,
  isActive: false,
  isBlocked: false,
  isLogged: false,
  isLogFailed: false,
  manifest: null,
  pending: null,
}

/** A run before its first fact: fields and claims are those that the flow begins with. */
export function emptyState(flow: CompiledFlow): RunState {
  const fields = Object.entries(flow.document.state?.fields ?? {})
  const nodes = new VectorDraft(filledVector(flow.nodes.length, FRESH_NODE))
  const claimNodes = new Map<string, number>()
  for (const [index, claims] of declaredClaims(flow)) {
    nodes.set(index, { ...FRESH_NODE, work: { ...FRESH_WORK, claims } })
    for (const { claim } of claims) claimNodes.set(claim.claim_id, index)
  }
  return {
    runId: null,
    flow,
    seq: 0,
    at: '',
    round: 0,
    open: 0,
    acting: 0,
    waiting: 0,
    stuck: 0,
    failed: 0,
    spansPending: 0,
    calling: 0,
    backs: [],
    totals: { attempts: 0, seconds: 0, tokens: 0, toolCalls: 0, rejections: 0 },
    artifacts: 'artifacts',
    limits: {},
    ended: null,
    isRefused: false,
    rules: RULES_NOW,
    programs: NO_PROGRAMS,
    unpinned: NO_PARTICIPANTS,
    fields: Object.fromEntries(fields.map(([name, { initial }]) => [name, initial])),
    claimNodes,
    signals: NO_SIGNALS,
    nodes: nodes.finish(),
    fired: filledVector(flow.edges.length, 0),
    phases: filledVector(flow.phases.length, FRESH_SPAN),
    subphases: filledVector(flow.subphases.length, FRESH_SPAN),
  }
}

/** A status in a file is only where a claim begins, so it is not taken over. */
function declaredClaims(flow: CompiledFlow): Map<number, ClaimState[]> {
  const byNode = new Map<number, ClaimState[]>()
  for (const declared of flow.document.claims ?? []) {
    const index = flow.nodeIndex.get(declared.node_id) ?? 0
    const claim = { ...declared, verification_status: 'pending' as const }
    const state = { claim, principal: declared.actor, participant: null, evidence: [] }
    const list = byNode.get(index)
    if (list === undefined) byNode.set(index, [state])
    else list.push(state)
  }
  return byNode
}

export function runStatus(state: RunState): RunStatus {
  if (state.ended !== null) return state.ended
  if (state.isRefused) return 'BLOCKED'
  if (state.acting > 0 || state.spansPending > 0) return 'RUNNING'
  if (state.waiting > 0) return 'WAITING'
  return state.stuck + state.open + state.calling > 0 ? 'BLOCKED' : 'RUNNING'
}
