/**
 * Records only if the stream still ends at the facts where a condition was found to hold. The second of
 * two writers finds the stream longer, checks again, and finds that the condition no longer holds.
 */
import { faultCode } from '../../base/index.ts'
import type { StandingFold } from '../../gate/index.ts'
import type { GateRecord, LedgerView } from './ledger-view.ts'

/** Others may append all the time; so often it is tried again. */
const TRIES_MAX = 100

/** False when it does not hold; nothing is recorded then. */
export async function recordWhile(
  view: LedgerView,
  records: readonly GateRecord[],
  holds: (standing: StandingFold) => boolean,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    if (!holds(await view.standing())) return false
    try {
      await view.recordAt(records, view.seen.stream)
      return true
    } catch (error) {
      const isLate = faultCode(error) === 'ledger.head_moved'
      if (!isLate || tries === TRIES_MAX) throw error
    }
  }
}
