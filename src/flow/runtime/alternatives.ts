/**
 * Alternatives (F-12): Decision edges of one group lead to candidates of which one is needed. One runs
 * at a time, in the order of the flow, then by fewest attempts; the first that is done wins and the
 * rest are abandoned; one that failed is not chosen again.
 */
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import { isOpen } from '../state/state.ts'
import { mayCross } from './border.ts'
import { escalate } from './enter.ts'
import { isGuardOpen } from './judge.ts'
import type { Turn } from './turn.ts'

/** Groups that begin at a node, each once. */
function groupsOf(turn: Turn, source: number): ReadonlyMap<string, readonly CompiledEdge[]> {
  const groups = new Map<string, CompiledEdge[]>()
  for (const edge of turn.draft.nodeOf(source).outgoing) {
    const group = edge.document.group_id
    if (edge.document.class !== 'Decision' || group === undefined) continue
    const list = groups.get(group)
    if (list === undefined) groups.set(group, [edge])
    else list.push(edge)
  }
  return groups
}

export function openGroups(turn: Turn, source: number): void {
  for (const edges of groupsOf(turn, source).values()) chooseNext(turn, source, edges)
}

/** Chooses in the groups of a node whose next candidate waited for the end of the phase. */
export function openLate(turn: Turn, source: number): void {
  for (const edges of groupsOf(turn, source).values()) {
    const statuses = edges.map(({ target }) => turn.node(target).status)
    const isWaiting = statuses.every((status) => status === 'idle' || status === 'abandoned')
    if (isWaiting && statuses.includes('idle')) chooseNext(turn, source, edges)
  }
}

function chooseNext(turn: Turn, source: number, edges: readonly CompiledEdge[]): void {
  const targets = edges.map(({ target }) => turn.node(target))
  if (targets.some(({ status }) => isOpen(status) || status === 'done')) return
  const idle = edges.filter(({ target }) => turn.node(target).status === 'idle')
  // The sort keeps the order of the flow among equals, which is the order of priority.
  const next = idle
    .toSorted((one, other) => turn.node(one.target).attempts - turn.node(other.target).attempts)
    .find((edge) => isGuardOpen(turn, edge))
  if (next === undefined) {
    const values = { edges: edges.map(({ document }) => document.edge_id) }
    const node_id = turn.idOf(source)
    turn.find({ code: 'flow.decision_none', node_id, action: 'escalate', values })
    return escalate(turn, source, 'no alternative is left')
  }
  // A goal is reached through its candidates; anything else leads on to them.
  const isGoal = turn.draft.nodeOf(source).document.kind === 'GOAL'
  if (!isGoal && !mayCross(turn, source, next.target)) return
  const round = Math.max(turn.draft.run.round, 1)
  turn.record({ kind: 'fired', edge_id: next.document.edge_id, round })
  turn.later({ kind: 'enter', node: next.target, round, cause: 'alternative' })
}

/** A candidate is done: the others of its groups are abandoned. */
export function winGroups(turn: Turn, candidate: number): void {
  for (const edge of groupEdgesInto(turn, candidate)) {
    for (const rival of rivalsOf(turn, edge)) {
      if (rival.target === candidate || turn.node(rival.target).status !== 'idle') continue
      turn.settle(rival.target, 'abandoned', `${turn.idOf(candidate)} is done`)
    }
  }
}

/** A candidate has failed: the next one is chosen. False when it is no candidate. */
export function loseGroups(turn: Turn, candidate: number): boolean {
  const edges = groupEdgesInto(turn, candidate)
  for (const edge of edges) chooseNext(turn, edge.source, rivalsOf(turn, edge))
  return edges.length > 0
}

function groupEdgesInto(turn: Turn, node: number): readonly CompiledEdge[] {
  return turn.draft
    .nodeOf(node)
    .incoming.filter(
      ({ document }) => document.class === 'Decision' && document.group_id !== undefined,
    )
}

function rivalsOf(turn: Turn, { source, document }: CompiledEdge): readonly CompiledEdge[] {
  return groupsOf(turn, source).get(document.group_id ?? '') ?? []
}
