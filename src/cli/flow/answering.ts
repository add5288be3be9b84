/**
 * What the commands share by which a person answers a run: the person is proved, the run and the node
 * are found, and the order is left for the process that walks the run.
 */
import { type FaultError, faultError, nearest, showName } from '../../base/index.ts'
import { type CompiledFlow, nodeName, ownIdOf, stopsOf } from '../../flow/index.ts'
import { type FlowHost, findRun, lookAtRun, type Order, type WalkedRun } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { proveHuman, refuseOthers } from '../call/home.ts'
import { type Handed, handedText, handOrder } from './hand-order.ts'
import { withFlows } from './open.ts'
import { passBefore } from './passed.ts'

export interface Addressed {
  readonly host: FlowHost
  readonly run: WalkedRun
  readonly nodeId: string
}

/** Only a human answers (I1). `make` makes the order, or fails with the reason; `told` is added to JSON. */
export function answerRun(
  call: CommandCall,
  [runName, nodeGiven]: readonly [string, string],
  make: (asked: Addressed) => Promise<Order>,
  told: () => Readonly<Record<string, unknown>> = () => ({}),
): Promise<Exit> {
  return withFlows(call, async ({ host, gate }) => {
    refuseOthers(gate.session.caller, 'answering')
    await proveHuman(gate.session, call, 'answering')
    const { run_id } = await findRun(host.ledger, host.stream, runName)
    await passBefore(call, host, run_id)
    const run = await lookAtRun(host, run_id)
    const order = await make({ host, run, nodeId: findNode(run.flow, nodeGiven) })
    return recorded(call, run_id, await handOrder(host, run_id, order), told())
  })
}

const PART_MIN = 4

/** A node by its id, what its plan calls it, its title, or a part of its id that no other has. */
export function findNode(flow: CompiledFlow, given: string): string {
  if (flow.nodeIndex.has(given)) return given
  const byOwn = flow.nodes.filter(({ nodeId }) => ownIdOf(flow, nodeId) === given)
  const byTitle =
    byOwn.length > 0 ? byOwn : flow.nodes.filter(({ document }) => document.title === given)
  const isPart = (id: string): boolean => given.length >= PART_MIN && id.startsWith(given)
  const found = byTitle.length > 0 ? byTitle : flow.nodes.filter(({ nodeId }) => isPart(nodeId))
  const [only, ...others] = found.map(({ nodeId }) => nodeId)
  if (only !== undefined && others.length === 0) return only
  if (only === undefined) throw unknownNode(flow, given)
  const names = [only, ...others].map((id) => nodeName(flow, id)).join(', ')
  const message = `${showName(given)} may be ${names}`
  throw faultError('flow.node_ambiguous', given, message, 'name the node by its id')
}

function unknownNode(flow: CompiledFlow, given: string): FaultError {
  const near = nearest(given, [...flow.nodeIndex.keys()])
  const hint =
    near === null ? '`writ flow status` lists the nodes' : `the nearest node is ${showName(near)}`
  return faultError('flow.not_waiting', given, `the flow has no node ${showName(given)}`, hint)
}

async function recorded(
  { terminal, options }: CommandCall,
  runId: string,
  handed: Handed,
  told: Readonly<Record<string, unknown>>,
): Promise<Exit> {
  const next = handedText(handed, runId)
  const walked = handed === 'walked'
  await terminal.out(
    options.isOn('json')
      ? `${JSON.stringify({ ok: true, run_id: runId, walked, ...told })}\n`
      : `recorded; ${next}\n`,
  )
  return EXIT.yes
}

/** Says what a run does wait for at a node, and with which commands it goes on or ends. */
export function notWaiting(run: WalkedRun, nodeId: string, message: string): FaultError {
  const stop = stopsOf(run).find(({ node_id }) => node_id === nodeId)
  const hint =
    stop === undefined
      ? `\`writ flow status ${run.runId}\` tells what waits`
      : `${stop.says}: ${stop.next.join(', or ')}`
  return faultError('flow.not_waiting', nodeId, message, hint)
}
