/**
 * The proposal on the record before anything runs. Where a human released its requests this is also the
 * use of the release, and it is used once, also when the same proposal is run twice at one moment: it
 * is recorded only on the very facts at which the release was found unused.
 */
import { FaultError, fault, faultCode } from '../../base/index.ts'
import type { Evaluation } from '../../contracts/index.ts'
import type { GateRecord, LedgerView } from './ledger-view.ts'

/** Others may append all the time; so often it is tried again. */
const TRIES_MAX = 100

export async function recordBeforeRun(
  view: LedgerView,
  record: GateRecord,
  evaluation: Evaluation,
): Promise<void> {
  const release = evaluation.network?.release ?? null
  if (release === null) {
    await view.record([record])
    return
  }
  for (let tries = 1; ; tries++) {
    await refuseUsed(view, evaluation, release.override_id)
    try {
      await view.recordAt([record], view.seen.stream)
      return
    } catch (error) {
      const isLate = faultCode(error) === 'ledger.head_moved'
      if (!isLate || tries === TRIES_MAX) throw error
    }
  }
}

async function refuseUsed(
  view: LedgerView,
  { action_id, proposal_digest, host }: Evaluation,
  overrideId: string,
): Promise<void> {
  const standing = await view.standing()
  const usable = standing.releaseFor(action_id, proposal_digest, host.now_ms)
  if (usable?.override_id === overrideId) return
  const message = 'another run of this proposal has used its release'
  throw new FaultError(fault('override.release', action_id, null, { message }))
}
