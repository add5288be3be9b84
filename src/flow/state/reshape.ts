/**
 * The state of a run for another compiled flow: what both flows name is taken over by name, what only
 * the new one has begins fresh. Counts that follow from the rest are counted again.
 */
import { isCallFirst } from '../compile/calls.ts'
import { compileFlow } from '../compile/compile.ts'
import type { CompiledFlow, CompiledSpan } from '../compile/compiled-flow.ts'
import { mapAt, spreadList } from '../compile/spread.ts'
import { isStuckStatus } from './draft.ts'
import type { FlowEvent } from './event.ts'
import {
  emptyState,
  isActing,
  isJudging,
  isOpen,
  NO_EDGE,
  type NodeState,
  type RunState,
  type SpanState,
} from './state.ts'
import { type Vector, VectorDraft, vectorElements } from './vector.ts'

/** Returns the flow that a run is walked by after an event; null if it stays the same. */
export function flowAfter(
  state: Pick<RunState, 'flow' | 'rules'>,
  event: FlowEvent,
): CompiledFlow | null {
  const { flow, rules } = state
  if (event.type === 'migrated') return migratedFlow(flow, rules, event)
  if (event.type !== 'list_read' || event.items === null) return null
  const map = mapAt(flow, flow.nodeIndex.get(event.node_id) ?? -1)
  const spread = map === null ? null : spreadList(flow, rules, map, event.items)
  return spread?.ok === true && spread.flow !== flow ? spread.flow : null
}

const migrated = new WeakMap<CompiledFlow, Map<string, CompiledFlow | null>>()

/** Null if the flow does not compile; `planMigration` refuses such a flow. */
export function migratedFlow(
  flow: CompiledFlow,
  rules: number,
  { to, flow: document }: Pick<Extract<FlowEvent, { type: 'migrated' }>, 'to' | 'flow'>,
): CompiledFlow | null {
  const known = migrated.get(flow) ?? new Map<string, CompiledFlow | null>()
  migrated.set(flow, known)
  const before = known.get(to)
  if (before !== undefined) return before
  const compilation = compileFlow(document, rules, flow.lists)
  const made = compilation.ok ? compilation.flow : null
  known.set(to, made)
  return made
}

export function reshape(state: RunState, to: CompiledFlow): RunState {
  const { flow: from } = state
  const fresh = emptyState(to)
  const nodes = reshapeNodes(state, fresh, from, to)
  const fired = reshapeFired(state, from, to)
  countArrivals(nodes, fired, to)
  const phases = reshapeSpans(state.phases, fresh.phases, from.phaseIndex, to.phases, nodes)
  const subphases = reshapeSpans(
    state.subphases,
    fresh.subphases,
    from.subphaseIndex,
    to.subphases,
    nodes,
  )
  const claimNodes = new Map(fresh.claimNodes)
  nodes.forEach(({ work }, index) => {
    for (const { claim } of work.claims) claimNodes.set(claim.claim_id, index)
  })
  const known = Object.entries(state.fields).filter(([name]) => Object.hasOwn(fresh.fields, name))
  return {
    ...state,
    ...countsOf(nodes, [...phases, ...subphases]),
    backs: reshapeBacks(state, from, to),
    stuck: stuckOf(nodes, phases),
    flow: to,
    fields: { ...fresh.fields, ...Object.fromEntries(known) },
    claimNodes,
    nodes: vectorOf(fresh.nodes, nodes),
    fired: vectorOf(fresh.fired, fired),
    phases: vectorOf(fresh.phases, phases),
    subphases: vectorOf(fresh.subphases, subphases),
  }
}

type WritableNode = { -readonly [K in keyof NodeState]: NodeState[K] }

