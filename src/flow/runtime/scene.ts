/**
 * What an expression sees: the host's fields as they are for one node, folded over a span, the flow's
 * own fields, the event, the node and the edge.
 *
 * Without a scope each field has the span of its definition: time is of the phase, attempts, tools and
 * rejections are of the node.
 */
import type { FlowEdge } from '../../contracts/index.ts'
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import { judgedIn } from '../state/firings.ts'
import type { SpanState, WorkState } from '../state/state.ts'
import { hasWaysBehindCalls } from './border.ts'
import { doneItems } from './map.ts'
import type { Turn } from './turn.ts'

export type GuardScope = NonNullable<FlowEdge['guard_scope']>
export type SceneValues = Readonly<Record<string, unknown>>

/** What is going on, for `event` in expressions. */
export interface Occasion {
  readonly isPhaseStart?: boolean
  readonly isPhaseEnd?: boolean
  readonly isTransition?: boolean
}

export const TRANSITION: Occasion = { isTransition: true }

/** The node that fields are about: a CHECK speaks of the work it judges. */
export function subjectOf({ draft }: Turn, node: number): number {
  const { target } = draft.nodeOf(node)
  return target === -1 ? node : target
}

export function sceneOf(
  turn: Turn,
  node: number,
  edge: CompiledEdge | null,
  occasion: Occasion,
  scope: GuardScope | null,
): SceneValues {
  return {
    state: stateOf(turn, node, scope, true),
    event: occasionOf(turn, node, edge, occasion),
    node: turn.draft.nodeOf(node).document,
    edge: edge === null ? null : edge.document,
  }
}

/** The scene of a guard: at a node with a way back, attempts are rounds of that way. */
export function guardScene(turn: Turn, edge: CompiledEdge): SceneValues {
  const scene = plainScene(turn, edge)
  const rounds = turn.draft.run.rules < 2 ? 0 : roundsAt(turn, edge)
  if (rounds === 0) return scene
  // The scene has an object of fields there.
  const state = scene['state'] as SceneValues
  return { ...scene, state: { ...state, attempt_count: rounds } }
}

/**
 * Returns the round that a Loop or Rollback out of a node is in: the most attempts of the node and of
 * those that its ways back lead to, since each was last reached by a way on. Returns 0 if the node has
 * no way back, or if the guard counts over a span.
 */
function roundsAt(turn: Turn, { source, document }: CompiledEdge): number {
  const { outgoing } = turn.draft.nodeOf(source)
  const isOfSpan = (document.guard_scope ?? 'attempt') !== 'attempt'
  if (isOfSpan || !outgoing.some(({ isBack }) => isBack)) return 0
  const targets = outgoing.flatMap(({ isBack, target }) => (isBack ? [target] : []))
  const judged =
    turn.draft.run.rules < 5 ? [] : targets.map((target) => judgedIn(turn.draft, target))
  const nodes = [subjectOf(turn, source), ...targets, ...judged]
  return Math.max(...nodes.map((node) => turn.node(node).attempts))
}

/** The scene of a guard, which most often speaks of plain fields alone: the rest is left out then. */
function plainScene(turn: Turn, edge: CompiledEdge): SceneValues {
  const scope = edge.document.guard_scope ?? null
  if (!edge.isGuardPlain) return sceneOf(turn, edge.source, edge, TRANSITION, scope)
  return { state: stateOf(turn, edge.source, scope, false) }
}

function occasionOf(
  turn: Turn,
  node: number,
  edge: CompiledEdge | null,
  occasion: Occasion,
): SceneValues {
  const { document, subphase } = turn.draft.nodeOf(node)
  return {
    type: turn.event.type,
    phase_start: occasion.isPhaseStart ?? false,
    phase_end: occasion.isPhaseEnd ?? false,
    subphase_end: (occasion.isPhaseEnd ?? false) && subphase >= 0,
    transition: occasion.isTransition ?? false,
    attempt_end: turn.event.type === 'attempt_ended' || turn.event.type === 'passed',
    edge_id: edge === null ? null : edge.document.edge_id,
    node_id: document.node_id,
    at: turn.event.at,
    caller: callerName(turn, node),
  }
}

function callerName(turn: Turn, node: number): string | null {
  const caller = turn.callerOf(node)
  return caller === -1 ? null : turn.idOf(caller)
}

