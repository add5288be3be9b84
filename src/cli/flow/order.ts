/** What a person tells a run by a command of its own: who says it, and what happens to it. */
import { faultCode } from '../../base/index.ts'
import type { WalkedRun } from '../../runs/index.ts'
import { findRun, lookAtRun, type Order } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { proveHuman, refuseOthers } from '../call/home.ts'
import { handedText, handOrder } from './hand-order.ts'
import { type FlowSession, withFlows } from './open.ts'
import { passBefore } from './passed.ts'

interface PersonsRun extends FlowSession {
  readonly run: WalkedRun
  readonly principal: string
}

/** Opens a run for a person to tell it something; `what` is that, in words. */
export function withPersonsRun(
  call: CommandCall,
  runName: string,
  what: string,
  work: (persons: PersonsRun) => Promise<Exit>,
  whenNotBegun: (session: FlowSession, error: unknown) => Promise<Exit> = rejectWith,
): Promise<Exit> {
  return withFlows(call, async (session) => {
    const { host, gate } = session
    refuseOthers(gate.session.caller, what)
    await proveHuman(gate.session, call, what)
    const found = await findRun(host.ledger, host.stream, runName).catch(unbegun)
    if ('error' in found) return whenNotBegun(session, found.error)
    const { run_id } = found
    const { kind, id, namespace } = host.principal
    await passBefore(call, host, run_id)
    const run = await lookAtRun(host, run_id)
    return work({ ...session, run, principal: `${kind}:${id}@${namespace}` })
  })
}

function unbegun(error: unknown): { readonly error: unknown } {
  if (faultCode(error) === 'flow.unknown_run') return { error }
  throw error
}

function rejectWith(_session: FlowSession, error: unknown): Promise<never> {
  return Promise.reject(error)
}

/** Leaves an order and says who takes it. */
export async function giveOrder(
  { terminal, options }: CommandCall,
  { host, run }: PersonsRun,
  order: Order,
): Promise<Exit> {
  const handed = await handOrder(host, run.runId, order)
  const next = handedText(handed, run.runId)
  const walked = handed === 'walked'
  await terminal.out(
    options.isOn('json')
      ? `${JSON.stringify({ ok: true, run_id: run.runId, walked })}\n`
      : `recorded; ${next}\n`,
  )
  return EXIT.yes
}
