/**
 * Removes jobs. What a machine signed stays signed, and every role that reads the home may keep a copy of the
 * job and add it again: a fact says that a human removed it, and no worker does it after that.
 */
import { digestBytes, invariant } from '../base/index.ts'
import type { RequestKey } from '../contracts/index.ts'
import { HOST_STREAM, type Principal } from '../ledger/index.ts'
import { hasBegun } from '../runs/index.ts'
import type { HomeServer, Ledger } from '../store/index.ts'
import { holdsTexts, type RunJob, sealedText, takeAway } from './jobs.ts'
import { isProposalJob, sealedProposal } from './proposals.ts'
import { removalOf } from './removed-job.ts'

interface DropTerms {
  readonly principal: Principal
  /** Leave a job whose run has begun. */
  readonly keepsBegun?: boolean
}

/**
 * Removes a job that no worker has. Returns whether it did. A process that dies in between leaves the job; if
 * the fact is recorded by then, a worker refuses the job, and removing it once more ends that.
 */
export async function dropJob(
  server: HomeServer,
  ledger: Ledger,
  id: string,
  { principal, keepsBegun = false }: DropTerms,
): Promise<boolean> {
  return takeAway(server, id, async (payload) => {
    const signed = signedWords(server, payload)
    const isBegun = await wouldBeginAgain(ledger, payload)
    if (isBegun && keepsBegun) return false
    // The fact would be about the beginning of the run, which has been.
    if (signed !== null && !isBegun) await noteRemoved(ledger, signed, principal)
    return true
  })
}

interface SignedWords {
  readonly text: string
  readonly about: string
}

/** What a machine may have signed of a job; null for one that needs no signature, and for one of another hand. */
function signedWords(server: HomeServer, payload: unknown): SignedWords | null {
  if (typeof payload !== 'object' || payload === null) return null
  try {
    if (isProposalJob(payload))
      return { text: sealedProposal(server, payload), about: payload.action }
    const job = payload as RunJob // `holdsTexts` looks at it.
    const text = holdsTexts(job) ? sealedText(server, job) : null
    return text === null ? null : { text, about: job.run }
  } catch {
    // No machine signs what has no canonical form.
    return null
  }
}

/** Returns whether a job begins a run that has begun. */
async function wouldBeginAgain(ledger: Ledger, payload: unknown): Promise<boolean> {
  const job = (payload ?? {}) as RunJob // `holdsTexts` looks at it.
  if (!holdsTexts(job) || job.begin === undefined || job.order !== undefined) return false
  return hasBegun({ ledger, stream: job.stream }, job.run)
}

async function noteRemoved(
  ledger: Ledger,
  { text, about: subject }: SignedWords,
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
