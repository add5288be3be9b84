/**
 * A stalled run: nothing is under way, no person is asked, and no node is blocked, yet some node
 * waits for another one. Such a node is blocked, with a finding that says what it waits for, so that
 * every stop has a reason and a way out.
 */
import { isStuckStatus } from '../state/draft.ts'
import { isOpen } from '../state/state.ts'
import { block } from './enter.ts'
import { missingApprovals } from './review.ts'
import type { Turn } from './turn.ts'

/** Blocks the nodes at which the run is stalled; false when it is not. */
export function findStalled(turn: Turn): boolean {
  const { open, stuck, acting, waiting, spansPending, ended, isRefused } = turn.draft.run
  if (open + stuck === 0 || acting + waiting + spansPending > 0) return false
  if (ended !== null || isRefused || isExplained(turn)) return false
  const stalled = turn.flow.nodes.filter(({ index }) => isWaitingForNothing(turn, index))
  for (const { index } of stalled) block(turn, index, 'flow.stalled', stallValues(turn, index))
  return stalled.length > 0
}

/** Something has a finding already, and goes on when a person lets it. */
function isExplained(turn: Turn): boolean {
  const { nodes, phases } = turn.flow
  return (
    nodes.some(({ index }) => {
      const { status, isHeld } = turn.node(index)
      return status === 'blocked' || isHeld
    }) || phases.some(({ index }) => turn.draft.phases.get(index).isBlocked)
  )
}

/** A CHECK that has approved waits for the node that it judges; the stop is there. */
function isWaitingForNothing(turn: Turn, node: number): boolean {
  const { status } = turn.node(node)
  if (!isOpen(status) && !isStuckStatus(status)) return false
  const { target } = turn.draft.nodeOf(node)
  if (status !== 'resting' || target === -1) return true
  const { status: judged } = turn.node(target)
  return !isOpen(judged) && !isStuckStatus(judged)
}

function stallValues(turn: Turn, node: number): Readonly<Record<string, unknown>> {
  const { status, work } = turn.node(node)
  const checks = missingApprovals(turn, node).map((check) => turn.idOf(check))
  const below = work.stage?.standsOn.map(({ node_id }) => node_id) ?? []
  return {
    status,
    ...(checks.length === 0 ? {} : { waits_for_checks: checks }),
    ...(status === 'approved' && below.length > 0 ? { waits_for_stages: below } : {}),
  }
}
