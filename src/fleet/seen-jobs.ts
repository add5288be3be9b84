/**
 * Jobs and workers as people see them: lists of what is queued, and why no worker takes it.
 *
 * INVARIANT (never fails): every role of the server can add a job that holds anything. The server itself reads
 *   no JSON with a string that it cannot keep, also not another part of it, so the text is read here.
 */
import type { ReadServer } from '../store/index.ts'
import {
  ask,
  FORMAT_LABEL,
  jobsSchema,
  lockName,
  REFUSED,
  unlessUnprepared,
  workspaceIn,
} from './jobs.ts'

/** A job as people see it. */
export interface SeenJob {
  readonly id: string
  readonly task: string
  readonly run: string | null
  /** Of a proposal: the action that it is about. */
  readonly action: string | null
  readonly stream: string | null
  /** Of a job that begins its run: the digest of the flow. */
  readonly begins: string | null
  readonly labels: readonly string[]
  readonly machine: string | null
  readonly state: 'waiting' | 'due' | 'taken' | 'stuck'
  readonly tries: number
  readonly error: string | null
  readonly run_at: string
}

interface SeenWorker {
  readonly worker: string
  readonly machine: string
  readonly labels: readonly string[]
  readonly version: string
  readonly since: string
}

interface JobRow {
  readonly id: string
  readonly task: string
  /** Null where it is too long to be one that writ made. */
  readonly payload: string | null
  readonly flags: Readonly<Record<string, true>> | null
  readonly is_taken: boolean
  readonly is_due: boolean
  readonly attempts: number
  readonly max_attempts: number
  readonly last_error: string | null
  readonly run_at: Date
  /** How many jobs are asked for. */
  readonly total: number
}

/** Which jobs are looked for. */
interface JobsAsked {
  /** An id of a run or an action, or a part of one. */
  readonly about?: string
  /** The stream of runs that the jobs begin. */
  readonly beginsIn?: string
}

interface SeenJobs {
  readonly jobs: readonly SeenJob[]
  /** How many there are besides. */
  readonly more: number
}

export async function seenJobs(server: ReadServer, asked: JobsAsked = {}): Promise<SeenJobs> {
  return ask(server, () => readJobs(server, asked))
}

export async function seenWorkers(server: ReadServer): Promise<readonly SeenWorker[]> {
  return ask(server, () => readWorkers(server))
}

/** Returns jobs as `seenJobs` does; none where no worker was ever prepared. */
export async function jobsIfPrepared(server: ReadServer, asked: JobsAsked): Promise<SeenJobs> {
  const found = await unlessUnprepared(server, () => readJobs(server, asked))
  return found ?? { jobs: [], more: 0 }
}

/** Returns workers as `seenWorkers` does; none where no worker was ever prepared. */
export async function workersIfPrepared(server: ReadServer): Promise<readonly SeenWorker[]> {
  return (await unlessUnprepared(server, () => readWorkers(server))) ?? []
}

/** Documents and orders are left out, as they may be long; the rest of a job that writ made is short. */
const REST_LENGTH_MAX = 65_536
const REST_SQL = String.raw`regexp_replace(job.payload::text,
  '"(document|order)"\s*:\s*"(?:[^"\\]|\\.)*"', '"\1":""', 'g')`

/** A list has so many jobs at most. */
const LISTED_MAX = 1_000

/** Those that wait for a person come first, then the oldest. */
async function readJobs(server: ReadServer, { about, beginsIn }: JobsAsked): Promise<SeenJobs> {
  const jobs = jobsSchema(server)
  const named = [about, beginsIn, beginsIn === undefined ? undefined : 'begin']
  const { rows } = await server.queries.query<JobRow>(
    `SELECT job.id::text, task.identifier AS task,
        CASE WHEN length(rest.text) <= ${REST_LENGTH_MAX} THEN rest.text END AS payload,
        job.flags, job.attempts, job.locked_at IS NOT NULL AS is_taken, job.run_at <= now() AS is_due, job.max_attempts,
        job.last_error, ${momentSql('job.run_at')} AS run_at, count(*) OVER ()::integer AS total
      FROM ${jobs}._private_jobs AS job JOIN ${jobs}._private_tasks AS task ON task.id = job.task_id,
        LATERAL (SELECT ${REST_SQL} AS text) AS rest
      WHERE (SELECT bool_and(position(part IN job.payload::text) > 0) FROM unnest($1::text[]) AS part) IS NOT false
      ORDER BY job.attempts >= job.max_attempts AND job.locked_at IS NULL DESC, job.id LIMIT ${LISTED_MAX}`,
    [named.flatMap((one) => (one === undefined ? [] : [JSON.stringify(one).slice(1, -1)]))],
  )
  const seen = rows.map((row): SeenJob => {
    const [task = '', machine = null] = row.task.split('@')
    const { run, action, stream, begin } = membersOf(JSON.parse(row.payload ?? 'null'))
    const isStuck = row.attempts >= row.max_attempts && !row.is_taken
    return {
      id: row.id,
      task,
      run: textOf(run),
      action: textOf(action),
      stream: textOf(stream),
      begins: textOf(membersOf(begin).flow),
      labels: Object.keys(row.flags ?? {}),
      machine,
      state: isStuck ? 'stuck' : row.is_taken ? 'taken' : row.is_due ? 'due' : 'waiting',
      tries: row.attempts,
      error: row.last_error,
      run_at: row.run_at.toISOString(),
    }
  })
  return { jobs: seen.filter(isAsked), more: (rows[0]?.total ?? 0) - rows.length }

  /** The server looked for the words anywhere in the job. */
  function isAsked({ run, action, stream, begins }: SeenJob): boolean {
    if (beginsIn !== undefined && (begins === null || stream !== beginsIn)) return false
    return about === undefined || [run, action].some((id) => id?.includes(about) === true)
  }
}

