/**
 * Jobs of a home on a PostgreSQL server: which there are, and how they are put there. The engine is
 * graphile-worker; adding and looking are functions and tables of its schema, so that only the worker
 * itself holds the engine.
 *
 * A job says what has to be looked at, never what happened: outcomes are facts, and a job that runs
 * twice finds them recorded. The lock of its folder keeps a run to one process; a queue of the engine for
 * each run would do the same, and every look for a job locks all queues.
 */
import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { canonicalJson, digestBytes, FaultError, fault, faultError } from '../base/index.ts'
import {
  connectionIn,
  type HomeServer,
  type Ledger,
  postgresFailure,
  type ReadServer,
} from '../store/index.ts'

/** What jobs say; one that a newer writ made is left to a newer worker. */
export const JOB_FORMAT = 1
/** Far more than there will be: every role of the server can write a larger number into a job. */
const JOB_FORMAT_MAX = 1_000
export const FORMAT_LABEL = 'job:'
/** Tries before a job waits for a person. A try is also used up by a worker that dies. */
const TRIES_MAX = 10

/** A run that a worker begins or goes on with. */
export interface RunJob {
  readonly run: string
  readonly stream: string
  /** Absent once the run has begun. */
  readonly begin?: {
    readonly flow: string
    readonly participants: string | null
    readonly workspace: string
  }
  /**
   * What a person said to the run on another machine than the one that walks it. JSON as a text: the server
   * reads the rest of the job, and not every string of an order.
   */
  readonly order?: string
  /** Of an order: no other one has it, so that a copy of the job is known. */
  readonly nonce?: string
  /** Labels that a worker needs to begin the run. */
  readonly labels?: readonly string[]
  /** The machine that added the job, where it begins a run or holds an order. */
  readonly seal?: { readonly key: string; readonly sig: string }
}

interface JobTerms {
  /** Labels that a worker needs. */
  readonly labels?: readonly string[]
  /** The machine that has what the job needs, by the fingerprint of its key. */
  readonly machine?: string | null
  readonly at?: Date
  /** The job that this one follows: it may be given back meanwhile, and must not be taken for this one. */
  readonly after?: string
}

/** Short, because the engine puts it into names of statements, of which the server takes 63 characters. */
export function jobsSchema({ schema }: Pick<HomeServer, 'schema'>): string {
  return `wj_${schema.replace(/^writ_/, '').replaceAll('_', '')}`
}

/** The server of a home. Fails if its facts lie in a file, which other machines do not reach. */
export function serverOf({ server }: Pick<Ledger, 'server'>): HomeServer {
  if (server !== null) return server
  const message = 'the facts of this home lie in a file of this machine, so it has no workers'
  const hint =
    '`writ schedule run` or `writ serve` walk its runs; a home on a server: `writ init --store postgresql://user@host/database`'
  throw faultError('machine.alone', '', message, hint)
}

/** Jobs of one machine have a task of their own, so that no other worker looks at them. */
export function taskOf(name: string, machine: string | null): string {
  return machine === null ? name : `${name}@${machine}`
}

/** Adds a job of this machine, which signs what it begins or orders. */
export async function addRun(server: HomeServer, job: RunJob, terms: JobTerms = {}): Promise<void> {
  const said: RunJob = {
    ...job,
    ...(job.begin === undefined ? {} : { labels: terms.labels ?? [] }),
    ...(job.order === undefined ? {} : { nonce: randomUUID() }),
  }
  const text = sealedText(server, said)
  await addAgain(server, text === null ? said : { ...said, seal: await server.seal(text) }, terms)
}

/** The same for a job that was taken: its signature stays, for this machine speaks for no other. */
export async function addAgain(
  server: HomeServer,
  job: RunJob,
  { labels = [], machine = null, at, after }: JobTerms = {},
): Promise<void> {
  const isOrder = job.order !== undefined
  const ending = after === undefined ? (at === undefined ? '' : '/timer') : `/after/${after}`
  await addJob(
    server,
    taskOf('run', machine),
    { v: JOB_FORMAT, ...job },
    {
      // One look at a run is enough, however many ask for it; orders are kept apart.
      key: isOrder ? null : `run/${job.run}${ending}`,
      flags: [...new Set([...labels, ...signedLabels(job)])],
      at: at ?? null,
    },
  )
}

/** What a job that begins a run needs of its worker. The row of the job names it, too, and is not signed. */
export function signedLabels({ begin, labels = [] }: RunJob): readonly string[] {
  return begin === undefined ? [] : [...labels, workspaceLabel(begin.workspace)]
}

