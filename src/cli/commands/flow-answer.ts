/**
 * `writ flow answer`: answers a run that waits for a person: try again, give up, it is there,
 * or, where the person is the participant, their answer. The process that walks the run takes it; if
 * there is none, `resume` does.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FaultError, faultError, showName } from '../../base/index.ts'
import {
  elementAt,
  type FlowCommand,
  type FlowFact,
  isStuckAt,
  outstanding,
} from '../../flow/index.ts'
import {
  findRun,
  isWalked,
  leaveOrder,
  loadRun,
  lookAtRun,
  type Order,
  unblockOrder,
} from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { proveHuman, refuseOthers } from '../call/home.ts'
import { readSource } from '../call/source.ts'
import { withFlows } from '../flow/open.ts'

const WORDS = ['retry', 'abandon', 'provided', 'unblock'] as const
type Word = (typeof WORDS)[number]

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, nodeId, word] = call.arguments
  const file = call.options.text('file')
  if (runName === undefined || nodeId === undefined || (word === undefined) === (file === null))
    throw usage('say the run, the node, and either one word or `--file`')
  return withFlows(call, async ({ host, gate }) => {
    refuseOthers(gate.session.caller, 'answering')
    await proveHuman(gate.session, call, 'answering')
    const { run_id } = await findRun(host.ledger, host.stream, runName)
    const { state, flow, facts, waiting } = await lookAtRun(host, run_id)
    const isOfNode = (command: FlowCommand): boolean =>
      'node_id' in command && command.node_id === nodeId
    const pending = outstanding(state).find(isOfNode)
    const { kind, id, namespace } = host.principal
    const principal = `${kind}:${id}@${namespace}`
    const base = { node_id: nodeId, principal }
    const node = flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]
    const isStuck =
      node !== undefined &&
      isStuckAt(elementAt(state.nodes, node.index), elementAt(state.phases, node.phase))
    const order =
      file !== null
        ? await documentOrder(base, waiting.find(isOfNode), file)
        : wordOrder(base, pending, asWord(word ?? ''), isStuck, facts)
    if (order.kind === 'answer' && order.answer === 'provided') {
      const { workspace } = await loadRun(host.ledger, host.stream, run_id)
      if (!call.options.isOn('force')) refuseMissing(pending, workspace)
    }
    leaveOrder(host, run_id, order)
    return told(call, run_id, await isWalked(host, run_id))
  })
}

type Base = { readonly node_id: string; readonly principal: string }

async function documentOrder(
  base: Base,
  pending: FlowCommand | undefined,
  file: string,
): Promise<Order> {
  const isAsked = pending?.type === 'run_participant' || pending?.type === 'ask_again'
  if (pending === undefined || !isAsked) throw notWaiting(base.node_id)
  const { bytes } = await readSource(file)
  return { kind: 'document', ...base, command: pending.command, text: bytes.toString('utf8') }
}

function wordOrder(
  base: Base,
  pending: FlowCommand | undefined,
  word: Word,
  isStuck: boolean,
  facts: readonly FlowFact[],
): Order {
  if (word === 'unblock') {
    if (!isStuck) throw notWaiting(base.node_id)
    return unblockOrder(facts, base.node_id, base.principal)
  }
  if (pending?.type !== 'ask_human') throw notWaiting(base.node_id)
  return { kind: 'answer', ...base, command: pending.command, answer: word }
}

/** What was asked for at a place has to be there. */
function refuseMissing(pending: FlowCommand | undefined, workspace: string): void {
  if (pending?.type !== 'ask_human') return
  const missing = pending.needs.flatMap(({ suggested_path: path }) =>
    path === null || existsSync(join(workspace, path)) ? [] : [path],
  )
  if (missing.length === 0) return
  const message = `not there: ${missing.map((path) => showName(path)).join(', ')}`
  const hint = 'put it there, or say `--force` when it lies elsewhere'
  throw faultError('flow.input_missing', '', message, hint)
}

async function told(
  { terminal, options }: CommandCall,
  runId: string,
  walked: boolean,
): Promise<Exit> {
  const next = walked ? 'the process that walks it takes it' : `writ flow resume ${runId}`
  await terminal.out(
    options.isOn('json')
      ? `${JSON.stringify({ ok: true, run_id: runId, walked })}\n`
      : `recorded; ${next}\n`,
  )
  return EXIT.yes
}

function asWord(word: string): Word {
  const known = WORDS.find((one) => one === word)
  if (known === undefined) throw usage(`one of: ${WORDS.join(', ')}`)
  return known
}

function notWaiting(nodeId: string): FaultError {
  const message = `nothing at ${showName(nodeId)} waits for this answer`
  return faultError('flow.not_waiting', nodeId, message, '`writ flow status RUN` tells what waits')
}

function usage(message: string): FaultError {
  const hint = 'writ flow answer RUN NODE retry|abandon|provided|unblock, or --file ANSWER.json'
  return usageError(message, hint)
}
