/**
 * Stages: the changes of an attempt, staged until they are approved, and promoted as one act (F-13). A
 * stage may be based on stages that are not promoted yet. It is promoted after its bases, unchanged. It
 * is void if a base is rejected, run again, rolled back or promoted with another manifest.
 *
 * Work that calls CHECK nodes to judge it is promoted when all that it called have approved it.
 */

import type { CompiledEdge, CompiledFlow } from '../compile/compiled-flow.ts'
import type { StageBase } from '../state/command.ts'
import type { RunDraft } from '../state/draft.ts'
import type { FlowEvent } from '../state/event.ts'
import {
  isOpen,
  type NodeState,
  type NodeStatus,
  type RunStage,
  type RunState,
} from '../state/state.ts'
import { elementAt } from '../state/vector.ts'
import { asksForEvidence } from './evidence.ts'
import { stopAt } from './skip.ts'
import type { Turn } from './turn.ts'

/** The most manifests under one view; the host does not stack overlays on overlays. */
export const STAGES_MAX = 8

/**
 * Returns the unpromoted stages that a node sees, bases first: the stages of the nodes that led here
 * and their bases. Returns null if there are more than `STAGES_MAX`.
 */
export function stagesUnder(turn: Turn, node: number): readonly StageBase[] | null {
  const { flow, draft } = turn
  const fired = (edge: number): number => draft.fired.get(edge)
  const { rules } = draft.run
  const bases = basesOf({ flow, rules, node: (index) => turn.node(index), fired }, node)
  return bases.length > STAGES_MAX ? null : bases
}

/** Returns the same for a recorded state: what a node sees for which no participant runs. */
export function stagesSeen(
  flow: CompiledFlow,
  state: RunState,
  nodeId: string,
): readonly StageBase[] {
  const index = flow.nodeIndex.get(nodeId)
  if (index === undefined) return []
  const node = (at: number): NodeState => elementAt(state.nodes, at)
  const { rules } = state
  return basesOf({ flow, rules, node, fired: (edge) => elementAt(state.fired, edge) }, index)
}

/** A run, of which a step or a reader asks which stages a node sees. */
interface SeenRun {
  readonly flow: CompiledFlow
  readonly rules: number
  readonly node: (index: number) => Pick<NodeState, 'work' | 'call'>
  /** Returns the round in which an edge fired; 0 if it did not. */
  readonly fired: (edge: number) => number
}

function basesOf(run: SeenRun, node: number): readonly StageBase[] {
  const bases = new Map<string, string>()
  addArriving(run, node, bases)
  const target = run.flow.nodes[node]?.target ?? -1
  if (target !== -1) addStage(run, target, bases)
  return [...bases].map(([node_id, manifest]) => ({ node_id, manifest }))
}

function addArriving(
  run: SeenRun,
  node: number,
  bases: Map<string, string>,
  seen = new Set<number>(),
): void {
  seen.add(node)
  for (const edge of run.flow.nodes[node]?.incoming ?? []) {
    if (!edge.isForward || run.fired(edge.index) === 0) continue
    if (edge.isCall && edge.index !== run.node(node).call) continue
    addStage(run, edge.source, bases)
    if (isPassing(run, edge.source) && !seen.has(edge.source))
      addArriving(run, edge.source, bases, seen)
  }
}

/** Returns whether a node makes nothing: what it leads to sees what it would see. Before version 8, of maps alone. */
function isPassing({ flow, rules }: SeenRun, node: number): boolean {
  if (flow.maps.some(({ begin }) => begin === node)) return true
  return rules >= 8 && flow.nodes[node]?.isBare === true
}

function addStage(run: SeenRun, node: number, bases: Map<string, string>): void {
  const { stage } = run.node(node).work
  if (stage === null || stage.actionId !== null) return
  for (const { node_id, manifest } of stage.standsOn) {
    const below = run.node(run.flow.nodeIndex.get(node_id) ?? -1).work.stage
    if (below === null || below.actionId === null) bases.set(node_id, manifest)
  }
  bases.set(run.flow.nodes[node]?.nodeId ?? '', stage.manifest)
}

function isPromoted(turn: Turn, nodeId: string): boolean {
  const { stage } = turn.node(turn.draft.nodeNamed(nodeId)).work
  return stage !== null && stage.actionId !== null
}

/**
 * Promotes the stage of a node, or waits as `approved` until the CHECK nodes that it calls have approved and
 * all its bases are promoted. `areCallsMade`: a call that was not made by now is none.
 */