/**
 * What a job says that no fact says: which flow to begin where and by which workers, and what a person
 * told a run. Every role that may read the home can write jobs, so these are signed by a machine that a
 * human let in. Null for a job that only asks to look at a run.
 */
export function sealedText(
  { schema }: Pick<HomeServer, 'schema'>,
  { run, stream, begin, order, labels, nonce }: RunJob,
): string | null {
  if (begin === undefined && order === undefined) return null
  const terms = {
    schema,
    run,
    stream,
    begin: begin ?? null,
    labels: labels ?? null,
    order: order ?? null,
    nonce: nonce ?? null,
  }
  return `writ-job-v1\n${canonicalJson(terms)}\n`
}

/** The same for every copy of a job that holds an order: all of it that is signed. */
export function orderId(server: HomeServer, job: RunJob): string {
  return digestBytes(sealedText(server, job) ?? '').replace('sha256:', '')
}

/** Fails if a job begins a run or holds an order, and no machine of the home has signed that. */
export async function refuseForged(server: ReadServer, job: RunJob): Promise<void> {
  if (job.begin === undefined && job.order === undefined) return
  if (!holdsTexts(job)) throw unsigned(job.run)
  const text = sealedText(server, job) ?? ''
  await requireSealed(server, { text, seal: job.seal, about: job.run })
}

/** Returns whether a job holds texts where a machine signs texts: every role can write other values there. */
export function holdsTexts({
  run,
  stream,
  begin,
  order = '',
  labels = [],
  nonce = '',
}: RunJob): boolean {
  const words = Object.entries(begin ?? {}).flatMap(([key, value]) => [key, value ?? ''])
  return areTexts([run, stream, order, nonce, ...words, ...[labels].flat()])
}

export function areTexts(values: readonly unknown[]): boolean {
  return values.every((one) => typeof one === 'string' && one.isWellFormed())
}

interface SealedWords {
  readonly text: string
  readonly seal: RunJob['seal']
  readonly about: string
}

/** Fails unless a machine that may sign now has signed the text. */
export async function requireSealed(
  server: ReadServer,
  { text, seal, about }: SealedWords,
): Promise<void> {
  if (typeof seal?.key === 'string' && typeof seal.sig === 'string') {
    if (await server.isSealed(text, seal)) return
  }
  throw unsigned(about)
}

function unsigned(about: string): Error {
  const message = 'no machine that may sign for this home has signed what the job says'
  const hint =
    'another hand or an older writ wrote it, or its machine was removed or has another key: look who has the role of the server, and queue the work or give the answer again'
  return faultError('machine.unknown', about, message, hint)
}

const WORKSPACE_LABEL = 'workspace:'

/** A workspace belongs to the machines that have a home at its path, or above it. */
export function workspaceLabel(path: string): string {
  return `${WORKSPACE_LABEL}${path}`
}

/** Returns the workspace that a label names; null for other labels. */
export function workspaceIn(label: string): string | null {
  return label.startsWith(WORKSPACE_LABEL) ? label.slice(WORKSPACE_LABEL.length) : null
}

/** The labels of every worker: the formats of jobs that it knows. */
export function formatLabels(): readonly string[] {
  return Array.from({ length: JOB_FORMAT }, (_, index) => formatLabel(index + 1))
}

export function formatLabel(format: number): string {
  return `${FORMAT_LABEL}${format}`
}

/** Returns whether a newer writ may have made a job of this format. */
export function isNewerFormat(format: unknown): format is number {
  if (typeof format !== 'number' || !Number.isInteger(format)) return false
  return format > JOB_FORMAT && format <= JOB_FORMAT_MAX
}

interface NewerJob {
  readonly task: string
  readonly payload: unknown
  readonly key: string | null
  readonly labels: readonly string[]
}

/** Adds a job that a newer writ made again, as it is, for the workers that know its format. */
export async function leaveToNewer(
  server: HomeServer,
  { task, payload, key, labels }: NewerJob,
  format: number,
): Promise<void> {
  const flags = [...new Set([...labels, formatLabel(format)])]
  await addJob(server, task, payload, { key, flags, at: null })
}

interface JobSpec {
  readonly key: string | null
  readonly flags: readonly string[]
  readonly at: Date | null
}

