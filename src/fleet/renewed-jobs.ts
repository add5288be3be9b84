/**
 * Jobs that wait when their machine gets a new key. What the old key signed counts no more, and a
 * worker refuses it for good; so the machine signs its own jobs once more.
 */
import { isSealOf, type Ledger, type Machine, MachineKeys } from '../store/index.ts'
import { jobsSchema, type RunJob, retryJob, sealedText, unlessUnprepared } from './jobs.ts'
import { type ProposalJob, sealedProposal } from './proposals.ts'

interface Row {
  readonly id: string
  readonly payload: RunJob | ProposalJob
  /** A worker took it while neither signature counted. */
  readonly is_refused: boolean
}

/** Signs again what a key of this machine has signed that a rotation has just ended; returns how many. */
export async function signJobsAgain(ledger: Ledger, ended: string): Promise<number> {
  const { server } = ledger
  const keys = await ledger.keys()
  const isEnded = ({ fingerprint, removedAt }: Machine): boolean =>
    fingerprint === ended && removedAt !== null
  const machine = keys instanceof MachineKeys ? keys.machines.find(isEnded) : undefined
  if (server === null || machine === undefined) return 0
  const table = `${jobsSchema(server)}._private_jobs`
  const sql = `SELECT id::text, payload, locked_at IS NULL AND attempts >= max_attempts
      AND last_error LIKE 'refused: %(machine.unknown)' AS is_refused
    FROM ${table} WHERE payload->'seal'->>'key' = $1 ORDER BY id`
  const found = await unlessUnprepared(server, () => server.queries.query<Row>(sql, [ended]))
  let signed = 0
  for (const { id, payload, is_refused: isRefused } of found?.rows ?? []) {
    const text =
      'document' in payload ? sealedProposal(server, payload) : sealedText(server, payload)
    // Every role of the server can write a job that names this key.
    if (text === null || payload.seal === undefined) continue
    if (!isSealOf(machine.key, text, payload.seal)) continue
    const renewed = JSON.stringify({ ...payload, seal: await server.seal(text) })
    const update = `UPDATE ${table} SET payload = $2::json WHERE id = $1`
    await unlessUnprepared(server, () => server.queries.query(update, [id, renewed]))
    if (isRefused) await retryJob(server, id)
    signed++
  }
  return signed
}
