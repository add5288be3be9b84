/**
 * `writ flow skip`: lets a run pass a node without its work. What the node staged is dropped; the run
 * goes on as if it were done. A CHECK is not skipped: it is answered, or its work is skipped.
 */
import { type FaultError, faultError, showName } from '../../base/index.ts'
import { canSkip, elementAt } from '../../flow/index.ts'
import type { CommandCall, Exit } from '../call/command.ts'
import { usageError } from '../call/command.ts'
import { giveOrder, withPersonsRun } from '../flow/order.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, nodeId] = call.arguments
  const comment = call.options.text('comment')
  if (runName === undefined || nodeId === undefined || comment === null || comment.trim() === '')
    throw usageError(
      'say the run, the node, and why',
      'writ flow skip RUN NODE --comment "why it is not needed"',
    )
  return withPersonsRun(call, runName, 'skipping a node', async (persons) => {
    const { flow, state, runId } = persons.run
    const node = flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]
    if (node === undefined) throw notThere(nodeId, runId)
    const { kind, target } = node.document
    if (kind === 'CHECK') throw noCheck(nodeId, target ?? null, runId)
    const at = elementAt(state.nodes, node.index)
    if (state.ended !== null || !canSkip(kind, at)) throw notAt(nodeId, at.status, runId)
    const { principal } = persons
    const order = { kind: 'skip' as const, node_id: nodeId, principal, comment }
    return giveOrder(call, persons, { ...order, entries: at.entries })
  })
}

function notThere(nodeId: string, runId: string): FaultError {
  const message = `the flow has no node ${showName(nodeId)}`
  return faultError('flow.not_waiting', nodeId, message, `writ flow status ${runId}`)
}

function noCheck(nodeId: string, target: string | null, runId: string): FaultError {
  const message = `${showName(nodeId)} is a CHECK, and a CHECK is not skipped: nothing may pass unjudged`
  const work =
    target === null ? '' : `, or skip the work: writ flow skip ${runId} ${target} --comment TEXT`
  return faultError(
    'flow.not_waiting',
    nodeId,
    message,
    `answer it (writ flow status ${runId})${work}`,
  )
}

function notAt(nodeId: string, status: string, runId: string): FaultError {
  const message = `${showName(nodeId)} is ${status}: the run is not at it, so there is nothing to skip`
  return faultError('flow.not_waiting', nodeId, message, `writ flow status ${runId}`)
}
