/** How commands come to the gate: the home is opened, the caller known, the gate closed again. */
import { invariant } from '../../base/index.ts'
import type { GateSurface } from '../../host/index.ts'
import type { Call } from '../command.ts'
import { type Session, withHome } from '../home.ts'
import type { Asking } from './confirm.ts'

export interface GateSession extends Asking {
  readonly gate: GateSurface
}

export async function withGate<T>(
  call: Call,
  work: (session: GateSession) => Promise<T>,
): Promise<T> {
  return withHome(call, async (session) => {
    const gate = openIt(session)
    try {
      return await work({ gate, call, session, isBelowAgent: false })
    } finally {
      await gate.close()
    }
  })
}

function openIt(_session: Session): GateSurface {
  invariant(false, 'the gate is not wired yet')
}
