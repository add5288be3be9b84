/** How commands come to runs: the gate is opened, and runs are given what they need of it. */

import { SYSTEM_CLOCK } from '../../machine/index.ts'
import type { FlowHost } from '../../runs/index.ts'
import type { CommandCall } from '../call/command.ts'
import { execConfirm } from '../gate/confirm.ts'
import { type GateSession, withGate } from '../gate/open.ts'

export interface FlowSession {
  readonly host: FlowHost
  readonly gate: GateSession
}

export function withFlows<T>(
  call: CommandCall,
  work: (session: FlowSession) => Promise<T>,
): Promise<T> {
  return withGate(call, (gate) => work({ gate, host: flowHost(gate) }))
}

export function flowHost(session: GateSession): FlowHost {
  const { gate, stream } = session
  const { home, ledger, caller, register } = session.session
  return {
    home,
    ledger,
    stream,
    principal: caller.principal,
    namespace: register.owner?.namespace ?? 'local',
    attempts: gate.attempts,
    rollback: (actionId, run) => gate.rollback({ actionId }, { dryRun: false, run }),
    // A person at a terminal is asked there; any other caller finds the question in the inbox.
    confirm: execConfirm(session, { end: () => {}, wasEnded: false }),
    environment: process.env,
    clock: SYSTEM_CLOCK,
    isHalted: () => gate.isHalted(),
  }
}
