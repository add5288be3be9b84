/**
 * Removes jobs. What a machine signed stays signed, and every role that reads the home may keep a copy of the
 * job and add it again: a fact says that a human removed it, and no worker does it after that.
 */
import { digestBytes, invariant } from '../base/index.ts'
import type { RequestKey } from '../contracts/index.ts'
import { HOST_STREAM, type Principal } from '../ledger/index.ts'
import type { HomeServer, Ledger } from '../store/index.ts'
import { completeJob, jobPayload, type RunJob, sealedText } from './jobs.ts'
import { type ProposalJob, sealedProposal } from './proposals.ts'
import { removalOf } from './removed-job.ts'

/** Removes a job that no worker has. Returns whether there was one. */
export async function dropJob(
  server: HomeServer,
  ledger: Ledger,
  id: string,
  principal: Principal,
): Promise<boolean> {
  const payload = await jobPayload(server, id)
  if (payload === null) return false
  const job = payload as RunJob | ProposalJob // Jobs are made by this room.
  const [text, about] =
    'document' in job
      ? [sealedProposal(server, job), job.action]
      : [sealedText(server, job), job.run]
  if (text !== null) await noteRemoved(ledger, text, about, principal)
  return completeJob(server, id)
}

async function noteRemoved(
  ledger: Ledger,
  text: string,
  subject: string,
  principal: Principal,
): Promise<void> {
  const digest = digestBytes(text)
  const payload: RequestKey = {
    request_digest: digest,
    body_digest: digest,
    method: 'JOB',
    path: 'removed',
    subject,
  }
  const record = { type: 'request_key_v1', payload }
  const idempotencyKey = removalOf(text)
  const noted = await ledger.record({
    stream: HOST_STREAM,
    source: 'cli',
    principal,
    record,
    idempotencyKey,
  })
  invariant(noted.ok, 'a fact that writ made follows its contract')
}
