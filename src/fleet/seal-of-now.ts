/** The signature of a job that a worker has: its machine may have a new key, and signed it again. */
import type { HomeServer } from '../store/index.ts'
import { ask, jobsSchema, type RunJob } from './jobs.ts'

/** Returns the job with the signature that lies on the server now. It is judged when the job is taken. */
export async function withSealOfNow<Job extends { readonly seal?: RunJob['seal'] }>(
  server: HomeServer,
  job: Job,
  id: string,
): Promise<Job> {
  if (job.seal === undefined) return job
  const sql = `SELECT payload FROM ${jobsSchema(server)}._private_jobs WHERE id = $1`
  const { rows } = await ask(server, () =>
    server.queries.query<{ payload: Pick<RunJob, 'seal'> | null }>(sql, [id]),
  )
  const { seal } = rows[0]?.payload ?? {}
  return seal === undefined ? job : { ...job, seal }
}
