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
  isLostItem,
  isStuckAt,
  nodeName,
  outstanding,
} from '../../flow/index.ts'
import { principalText } from '../../ledger/index.ts'
import {
  answerOrder,
  askedOfPeople,
  loadRun,
  type Order,
  unblockOrder,
  type WalkedRun,
} from '../../runs/index.ts'
import { type CommandCall, type Exit, usageError } from '../call/command.ts'
import { readSource } from '../call/source.ts'
import { answerRun, notWaiting } from '../flow/answering.ts'

const WORDS = ['retry', 'abandon', 'provided', 'unblock'] as const
type Word = (typeof WORDS)[number]

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, node, word] = call.arguments
  const file = call.options.text('file')
  if (runName === undefined || node === undefined || (word === undefined) === (file === null))
    throw usage('say the run, the node, and either one word or `--file`')
  return answerRun(call, [runName, node], async ({ host, run: asked, nodeId }) => {
    const { principal, namespace, clock } = host
    if (file !== null) {
      const command = askedOfPeople(asked).find(({ node_id }) => node_id === nodeId)
      if (command === undefined) throw notAsked(asked, nodeId)
      const { bytes } = await readSource(file)
      const text = bytes.toString('utf8')
      return answerOrder(asked, { command, text, principal, namespace, nowMs: clock.nowMs() })
    }
    const base = { node_id: nodeId, principal: principalText(principal) }
    const pending = outstanding(asked.state).find(
      (command) => 'node_id' in command && command.node_id === nodeId,
    )
    const order = wordOrder(base, pending, asWord(word ?? ''), asked)
    if (order.kind === 'answer' && order.answer === 'provided') {
      const { workspace } = await loadRun(host.ledger, host.stream, asked.runId)
      if (!call.options.isOn('force')) refuseMissing(pending, workspace)
    }
    return order
  })
}

type Base = { readonly node_id: string; readonly principal: string }

function wordOrder(
  base: Base,
  pending: FlowCommand | undefined,
  word: Word,
  asked: WalkedRun,
): Order {
  if (word === 'unblock') {
    if (!isStuck(asked, base.node_id)) throw notAsked(asked, base.node_id)
    return unblockOrder(asked.facts, base.node_id, base.principal)
  }
  if (pending?.type !== 'ask_human') throw notAsked(asked, base.node_id)
  return { kind: 'answer', ...base, command: pending.command, answer: word }
}

function isStuck({ flow, state }: WalkedRun, nodeId: string): boolean {
  const node = flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]
  if (node === undefined) return false
  const nodes = { get: (index: number) => elementAt(state.nodes, index) }
  return (
    isStuckAt(nodes.get(node.index), elementAt(state.phases, node.phase)) ||
    isLostItem(flow, nodes, node.index)
  )
}

function notAsked(run: WalkedRun, nodeId: string): FaultError {
  return notWaiting(run, nodeId, `nothing at ${nodeName(run.flow, nodeId)} waits for this answer`)
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

function asWord(word: string): Word {
  const known = WORDS.find((one) => one === word)
  if (known === undefined) throw usage(`one of: ${WORDS.join(', ')}`)
  return known
}

function usage(message: string): FaultError {
  const hint = 'writ flow answer RUN NODE retry|abandon|provided|unblock, or --file ANSWER.json'
  return usageError(message, hint)
}
