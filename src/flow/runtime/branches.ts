/**
 * A goal that one of several branches is enough for (Sync edges with `join: OR`): when it is done, what
 * leads nowhere but to it is not needed any more. What is under way there is stopped, what waits for a
 * person is withdrawn, and nothing of it is promoted. A promotion or rollback under way ends first.
 */
import { voidDependents } from './stage.ts'
import type { Turn } from './turn.ts'

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
    for (const before of [...(node === goal ? [] : checks), ...sources]) {
      if (found.has(before) || !leadsOnlyInto(turn, before, found)) continue
      found.add(before)
      queue.push(before)
    }
  }
  found.delete(goal)
  return [...found]
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