type Members = Readonly<Partial<Record<'run' | 'action' | 'stream' | 'begin' | 'flow', unknown>>>

/** Returns what an object holds; nothing for any other value. */
function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? value : {}
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Returns SQL for a time of a job that JavaScript can name, too: the server has times without end. */
export function momentSql(time: string): string {
  return `least(greatest(${time}, '1970-01-01'), '9999-12-31')`
}

/** Of those on the roll the ones that hold their lock: the last worker that died is taken off by none. */
async function readWorkers(server: ReadServer): Promise<readonly SeenWorker[]> {
  const { rows } = await server.queries.query<Omit<SeenWorker, 'since'> & { readonly since: Date }>(
    `SELECT worker, machine, labels, version, since FROM ${server.schema}.workers
      WHERE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND (classid::bigint << 32) | objid::bigint = hashtextextended($1 || worker, 0))
      ORDER BY since`,
    [lockName(server, 'worker/')],
  )
  return rows.map((row) => ({ ...row, since: row.since.toISOString() }))
}

const HALTED = 'everything is halted: it goes on after `writ resume`'

interface FindingTerms {
  /** The name of a machine, by the fingerprint of a key that it has or had. */
  readonly nameOf: (machine: string) => string
  readonly isHalted?: boolean
}

/** Why no worker takes a job; null if one can. */
export function findingOf(
  job: SeenJob,
  workers: readonly SeenWorker[],
  { nameOf, isHalted = false }: FindingTerms,
): string | null {
  if (job.state === 'stuck' && job.error?.startsWith(REFUSED) === true) return job.error
  if (job.state === 'stuck') return `failed ${job.tries} times: ${job.error ?? ''}`
  if (job.state === 'taken') return null
  if (isHalted) return HALTED
  const place = job.machine === null ? null : nameOf(job.machine)
  // By name, because a machine keeps it when its key changes.
  const near = workers.filter(({ machine }) => place === null || nameOf(machine) === place)
  if (near.length === 0)
    return place === null
      ? 'no worker runs'
      : `waits for a worker on the machine ${place}, which has its files`
  const can = near.some(({ labels }) => job.labels.every((label) => covers(labels, label)))
  if (can && job.error !== null) return `failed so far: ${job.error}`
  if (can) return missingDirectory(job, near)
  const missing = job.labels.filter((label) => !near.some(({ labels }) => covers(labels, label)))
  const newer = missing.find((label) => label.startsWith(FORMAT_LABEL))
  if (newer !== undefined)
    return `a newer writ made it, and no worker knows jobs of format ${newer.slice(FORMAT_LABEL.length)}`
  return `no worker has ${(missing.length > 0 ? missing : job.labels).join(', ')}`
}

/** A directory below a workspace may be on none of its machines; a worker takes a job that is due at once. */
function missingDirectory(job: SeenJob, near: readonly SeenWorker[]): string | null {
  const isExact = near.some(({ labels }) => job.labels.every((label) => labels.includes(label)))
  if (isExact || job.state !== 'due' || Date.now() - Date.parse(job.run_at) < LATE_MS) return null
  const places = job.labels.flatMap((label) => workspaceIn(label) ?? [])
  return `no worker took it: is ${places.join(', ')} a directory of the workspace of a worker, and no link?`
}

const LATE_MS = 10_000

/** Whether a worker with these labels has another one: a machine has what is below its workspace. */
function covers(labels: readonly string[], label: string): boolean {
  const isBelow = (own: string): boolean => workspaceIn(own) !== null && label.startsWith(`${own}/`)
  return labels.includes(label) || labels.some(isBelow)
}