export function promoteStage(turn: Turn, node: number, areCallsMade = false): void {
  const { stage } = turn.node(node).work
  if (stage === null || stage.actionId !== null) return turn.later({ kind: 'done', node })
  const isToBeJudged = waitsForCalledChecks(turn, node, areCallsMade)
  const isOnOthers = !stage.standsOn.every(({ node_id }) => isPromoted(turn, node_id))
  if (isToBeJudged || isOnOthers) {
    const isWaiting = turn.node(node).status === 'approved'
    if (isWaiting && (!isToBeJudged || turn.node(node).awaited > 0)) return
    if (isToBeJudged && asksForEvidence(turn, node)) return
    if (!isWaiting)
      turn.settle(node, 'approved', isToBeJudged ? 'the checks that it calls' : 'stages below')
    // It has led on before it was judged: its decision is made.
    if (turn.draft.run.rules >= 8 && !isToBeJudged && turn.node(node).hasFired) return
    return turn.later({
      kind: 'leave',
      node,
      isPhaseEnded: isToBeJudged && isPhaseOver(turn, node),
    })
  }
  turn.settle(node, 'promoting', 'approved')
  turn.command({ type: 'promote', node_id: turn.idOf(node), manifest: stage.manifest })
}

/** Returns whether there is something to promote at a node. */
export function isStaged(turn: Turn, node: number): boolean {
  const { stage } = turn.node(node).work
  return stage !== null && stage.actionId === null
}

/** The calls of a node to CHECK nodes that judge what the node made. */
export function judgingCalls({ draft }: Turn, node: number): readonly CompiledEdge[] {
  return draft.nodeOf(node).calls.filter(({ target }) => {
    const { document } = draft.nodeOf(target)
    return document.kind === 'CHECK' && document.target === undefined
  })
}

/** Returns whether a node is staged and waits for a CHECK that it calls. */
export function isToBeJudged(turn: Turn, node: number): boolean {
  const { status, awaited, failedCalls } = turn.node(node)
  if (status !== 'approved' && status !== 'provisional') return false
  // Others go on from provisional work if a way to a called CHECK is closed.
  const isTried = status === 'provisional' && !turn.draft.nodeOf(node).callsLate
  if (isTried && awaited + failedCalls.length === 0) return false
  return waitsForCalledChecks(turn, node, false)
}

function waitsForCalledChecks(turn: Turn, node: number, areCallsMade: boolean): boolean {
  if (turn.draft.run.rules < 5) return false
  const { work, failedCalls } = turn.node(node)
  return judgingCalls(turn, node).some(({ target, index }) => {
    if (work.approvals.includes(target)) return false
    // A CHECK that was called and has not approved is none that was not called.
    if (turn.draft.run.rules >= 6 && failedCalls.includes(index)) return true
    return !areCallsMade || turn.draft.fired.get(index) > 0
  })
}

function isPhaseOver({ draft }: Turn, node: number): boolean {
  return !draft.phases.get(draft.nodeOf(node).phase).isActive
}

/**
 * Promotes work that waits for its calls if nothing is left to wait for. Returns whether the node is not done
 * yet, so that it does not lead on.
 */
export function promotesAfterCalls(turn: Turn, node: number): boolean {
  if (turn.draft.run.rules < 5 || turn.node(node).status !== 'approved') return false
  if (judgingCalls(turn, node).length === 0) return false
  promoteStage(turn, node, true)
  return turn.node(node).status !== 'approved'
}

/**
 * Promotes what a called CHECK has approved. Returns whether the CHECK has to rest until then: what it leads
 * to sees the work in place.
 */
export function isPlacedFirst(turn: Turn, check: number): boolean {
  const caller = turn.draft.run.rules < 5 ? -1 : turn.callerOf(check)
  if (caller === -1 || !promotesAfterCalls(turn, caller)) return false
  turn.settle(check, 'resting', 'approved')
  return true
}

/** Lets the called CHECK that rests lead on, or take part in the failure: its work is in place, or is not. */
export function followPlaced(turn: Turn, caller: number, isPlaced: boolean): void {
  if (turn.draft.run.rules < 5) return
  for (const { target: check } of judgingCalls(turn, caller)) {
    if (turn.node(check).status !== 'resting' || turn.callerOf(check) !== caller) continue
    if (isPlaced) turn.later({ kind: 'done', node: check })
    else turn.settle(check, 'rejected', 'what it approved was not promoted')
  }
  const isOver = isPlaced && isPhaseOver(turn, caller) && !turn.node(caller).hasFired
  if (isOver && turn.draft.nodeOf(caller).calls.length > 0)
    turn.later({ kind: 'leave', node: caller, isPhaseEnded: true })
}

