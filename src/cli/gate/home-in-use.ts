/** A home with what all its streams still need of the state directory. */
import { invariant } from '../../base/index.ts'
import type { KnownHome } from '../../home/index.ts'
import type { HomeInUse } from '../../service/index.ts'
import type { GateSession } from './open.ts'

export async function homeInUse(sessions: readonly GateSession[]): Promise<HomeInUse> {
  const [own] = sessions
  invariant(own !== undefined, 'a caller has a stream')
  const holdings = []
  for (const { gate } of sessions) holdings.push(await gate.holdings())
  const { home, ledger } = own.session
  // A session of the gate is opened over a home that is known.
  return { home: home as KnownHome, ledger, holdings, nowMs: Date.now() }
}