function reshapeNodes(
  state: RunState,
  fresh: RunState,
  from: CompiledFlow,
  to: CompiledFlow,
): WritableNode[] {
  const before = vectorElements(state.nodes)
  const nodeNow = (index: number): number[] => {
    const place = to.nodeIndex.get(from.nodes[index]?.nodeId ?? '')
    return place === undefined ? [] : [place]
  }
  const edgeNow = (index: number): number[] => {
    const edge = to.edgeById.get(from.edges[index]?.edgeId ?? '')
    return edge === undefined ? [] : [edge.index]
  }
  // A call that the source waits for stays failed without its edge, until a person lets the node go on.
  const failedNow = (index: number): number[] => {
    const edge = from.edges[index]
    const now = edgeNow(index)
    return now.length === 0 && edge !== undefined && isCallFirst(edge) ? [NO_EDGE] : now
  }
  return vectorElements(fresh.nodes).map((node, index) => {
    const known = before[from.nodeIndex.get(to.nodes[index]?.nodeId ?? '') ?? -1]
    if (known === undefined) return { ...node }
    const { work, call, calls, failedCalls } = known
    const ids = new Set(work.claims.map(({ claim }) => claim.claim_id))
    return {
      ...known,
      synced: 0,
      joined: 0,
      reached: 0,
      calls: calls.length === 0 ? calls : calls.flatMap(edgeNow),
      failedCalls: failedCalls.length === 0 ? failedCalls : failedCalls.flatMap(failedNow),
      call: call === -1 ? call : (edgeNow(call)[0] ?? -1),
      work:
        work.approvals.length +
          work.dependents.length +
          work.claims.length +
          node.work.claims.length ===
        0
          ? work
          : {
              ...work,
              approvals: work.approvals.flatMap(nodeNow),
              dependents: work.dependents.flatMap(nodeNow),
              claims: [
                ...work.claims,
                ...node.work.claims.filter(({ claim }) => !ids.has(claim.claim_id)),
              ],
            },
    }
  })
}

function reshapeFired({ fired }: RunState, from: CompiledFlow, to: CompiledFlow): number[] {
  const before = vectorElements(fired)
  return to.edges.map(({ edgeId }) => {
    const known = from.edgeById.get(edgeId)
    return known === undefined ? 0 : (before[known.index] ?? 0)
  })
}

/** A way back that waits leads to a node that the new flow has, since a node under way is kept. */
function reshapeBacks(
  { backs }: RunState,
  from: CompiledFlow,
  to: CompiledFlow,
): RunState['backs'] {
  return backs.flatMap(({ edge, node, round }) => {
    const now = to.edgeById.get(from.edges[edge]?.edgeId ?? '')
    const place = to.nodeIndex.get(from.nodes[node]?.nodeId ?? '')
    return now === undefined || place === undefined ? [] : [{ edge: now.index, node: place, round }]
  })
}

function countArrivals(nodes: WritableNode[], fired: readonly number[], to: CompiledFlow): void {
  for (const { index, target, arrival } of to.edges) {
    const node = nodes[target]
    if (node === undefined || arrival === null || (fired[index] ?? 0) === 0) continue
    if (arrival === 'sync') node.synced += 1
    else if (arrival === 'join') node.joined += 1
    else node.reached += 1
  }
}

function reshapeSpans(
  before: Vector<SpanState>,
  fresh: Vector<SpanState>,
  places: ReadonlyMap<string, number>,
  spans: readonly CompiledSpan[],
  nodes: readonly NodeState[],
): SpanState[] {
  const known = vectorElements(before)
  return vectorElements(fresh).map((span, index) => {
    const { name = '', nodes: members = [] } = spans[index] ?? {}
    const statuses = members.map((node) => nodes[node]?.status ?? 'idle')
    return {
      ...(known[places.get(name) ?? -1] ?? span),
      open: statuses.filter(isOpen).length,
      judging: members.filter((node) => isJudging(nodes[node]?.status ?? 'idle')),
      blocked: statuses.filter((status) => status === 'blocked').length,
    }
  })
}

function countsOf(nodes: readonly NodeState[], spans: readonly SpanState[]) {
  const count = (isOne: (node: NodeState) => boolean): number => nodes.filter(isOne).length
  return {
    open: count(({ status }) => isOpen(status)),
    acting: count(({ status }) => isActing(status)),
    waiting: count(({ status }) => status === 'waiting'),
    failed: count(({ status }) => status === 'failed'),
    spansPending: spans.filter(({ pending }) => pending !== null).length,
    calling: nodes.reduce((sum, { awaited }) => sum + awaited, 0),
  }
}

function stuckOf(nodes: readonly NodeState[], phases: readonly SpanState[]): number {
  return (
    nodes.filter(({ status }) => isStuckStatus(status)).length +
    nodes.filter(({ isHeld }) => isHeld).length +
    phases.filter(({ isBlocked }) => isBlocked).length
  )
}

function vectorOf<T>(fresh: Vector<T>, elements: readonly T[]): Vector<T> {
  const draft = new VectorDraft(fresh)
  elements.forEach((element, index) => {
    draft.set(index, element)
  })
  return draft.finish()
}
