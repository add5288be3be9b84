/**
 * What is ended before it comes to its end: by a person all of a run, or one node; by a new round what is
 * under way in the round before.
 *
 * A node that is skipped counts as done without what it would have made: its stage is void, so nothing
 * of it becomes real. A CHECK is never skipped by itself; the CHECK nodes of skipped work are passed
 * with it, each with a finding, and give no approval.
 *
 * What is under way when something that it followed runs again is of the round that is left behind: it is
 * stopped, and runs when the run comes there again (version 5 of the rules). A promotion comes to its end.
 */
import type { EventOf } from '../state/event.ts'
import { ledTo, regionAt } from '../state/firings.ts'
import { isOpen, type NodeState, type NodeStatus } from '../state/state.ts'
import { dismissApprovals, voidDependents } from './stage.ts'
import type { Turn } from './turn.ts'

const SKIPPED_AT: ReadonlySet<NodeStatus> = new Set([
  'running',
  'submitted',
  'waiting',
  'provisional',
  'rejected',
  'blocked',
  'failed',
])

/** Returns whether a node of this kind can be skipped where it is. */
export function canSkip(kind: string, { status }: Pick<NodeState, 'status'>): boolean {
  return kind !== 'CHECK' && SKIPPED_AT.has(status)
}

/** Ends every attempt and every wait, and the run. */
export function cancel(turn: Turn): void {
  for (let node = 0; node < turn.flow.nodes.length; node++) stopAt(turn, node)
  turn.record({ kind: 'ended', status: 'CANCELLED' })
}

export function stopAt(turn: Turn, node: number): void {
  const { pending } = turn.node(node)
  if (pending !== null)
    turn.command({ type: 'stop', node_id: turn.idOf(node), stopped: pending.command })
}

export function skip(turn: Turn, node: number, event: EventOf<'skipped'>): void {
  const { principal, comment } = event
  const { checks } = turn.draft.nodeOf(node)
  const node_id = turn.idOf(node)
  const judged = checks.map((check) => turn.idOf(check))
  const values = { by: principal, comment, ...(judged.length === 0 ? {} : { checks: judged }) }
  turn.find({ code: 'flow.skipped', node_id, action: 'alert', values })
  stopAt(turn, node)
  dropStage(turn, node)
  turn.settle(node, 'rejected', 'skipped')
  turn.later({ kind: 'done', node })
  for (const check of checks) {
    const passed = { by: principal, comment, work: node_id }
    turn.find({ code: 'flow.skipped', node_id: turn.idOf(check), action: 'alert', values: passed })
    stopAt(turn, check)
    turn.settle(check, 'rejected', 'its work was skipped')
    turn.later({ kind: 'done', node: check })
  }
}

export function dropStage(turn: Turn, node: number): void {
  const { stage } = turn.node(node).work
  if (stage === null || stage.actionId !== null) return
  voidDependents(turn, node)
  turn.record({ kind: 'voided', node_id: turn.idOf(node), base: turn.idOf(node) })
}

const ACTING: ReadonlySet<NodeStatus> = new Set(['promoting', 'rolling_back'])

/** Stops the nodes under way that a node has led to or has called, and drops what they staged. */
export function stopFollowing(turn: Turn, from: number): void {
  const left = ledTo(turn.draft, from)
  const called = turn.draft.run.rules < 6 ? [] : leaveCalls(turn, [from, ...left])
  for (const node of new Set([...left, ...called])) {
    const { status } = turn.node(node)
    if ((!isOpen(status) && status !== 'approved') || ACTING.has(status)) continue
    stopAt(turn, node)
    dropStage(turn, node)
    turn.settle(node, 'rejected', 'left behind')
    dismissApprovals(turn, node)
  }
}

/** Ends the calls of these nodes, and those made within them; returns the nodes that the calls have come to. */
function leaveCalls(turn: Turn, callers: readonly number[]): readonly number[] {
  const found = new Set(callers)
  for (const caller of found) {
    for (const { index, edgeId: edge_id, target, isCall } of turn.draft.nodeOf(caller).outgoing) {
      const { call, calls, callRound } = turn.node(target)
      if (!isCall || (call !== index && !calls.includes(index))) continue
      const region = call === index ? regionAt(turn.flow, target) : []
      for (const node of region) if (turn.node(node).round >= callRound) found.add(node)
      turn.record({ kind: 'returned', edge_id, outcome: 'left' })
    }
  }
  for (const caller of callers) found.delete(caller)
  return [...found]
}
