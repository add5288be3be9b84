/** Invariants that are judged while a node is under way. */
import type { FlowEvent } from '../state/event.ts'
import { isOpen } from '../state/state.ts'
import { isInvariantKept } from './judge.ts'
import { runAgain } from './stage.ts'
import type { Turn } from './turn.ts'

/** Judges periodic invariants: at each event for its node, and at each tick for every node that is open. */
export function judgePeriodic(turn: Turn, event: FlowEvent): void {
  const { periodic } = turn.flow
  const nodes =
    event.type === 'tick'
      ? turn.flow.nodes.map(({ index }) => index)
      : 'node_id' in event
        ? [turn.draft.nodeNamed(event.node_id)]
        : []
  for (const node of nodes) {
    for (const invariant of periodic) {
      if (!isOpen(turn.node(node).status)) break
      if (isInvariantKept(turn, invariant, node, null, {})) continue
      if (invariant.document.fail_action !== 'alert')
        interrupt(turn, node, invariant.document.fail_action)
    }
  }
}

function interrupt(turn: Turn, node: number, action: 'block' | 'rerun'): void {
  const { pending } = turn.node(node)
  if (pending !== null)
    turn.command({ type: 'stop', node_id: turn.idOf(node), stopped: pending.command })
  if (action === 'rerun') return runAgain(turn, node, 'invariant')
  turn.settle(node, 'blocked', 'invariant')
  turn.later({ kind: 'except', node })
}