/** Whether the phase is complete is looked up only where it is asked for. */
function stateOf(
  turn: Turn,
  node: number,
  scope: GuardScope | null,
  asksCompletion: boolean,
): SceneValues {
  const { draft } = turn
  const subject = subjectOf(turn, node)
  const { phase, document } = draft.nodeOf(node)
  const { attempts, work } = turn.node(subject)
  const span = draft.phases.get(phase)
  const counted = countsOf(turn, subject, scope)
  const items = doneItems(turn, node)
  const fields = {
    phase_id: document.phase_id,
    subphase_id: document.subphase_id ?? null,
    attempt_count: counted.attempts ?? attempts,
    cumulative_duration: counted.seconds ?? span.seconds,
    minimum_duration: counted.minimum ?? turn.flow.phases[phase]?.minimumDuration ?? 0,
    validator_verdict: work.verdict,
    gate_passed: work.gatePassed,
    required_files_exist: work.filesExist || draft.nodeOf(subject).isBare,
    tool_calls: counted.toolCalls ?? work.toolCalls,
    rejection_count: counted.rejections ?? work.rejections,
    score: work.score,
    previous_output_path: (work.artifact ?? work.previous)?.path ?? null,
    log_updated_after_phase: span.isLogged,
    non_time_issue: span.hasOtherIssue,
    phase_completed: asksCompletion && isPhaseCompleted(turn, node),
    ...(items === null ? {} : itemFields(turn, items)),
  }
  // The flow's own fields have other names than the host's: its contract sees to that.
  return turn.flow.document.state === undefined ? fields : { ...draft.run.fields, ...fields }
}

/** What a mapped node is judged by: all its items that are done, and of their scores the least. */
function itemFields(turn: Turn, items: readonly number[]): SceneValues {
  const works = items.map((item) => turn.node(item).work)
  const isEach = (holds: (work: WorkState) => boolean): boolean => works.every(holds)
  const scores = works.flatMap(({ score }) => (score === null ? [] : [score]))
  const sum = (of: (work: WorkState) => number): number =>
    works.reduce((total, work) => total + of(work), 0)
  return {
    validator_verdict: isEach(({ verdict }) => verdict === 'APPROVE') ? 'APPROVE' : 'PENDING',
    gate_passed: isEach(({ gatePassed }) => gatePassed),
    required_files_exist: true,
    tool_calls: sum(({ toolCalls }) => toolCalls),
    rejection_count: sum(({ rejections }) => rejections),
    score: scores.length === 0 ? null : Math.min(...scores),
  }
}

interface Counts {
  readonly attempts?: number
  readonly seconds?: number
  readonly minimum?: number
  readonly toolCalls?: number
  readonly rejections?: number
}

const NO_COUNTS: Counts = {}

function countsOf(turn: Turn, subject: number, scope: GuardScope | null): Counts {
  const { draft, flow } = turn
  const { phase, subphase, document } = draft.nodeOf(subject)
  switch (scope) {
    case null:
      return NO_COUNTS
    case 'attempt': {
      const { attempts, work } = turn.node(subject)
      const { seconds, toolCalls, rejections } = work
      return { attempts, seconds, toolCalls, rejections, minimum: document.minimum_duration ?? 0 }
    }
    case 'subphase':
      // A node in no sub-phase has its phase for one.
      return subphase >= 0
        ? spanCounts(draft.subphases.get(subphase), flow.subphases[subphase]?.minimumDuration)
        : spanCounts(draft.phases.get(phase), flow.phases[phase]?.minimumDuration)
    case 'phase':
      return spanCounts(draft.phases.get(phase), flow.phases[phase]?.minimumDuration)
    case 'global': {
      const { attempts, seconds, toolCalls, rejections } = draft.run.totals
      return { attempts, seconds, toolCalls, rejections, minimum: flow.minimumDuration }
    }
    default:
      return scope satisfies never
  }
}

function spanCounts(span: SpanState, minimum: number | undefined): Counts {
  const { attempts, seconds, toolCalls, rejections } = span
  return { attempts, seconds, toolCalls, rejections, minimum: minimum ?? 0 }
}

/** Nothing of the phase is open, and this node has no way left within it. */
function isPhaseCompleted(turn: Turn, node: number): boolean {
  const { phase, outgoing } = turn.draft.nodeOf(node)
  const span = turn.draft.phases.get(phase)
  if (span.open > 0 || hasWaysBehindCalls(turn, turn.flow.phases[phase]?.nodes ?? [])) return false
  return !outgoing.some(
    (edge) =>
      edge.isForward &&
      !edge.isLeaving &&
      !edge.isReview &&
      !edge.isCall &&
      edge.document.class !== 'Decision' &&
      turn.draft.fired.get(edge.index) === 0,
  )
}
