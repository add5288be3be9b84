/** How commands come to the gate: the home is opened, the caller known, the gate closed again. */
import { join } from 'node:path'
import { DEFAULT_LISTS, knownAgent } from '../../gate/index.ts'
import {
  ancestorNames,
  createDriver,
  type GateSurface,
  type KnownHome,
  openGate,
  openKnownHome,
  stateRoot,
} from '../../host/index.ts'
import type { Call } from '../command.ts'
import { callerOf, type Session, streamToWrite, surroundings, withLedger } from '../home.ts'
import type { Asking } from './confirm.ts'

export interface GateSession extends Asking {
  readonly gate: GateSurface
}

/** A home whose laws changed is opened too: the gate blocks every decision there and says why. */
export async function withGate<T>(
  call: Call,
  work: (session: GateSession) => Promise<T>,
): Promise<T> {
  const around = surroundings()
  const home = openKnownHome(around, call.options.text('home'))
  return withLedger(home, async (ledger, register) => {
    const session: Session = { home, ledger, register, caller: callerOf(around, register) }
    const ancestors = ancestorNames()
    const gate = await openGate({
      home,
      ledger,
      caller: session.caller,
      stream: streamToWrite(session, call),
      stateRoot: stateRoot(around),
      userDirectory: around.userDirectory,
      environment: around.env,
      ancestors,
      hasPasskey: register.credential?.kind === 'passkey',
      driver: createDriver({ disks: disksOf(home) }),
      nowMs: Date.now,
    })
    const isBelowAgent = knownAgent(DEFAULT_LISTS, ancestors) !== null
    try {
      return await work({ gate, call, session, isBelowAgent })
    } finally {
      await gate.close()
    }
  })
}

/** Layers that do not fit into memory lie beside the stages: what they hold is then moved, not copied. */
function disksOf({ state, directory }: KnownHome): readonly string[] {
  return [state, directory].map((place) => join(place, 'stage'))
}
