/** Whether a human removed a job, by the fact that `dropJob` leaves. */
import { digestBytes, faultError } from '../base/index.ts'
import { HOST_STREAM } from '../ledger/index.ts'
import type { Ledger } from '../store/index.ts'

/** Returns the idempotency key of the fact that a human removed the job that says this. */
export function removalOf(text: string): string {
  return `job/${digestBytes(text)}/removed`
}

/** Fails if a human removed the job that says this. */
export async function refuseRemoved(ledger: Ledger, text: string, about: string): Promise<void> {
  const query = { stream: HOST_STREAM, idempotencyKey: removalOf(text), limit: 1 } as const
  const { facts } = await ledger.store.find({ ...query, order: 'oldest_first' })
  if (facts.length === 0) return
  const message =
    'a human removed this job: the command was interrupted, or a copy of the job was added again'
  const hint =
    'remove it once more: `writ worker drop JOB`; if it comes back, look who has the role of the server; to have it done after all, queue it again'
  throw faultError('machine.job', about, message, hint)
}
