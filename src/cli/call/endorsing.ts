/** Changes that need several humans where a law in force wants several approvals (W-3). */
import {
  agreeTo,
  type Endorsements,
  requireEnough,
  type SharedChange,
} from '../../service/index.ts'
import type { CommandCall } from './command.ts'
import { provenBy, requireWholeHost, type Session } from './home.ts'

/**
 * Refuses all but proven humans of the whole host, and where a law in force wants several approvals,
 * until as many humans typed the same command.
 */
export async function requireHumans(
  session: Session,
  call: CommandCall,
  what: string,
  change: SharedChange,
): Promise<void> {
  const agreed = await endorse(session, call, what, change)
  requireEnough(agreed, change.what, 'another human types the same command within a day')
}

/** Records that the caller agrees to a change; returns who has. */
export async function endorse(
  session: Session,
  call: CommandCall,
  what: string,
  change: SharedChange,
): Promise<Endorsements> {
  const { ledger, register, caller } = session
  requireWholeHost(caller, what)
  const proof = await provenBy(session, call, what)
  const actor = { principal: caller.principal, source: 'cli' }
  return agreeTo(ledger, register, actor, change, proof)
}
