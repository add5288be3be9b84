/** How homes and principals fail: with a fault, as stores do. */
import { FaultError, fault } from '../base/index.ts'

/** The ledger of a registered home was removed or emptied: damage, and no wrong call. */
export function lostLedger(at: string, state: string): FaultError {
  const reason = 'the home is registered, and its ledger is gone or empty'
  const message = `${reason}: ${at}`
  const hint = `put a copy of the ledger back into ${state}; without one, \`writ init --new\` begins another history and leaves this one as it is`
  return new FaultError(fault('ledger.corrupt', at, { reason }, { message, hint }))
}
