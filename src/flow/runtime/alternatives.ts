/**
 * Where one of several is enough. Alternatives (F-12): Decision edges of one group lead to candidates of
 * which one is needed. One runs at a time, in the order of the flow, then by fewest attempts; the first
 * that is done wins and the rest are abandoned; one that failed is not chosen again.
 *
 * Branches: a goal with Sync edges that say `join: OR` needs one of them. When it is done, what leads
 * nowhere but to it is not needed any more. What is under way there is stopped, what waits for a person is
 * withdrawn, and nothing of it is promoted. A promotion or rollback under way ends first.
 */
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import { isOpen, type NodeStatus } from '../state/state.ts'
import { mayCross } from './border.ts'
import { escalate } from './enter.ts'
import { firstOpen } from './passage.ts'
import { voidDependents } from './stage.ts'
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
    const statuses = edges.map(({ target }) => statusAt(turn, source, target))
    const isWaiting = statuses.every((status) => status === 'idle' || status === 'abandoned')
    if (isWaiting && statuses.includes('idle')) chooseNext(turn, source, edges)
  }
}

function chooseNext(turn: Turn, source: number, edges: readonly CompiledEdge[]): void {
  // It runs again, or a person is asked about it already.
  if (turn.draft.run.rules >= 4 && isOpen(turn.node(source).status)) return
  const statuses = edges.map(({ target }) => statusAt(turn, source, target))
  if (statuses.some((status) => isOpen(status) || status === 'done')) return
  const idle = edges.filter((_, index) => statuses[index] === 'idle')
  // None of these was tried in this round, so the order of the flow, which is that of priority, decides.
  const { way: next } = firstOpen(turn, idle, 'aside')
  if (next === null) {
    const values = { edges: edges.map(({ document }) => document.edge_id) }
    const node_id = turn.idOf(source)
    turn.find({ code: 'flow.decision_none', node_id, action: 'escalate', values })
    return escalate(turn, source, 'no alternative is left')
  }
  // A goal is reached through its candidates; anything else leads on to them.
  const isGoal = turn.draft.nodeOf(source).document.kind === 'GOAL'
  if (!isGoal && !mayCross(turn, source, next.edge.target)) return
  const round = Math.max(turn.draft.run.round, 1)
  turn.recordFired(next, round)
  turn.later({ kind: 'enter', node: next.edge.target, round, cause: 'alternative' })
}

/** Returns what a candidate is at in the round of its choice: one of an earlier round can be chosen again. */
function statusAt({ draft }: Turn, source: number, candidate: number): NodeStatus {
  const { status, round } = draft.nodes.get(candidate)
  const isGoal = draft.nodeOf(source).document.kind === 'GOAL'
  if (draft.run.rules < 5 || isGoal || isOpen(status)) return status
  return round < draft.nodes.get(source).round ? 'idle' : status
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

/** A candidate has failed: the next one is chosen. False if it was not chosen itself. */
export function loseGroups(turn: Turn, candidate: number): boolean {
  const isChosen = ({ index }: CompiledEdge): boolean =>
    turn.draft.run.rules < 10 || turn.draft.fired.get(index) > 0
  const edges = groupEdgesInto(turn, candidate).filter(isChosen)
  if (edges.length === 0) return false
  turn.settle(candidate, 'abandoned', 'failed')
  for (const edge of edges) chooseNext(turn, edge.source, rivalsOf(turn, edge))
  return true
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

/** Ends the branches that a goal has no use for. */
export function endBranches(turn: Turn, goal: number): void {
  const round = turn.node(goal).round
  for (const node of branchesTo(turn, goal)) {
    const { status, pending, round: known } = turn.node(node)
    if (status === 'done' || status === 'promoting' || status === 'rolling_back') continue
    if (status === 'abandoned') continue
    const node_id = turn.idOf(node)
    if (pending !== null) turn.command({ type: 'stop', node_id, stopped: pending.command })
    voidDependents(turn, node)
    turn.settle(node, 'abandoned', `${turn.idOf(goal)} is done`)
    if (turn.node(node).isHeld) turn.record({ kind: 'released', node_id })
    if (known < round) turn.record({ kind: 'joined', node_id, round })
  }
}

/** Nodes all of whose ways on lead to the goal, and the CHECK nodes that judge them. */
function branchesTo(turn: Turn, goal: number): readonly number[] {
  const found = new Set<number>([goal])
  const queue = [goal]
  for (const node of queue) {
    const { incoming, checks } = turn.draft.nodeOf(node)
    const sources = incoming.flatMap(({ isForward, source }) => (isForward ? [source] : []))
    // Nothing judges work that is ended.
    const isEnded = turn.draft.run.rules >= 5 && turn.node(node).status !== 'done'
    for (const before of [...(node === goal ? [] : checks), ...sources]) {
      const isOver = isEnded && checks.includes(before)
      if (found.has(before)) continue
      const ended =
        isOver || leadsOnlyInto(turn, before, found) ? [before] : judgedBranch(turn, before, found)
      for (const one of ended) found.add(one)
      queue.push(...ended)
    }
  }
  found.delete(goal)
  return [...found]
}

/**
 * Returns the work of a CHECK with all of its CHECK nodes, if none of them leads on to anything else; else
 * nothing. Earlier rules kept such a branch, which then was promoted for a goal that was reached without it.
 */
function judgedBranch(turn: Turn, check: number, found: ReadonlySet<number>): readonly number[] {
  const { target: work } = turn.draft.nodeOf(check)
  if (turn.draft.run.rules < 6 || work === -1 || turn.node(work).status === 'done') return []
  const branch = [work, ...turn.draft.nodeOf(work).checks]
  const leadsElsewhere = (node: number): boolean =>
    turn.draft.nodeOf(node).outgoing.some(({ isForward, document, target }) => {
      // Work that is ended is not rejected any more.
      const isWay = isForward || (node === work && document.class === 'Exception')
      return isWay && !found.has(target) && !branch.includes(target)
    })
  return branch.some(leadsElsewhere) ? [] : branch
}

function leadsOnlyInto(turn: Turn, node: number, found: ReadonlySet<number>): boolean {
  const { outgoing, checks, target } = turn.draft.nodeOf(node)
  const isInside = ({ target: next }: { readonly target: number }): boolean =>
    found.has(next) || checks.includes(next)
  const ways = outgoing.filter(
    ({ isForward, document }) => isForward || document.class === 'Exception',
  )
  // A CHECK is needed as long as the work that it judges is.
  if (target !== -1 && !found.has(target)) return false
  return (target !== -1 || ways.length > 0) && ways.every(isInside)
}
