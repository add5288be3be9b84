/**
 * Jobs that wait when their machine gets a new key. What the old key signed counts no more, and a
 * worker refuses it for good; so the machine signs its own jobs once more.
 */
import { field, isObject } from '../contracts/index.ts'
import {
  type HomeServer,
  isSealOf,
  type Ledger,
  type Machine,
  MachineKeys,
} from '../store/index.ts'
import { jobsSchema, type RunJob, retryJob, sealedText, unlessUnprepared } from './jobs.ts'
import { type ProposalJob, sealedProposal } from './proposals.ts'

interface Row {
  readonly id: string
  /** Every role of the server can write anything there. */
  readonly payload: unknown
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
    FROM ${table} WHERE position($1 IN payload::text) > 0 ORDER BY id`
  const found = await unlessUnprepared(server, () => server.queries.query<Row>(sql, [ended]))
  let signed = 0
  for (const { id, payload, is_refused: isRefused } of found?.rows ?? []) {
    const text = isObject(payload) ? textOf(server, payload) : null
    if (text === null || !isSealOf(machine.key, text, sealOf(payload))) continue
    const renewed = JSON.stringify({ ...Object(payload), seal: await server.seal(text) })
    const update = `UPDATE ${table} SET payload = $2::json WHERE id = $1`
    await unlessUnprepared(server, () => server.queries.query(update, [id, renewed]))
    if (isRefused) await retryJob(server, id)
    signed++
  }
  return signed
}

/** Returns what a job has signed; null where another hand wrote something that is no job. */
function textOf(server: HomeServer, payload: object): string | null {
  try {
    // It is read as what it would be: the signature tells whether it is.
    return 'document' in payload
      ? sealedProposal(server, payload as ProposalJob)
      : sealedText(server, payload as RunJob)
  } catch {
    return null
  }
}

function sealOf(payload: unknown): NonNullable<RunJob['seal']> {
  const seal = field(payload, 'seal')
  const text = (name: string): string => {
    const found = field(seal, name)
    return typeof found === 'string' ? found : ''
  }
  return { key: text('key'), sig: text('sig') }
}