/** Returns whether a promotion became real that the run no longer waits for: it is recorded all the same. */
export function isLateAct({ run, nodes }: RunDraft, event: FlowEvent, place: number): boolean {
  if (event.type !== 'promoted' || event.action_id === null || place === -1) return false
  const { pending, work } = nodes.get(place)
  const isAwaited = run.ended === null && pending?.command === event.command
  if (run.rules < 4 || isAwaited) return false
  return !work.acts.some(({ actionId }) => actionId === event.action_id)
}

/**
 * Follows a promotion: promotes the approved dependents. Voids and reruns a dependent that was based on
 * another manifest of this node.
 */
export function followPromotion(turn: Turn, node: number): void {
  const { stage, dependents } = turn.node(node).work
  for (const dependent of dependents) {
    if (!standsOn(turn, dependent, node, stage)) {
      voidStage(turn, dependent, turn.idOf(node))
      const round = turn.draft.run.round + 1
      turn.later({ kind: 'enter', node: dependent, round, cause: 'rerun' })
    } else if (turn.node(dependent).status === 'approved') promoteStage(turn, dependent)
  }
}

function standsOn(turn: Turn, dependent: number, node: number, stage: RunStage | null): boolean {
  const base = turn
    .node(dependent)
    .work.stage?.standsOn.find(({ node_id }) => node_id === turn.idOf(node))
  // A stage that is no longer based on this one stays valid.
  return base === undefined || base.manifest === stage?.manifest
}

const HAS_STAGE: ReadonlySet<NodeStatus> = new Set(['done', 'provisional', 'approved'])

/** Returns whether the bases of an attempt still have the manifests that it saw when it began. */
export function areStagesSound(turn: Turn, bases: readonly StageBase[]): boolean {
  return bases.every(({ node_id, manifest }) => {
    const { stage } = turn.node(turn.draft.nodeNamed(node_id)).work
    return stage !== null && stage.manifest === manifest
  })
}

/** Takes back what a node made, and runs it again. */
export function runAgain(turn: Turn, node: number, why: string): void {
  takeBack(turn, node, why)
  enterAgain(turn, node)
}

export function enterAgain(turn: Turn, node: number): void {
  const round = turn.draft.run.round + 1
  turn.later({ kind: 'enter', node, round, cause: 'rerun' })
}

export function takeBack(turn: Turn, node: number, why: string): void {
  turn.settle(node, 'rejected', why)
  if (turn.draft.run.rules === 1) return
  voidDependents(turn, node)
  dismissApprovals(turn, node)
}

/** Voids every stage based on this one, each once. Their nodes run again when the run reaches them. */
export function voidDependents(turn: Turn, node: number): void {
  const { dependents } = turn.node(node).work
  for (const dependent of dependents) voidStage(turn, dependent, turn.idOf(node))
}

function voidStage(turn: Turn, first: number, base: string): void {
  const seen = new Set<number>()
  const open = [{ node: first, base }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { stage, dependents } = turn.node(next.node).work
    if (stage === null || stage.actionId !== null || seen.has(next.node)) continue
    seen.add(next.node)
    const node_id = turn.idOf(next.node)
    const values = { base: next.base, manifest: stage.manifest }
    turn.find({ code: 'flow.stage_void', node_id, action: 'rerun', values })
    turn.record({ kind: 'voided', node_id, base: next.base })
    const { status } = turn.node(next.node)
    // A person is asked about the next attempt: the question is withdrawn.
    if (turn.draft.run.rules >= 8 && status === 'waiting') stopAt(turn, next.node)
    if (isOpen(status) || HAS_STAGE.has(status)) turn.settle(next.node, 'rejected', 'stage void')
    dismissApprovals(turn, next.node)
    for (const dependent of dependents) open.push({ node: dependent, base: node_id })
  }
}

/**
 * Resets the CHECK nodes that approved a void version, or are asked about it, so that they judge the
 * next one. Before version 4 a question stayed open over a version that was no more.
 */
export function dismissApprovals(turn: Turn, node: number): void {
  for (const check of turn.draft.nodeOf(node).checks) {
    const { status, pending } = turn.node(check)
    const isAsked = turn.draft.run.rules >= 4 && pending !== null
    if (isAsked) turn.command({ type: 'stop', node_id: turn.idOf(check), stopped: pending.command })
    if (isAsked || status === 'resting') turn.settle(check, 'rejected', 'the work is run again')
  }
}

/** A node all of whose acts are undone runs again; one that keeps the act of another call does not. */
export function leaveUndone(turn: Turn, node: number): void {
  const { stage } = turn.node(node).work
  if (stage !== null && stage.actionId !== null) return turn.settle(node, 'done', 'complete')
  voidDependents(turn, node)
  turn.settle(node, 'rejected', 'rolled back')
  if (turn.draft.run.rules >= 4) dismissApprovals(turn, node)
}
