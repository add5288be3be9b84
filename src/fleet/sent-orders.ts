/** What people said on one machine to runs of another one, and no worker has taken yet. */
import { faultCode } from '../base/index.ts'
import type { ReadServer } from '../store/index.ts'
import { jobsSchema, type RunJob, refuseForged, unlessUnprepared } from './jobs.ts'
import { momentSql } from './seen-jobs.ts'

interface SentOrder {
  readonly order: unknown
  readonly atMs: number
}

interface OrderRow {
  /** Of any role of the server: the one that a machine has signed is a job of this room. */
  readonly payload: RunJob | null
  readonly created_at: Date
}

/**
 * Returns the orders on their way to a run, oldest first. Only those count that a machine of the home has
 * signed: a worker obeys no other. A job that the workers gave up is on its way no more.
 */
export async function sentOrders(server: ReadServer, run: string): Promise<readonly SentOrder[]> {
  const sql = `SELECT payload, ${momentSql('created_at')} AS created_at
    FROM ${jobsSchema(server)}._private_jobs
    WHERE position($1 IN payload::text) > 0 AND position('"order"' IN payload::text) > 0
      AND (attempts < max_attempts OR locked_at IS NOT NULL) ORDER BY id LIMIT 100`
  const found = await unlessUnprepared(server, () => server.queries.query<OrderRow>(sql, [run]))
  const sent: SentOrder[] = []
  for (const { payload, created_at } of found?.rows ?? []) {
    if (payload?.run !== run || payload.order === undefined) continue
    if (!(await isSigned(server, payload))) continue
    sent.push({ order: JSON.parse(payload.order), atMs: created_at.getTime() })
  }
  return sent
}

async function isSigned(server: ReadServer, job: RunJob): Promise<boolean> {
  try {
    await refuseForged(server, job)
    return true
  } catch (error) {
    if (faultCode(error) === 'machine.unknown') return false
    throw error
  }
}