/** Adds a job as it is given. */
export async function addJob(
  server: HomeServer,
  task: string,
  payload: unknown,
  { key, flags, at }: JobSpec,
): Promise<void> {
  const sql = `SELECT ${jobsSchema(server)}.add_job(identifier := $1, payload := $2::json,
    run_at := $3::timestamptz, max_attempts := ${TRIES_MAX}, job_key := $4,
    flags := $5::text[], job_key_mode := 'replace')`
  const values = [task, JSON.stringify(payload), at, key, flags.length === 0 ? null : flags]
  await ask(server, () => server.queries.query(sql, values))
}

/** Fails in words: where no worker was ever prepared there is no place for jobs. */
export async function ask<T>(server: ReadServer, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code } = error as { readonly code?: unknown } // Of an error of the server.
    if (code !== '3F000' && code !== '42P01' && code !== '42883')
      throw postgresFailure(error, server.schema, connectionIn(server.queries))
    const reason = 'the server has no tables for jobs of this home'
    const hint = 'make them once: `writ worker prepare --store-owner ROLE`'
    throw new FaultError(
      fault('ledger.unreachable', server.schema, { reason }, { message: reason, hint }),
    )
  }
}

/** Looks into the tables of jobs; null where they were never made, or this role may not read them. */
export async function unlessUnprepared<T>(
  server: ReadServer,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    const { code } = error as { readonly code?: unknown } // Of an error of the server.
    if (code === '3F000' || code === '42P01' || code === '42501') return null
    throw postgresFailure(error, server.schema, connectionIn(server.queries), 'read')
  }
}

/** Fails in words where the tables of jobs were never made. */
export async function checkPrepared(server: HomeServer): Promise<void> {
  await ask(server, () =>
    server.queries.query(`SELECT FROM ${jobsSchema(server)}._private_jobs LIMIT 0`),
  )
}

/** The lock of something that one session of the server has at a time. */
export function lockName({ schema }: Pick<HomeServer, 'schema'>, name: string): string {
  return `${schema}/${name}`
}

/** Begins the error of a job that is not tried again. */
export const REFUSED = 'refused: '

/** Gives a stuck job its tries back. Returns whether there was one. */
export function retryJob(server: HomeServer, id: string): Promise<boolean> {
  return changeJob(server, 'reschedule_jobs(ARRAY[$1::bigint], run_at := now(), attempts := 0)', id)
}

/**
 * Takes away a job that no worker has, once `before` has looked at what it says and agrees. No worker takes the
 * job meanwhile. Where this process dies or `before` fails, the job stays as it was. Returns whether it is
 * taken away.
 */
export async function takeAway(
  server: HomeServer,
  id: string,
  before: (payload: unknown) => Promise<boolean>,
): Promise<boolean> {
  const pool = await server.openPool(1)
  try {
    return await ask(server, async () => {
      const client = await pool.connect()
      try {
        const isAway = await takeLocked(client, jobsSchema(server), id, before)
        client.release()
        return isAway
      } catch (error) {
        // The server takes the transaction back with its connection.
        client.release(true)
        throw error
      }
    })
  } finally {
    await pool.end()
  }
}

async function takeLocked(
  client: PoolClient,
  schema: string,
  id: string,
  before: (payload: unknown) => Promise<boolean>,
): Promise<boolean> {
  await client.query('BEGIN')
  // Workers pass over rows that are locked.
  const { rows } = await client.query<{ payload: unknown }>(
    `SELECT payload FROM ${schema}._private_jobs WHERE id = $1 AND locked_at IS NULL FOR UPDATE`,
    [id],
  )
  const [job] = rows
  const isAgreed = job !== undefined && (await before(job.payload))
  if (isAgreed) await client.query(`SELECT ${schema}.complete_jobs(ARRAY[$1::bigint])`, [id])
  await client.query('COMMIT')
  return isAgreed
}

/**
 * Has a job that a worker holds wait for a person when it fails now. Returns whether it does: where the
 * server is away, the job is tried again.
 */
export async function spendTries(server: HomeServer, id: string): Promise<boolean> {
  const sql = `UPDATE ${jobsSchema(server)}._private_jobs SET attempts = max_attempts WHERE id = $1`
  return server.queries.query(sql, [id]).then(
    () => true,
    () => false,
  )
}

async function changeJob(server: HomeServer, change: string, id: string): Promise<boolean> {
  const sql = `SELECT id FROM ${jobsSchema(server)}.${change}`
  return (await ask(server, () => server.queries.query(sql, [id]))).rows.length > 0
}
