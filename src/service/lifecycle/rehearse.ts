/**
 * Rehearse: the operation runs in a fresh sandbox over the real tree. The sandbox is made while the
 * proposal is being recorded; nothing runs in it before that is durable. What keeps it from running is
 * an obstacle of the act.
 */
import type { Proposal } from '../../contracts/index.ts'
import { leavesOf } from '../../gate/index.ts'
import { watchHalt } from '../readings/halt.ts'
import { obstacleOf } from '../readings/readings.ts'
import { runRehearsal } from '../rehearsal/rehearsal.ts'
import { underReleaseLock } from '../rehearsal/released-run.ts'
import { type Admitted, type GateParts, type Rehearsed, withObstacles } from './act.ts'
import { recordProposal } from './admit.ts'

/** Does `work` under the lock of the release that an admitted act uses; without one just does it. */
export function whileReleased<T>(
  { context }: GateParts,
  { evaluation, refusal }: Admitted,
  work: () => Promise<T>,
): Promise<T> {
  const isUsed = refusal === null && evaluation.network?.release != null
  return isUsed ? underReleaseLock(context.home.state, evaluation, work) : work()
}

export async function rehearse(gate: GateParts, admitted: Admitted): Promise<Rehearsed> {
  const { proposal, refusal, terms } = admitted
  if (refusal !== null || proposal === null) return { admitted, rehearsal: null }
  const recorded = terms.dryRun ? Promise.resolve() : recordProposal(gate, admitted)
  recorded.catch(() => undefined)
  const rehearsed = await runAdmitted(gate, admitted, proposal, recorded)
  await recorded
  return rehearsed
}

/** Begins to close the sandbox of a rehearsal. */
export function endRehearsal({ rehearsal }: Rehearsed): void {
  // The opener of the driver waits for it when that is closed, and hears of a failure.
  rehearsal?.sandbox.close().catch(() => undefined)
}

async function runAdmitted(
  { context, book }: GateParts,
  admitted: Admitted,
  proposal: Proposal,
  recorded: Promise<void>,
): Promise<Rehearsed> {
  const { evaluation, terms } = admitted
  const stop = new AbortController()
  const onStop = (): void => stop.abort()
  const unwatch = watchHalt(context.home.state, onStop)
  terms.abort.addEventListener('abort', onStop, { once: true })
  if (terms.abort.aborted) onStop()
  const { effective } = evaluation.risk
  const isHigh = effective === 'HIGH' || effective === 'CRITICAL'
  const { unixSockets } = book.settings
  try {
    const rehearsal = await runRehearsal(context, {
      proposal,
      host: evaluation.host,
      book,
      sockets: unixSockets ?? (isHigh && !drivesInterface(proposal) ? 'none' : 'inside'),
      live: terms.live,
      abort: stop.signal,
      recorded,
      isDry: terms.dryRun,
      ...(evaluation.network === undefined ? {} : { network: evaluation.network }),
    })
    return { admitted, rehearsal }
  } catch (error) {
    return { admitted: withObstacles(admitted, [obstacleOf(error)]), rehearsal: null }
  } finally {
    unwatch()
    terms.abort.removeEventListener('abort', onStop)
    terms.live?.onEnded?.()
  }
}

/** A browser speaks with its own processes over unix sockets; a law that forbids them forbids it. */
function drivesInterface(proposal: Proposal): boolean {
  return leavesOf(proposal).some(({ proposal: leaf }) => leaf.operation?.type === 'UI_AUTOMATION')
}
