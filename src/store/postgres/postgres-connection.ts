/**
 * Connections to a ledger in PostgreSQL: how they are opened, what is demanded of the server, and how
 * its errors become faults.
 *
 * INVARIANT (synced): every session commits with the log flushed, also where the server's default is
 * another. A server that does not sync at all (`fsync = off`) is refused.
 */

import { createRequire } from 'node:module'
import type { Client, ClientBase, Pool, PoolClient, PoolConfig } from 'pg'
import { type Fault, FaultError, fault, faultError } from '../../base/index.ts'
import { HOST_STREAM } from '../../ledger/index.ts'
import { BEGINNING_TYPE, beginningName, lostStream } from '../streams/stream-start.ts'
import { REFUSED } from './home-schema.ts'
import { diagnose } from './postgres-diagnosis.ts'
import {
  checkName,
  creation,
  FENCED,
  POSTGRES_VERSION,
  postgresDifferences,
  upgrade,
} from './postgres-schema.ts'

/** SQLSTATE of a right that a role does not have. */
export const INSUFFICIENT_PRIVILEGE = '42501'

/** Where a ledger in PostgreSQL lies. */
export interface PostgresPlace {
  /** As `pg` takes it: a host, a socket directory, or a connection string. */
  readonly connection: PoolConfig
  readonly schema: string
}

/** A connection, or a pool of them. */
type Queries = Pick<ClientBase, 'query'>

interface PoolLimits {
  readonly connectionsMax: number
  readonly waitMsMax: number
  /** A session that sleeps so long inside a transaction is ended by the server. */
  readonly stallMsMax: number
}

const KEEP_ALIVE_MS = 10_000

export async function openPool(
  { connection }: PostgresPlace,
  { connectionsMax, waitMsMax, stallMsMax }: PoolLimits,
): Promise<Pool> {
  const { default: pg } = await loadPg()
  const settings = {
    synchronous_commit: 'on',
    lock_timeout: waitMsMax,
    idle_in_transaction_session_timeout: stallMsMax,
    client_encoding: 'UTF8',
    // Every question here is a look into a primary key. A planner that has not seen the tables grow
    // would read them from end to end.
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    jit: 'off',
  }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  const pool = new pg.Pool({
    ...withPassword(connection),
    max: connectionsMax,
    connectionTimeoutMillis: waitMsMax,
    // Else an idle connection that the network has dropped is never found dead.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    options: [...(connection.options === undefined ? [] : [connection.options]), ...options].join(
      ' ',
    ),
  })
  // The pool replaces a connection that dies while it is idle. Each client needs a listener of its own
  // as well: while it changes hands, neither the pool nor a caller listens to its errors.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

/** Connections for what is kept on the server besides the ledger. A dead peer is noticed in half a minute. */
export function openServerPool(
  place: PostgresPlace,
  connectionsMax: number,
  user?: string,
): Promise<Pool> {
  const settings =
    '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'
  const connection = {
    ...place.connection,
    options: settings,
    ...(user === undefined ? {} : { user }),
  }
  const limits = { connectionsMax, waitMsMax: 10_000, stallMsMax: 60_000 }
  return openPool({ ...place, connection }, limits)
}

function withPassword(connection: PoolConfig): PoolConfig {
  // `pg` hands over the login, which its types leave out.
  return { password: findPassword as () => Promise<string>, ...connection }
}

/** Programs whose ledger is a file do not wait for this package to load. */
function loadPg(): Promise<typeof import('pg')> {
  return import('pg')
}

/** Returns where a connection or a pool of them leads. */
export function connectionIn(queries: object): PoolConfig {
  // A pool keeps what it was opened with; a connection has the same fields itself.
  return 'options' in queries ? (queries.options as PoolConfig) : queries
}

/** One connection of its own, not opened yet. */
export async function newClient(connection: PoolConfig): Promise<Client> {
  const { default: pg } = await loadPg()
  const client = new pg.Client(withPassword(connection))
  client.on('error', ignore)
  return client
}

/** Gives a connection back; one that failed is thrown away. */
export function release(client: PoolClient, outcome: 'sound' | 'broken'): void {
  client.release(outcome === 'broken')
}

function ignore(): void {}

/** Fails in words if the role of the connection does not get in. */
export async function tryLogin({ connection, schema }: PostgresPlace): Promise<void> {
  const client = await newClient(connection)
  try {
    await client.connect()
  } catch (error) {
    throw postgresFailure(error, schema, connection)
  } finally {
    await client.end().catch(ignore)
  }
}

/**
 * Makes an empty ledger of that name in a schema of its own. Run by the owner; appenders log in as
 * roles to which the role `appender` is granted, such as `login`.
 */
export async function createPostgresLedger(
  { connection, schema }: PostgresPlace,
  name: string,
  appender: string,
  login?: string,
): Promise<void> {
  const client = await newClient(connection)
  try {
    await client.connect()
    await client.query('BEGIN')
    for (const sql of creation(checkName(schema), checkName(appender))) await client.query(sql)
    if (login !== undefined) {
      await client.query(`GRANT ${checkName(appender)} TO ${client.escapeIdentifier(login)}`)
    }
    const values = [name, POSTGRES_VERSION]
    await client.query(`INSERT INTO ${schema}.ledger VALUES (1, $1, $2)`, values)
    await client.query('COMMIT')
  } catch (error) {
    throw postgresFailure(error, schema, connection)
  } finally {
    await client.end().catch(ignore)
  }
}

/**
 * Makes a ledger of an older format one of this, where it is not yet. Run by the owner. `within`: what else
 * belongs to that transaction.
 */
export async function upgradePostgresLedger(
  { connection, schema }: PostgresPlace,
  appender: string,
  within: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await newClient(connection)
  let found = POSTGRES_VERSION
  try {
    await client.connect()
    const sql = `SELECT version FROM ${checkName(schema)}.ledger`
    const version = async (): Promise<number> =>
      (await client.query<{ version: number }>(sql)).rows[0]?.version ?? POSTGRES_VERSION
    // Only the owner may lock the table, and any role may run `init` again where nothing is to do.
    found = await version()
    if (found >= POSTGRES_VERSION) return
    await client.query('BEGIN')
    await client.query(`LOCK TABLE ${schema}.ledger IN ACCESS EXCLUSIVE MODE`)
    const from = await version()
    if (from < POSTGRES_VERSION) {
      for (const one of upgrade(schema, checkName(appender), from)) await client.query(one)
      await within(client)
    }
    await client.query('COMMIT')
  } catch (error) {
    const isOwner = errorCode(error) !== INSUFFICIENT_PRIVILEGE
    throw isOwner ? postgresFailure(error, schema, connection) : otherVersion(schema, found)
  } finally {
    await client.end().catch(ignore)
  }
}

/** The name of the ledger, when its format is known. */
export async function readLedgerName(client: Queries, schema: string): Promise<string> {
  checkName(schema)
  const { rows } = await client.query<{ name: string; version: number }>(
    `SELECT name, version FROM ${schema}.ledger`,
  )
  const [row] = rows
  if (row === undefined) throw faultError('ledger.tampered', schema, 'the ledger has no name')
  if (row.version === POSTGRES_VERSION) return row.name
  throw otherVersion(schema, row.version)
}

function otherVersion(schema: string, found: number): FaultError {
  const message = `the tables of this home have format ${found}, and this writ knows format ${POSTGRES_VERSION}`
  const hint =
    found < POSTGRES_VERSION
      ? 'run `writ init --store URL --store-owner ROLE` once more, with the role that owns the tables, on the machine where the home was made: it brings them up to date and keeps every fact'
      : 'a newer writ has changed the home: install that version on this machine as well (`writ --version` says which one a machine has)'
  const details = { found, known: POSTGRES_VERSION }
  return new FaultError(fault('ledger.version', schema, details, { message, hint }))
}

/** The name of the ledger, when it is one that may be written to. */
export async function checkLedger(client: PoolClient, schema: string): Promise<string> {
  const name = await readLedgerName(client, schema)
  const { rows } = await client.query<{ fsync: string }>(`SELECT current_setting('fsync') AS fsync`)
  if (rows[0]?.fsync !== 'on') {
    const reason = 'the server runs with fsync off, so nothing would be durable'
    const message = `${reason}: writ does not write to it`
    const hint = 'set fsync = on in postgresql.conf and restart the server'
    throw new FaultError(fault('ledger.unreachable', schema, { reason }, { message, hint }))
  }
  const [different] = await postgresDifferences(client, schema)
  if (different === undefined) return name
  const message = `the guard or table \`${different}\` is missing or changed`
  throw faultError('ledger.tampered', schema, message)
}

/** Another writer was faster, or the server had to choose between two: the turn is taken again. */
export function isRetried(error: unknown): boolean {
  // Serialisation, deadlock, a name or place that another one took at the same moment.
  return [FENCED, '40001', '40P01', '23505'].includes(errorCode(error) ?? '')
}

/** The server is going down, is away, coming up, or has no place for us: it may be there in a moment. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = errorCode(error)
  if (code === null) return isConnectionLoss(error)
  // Shutdown, crash, start, too many connections, and our own session ended because it slept.
  return /^(?:57P0[123]|53300|25P03|08\d{3}|ECONN\w+|ENOENT|EPIPE)$/.test(code)
}

/** The failure that an error of the server or the connection is. Bugs pass through. */
export function postgresFailure(
  error: unknown,
  at: string,
  connection: PoolConfig,
  purpose: 'record' | 'read' = 'record',
): unknown {
  if (error instanceof FaultError || !(error instanceof Error)) return error
  const code = errorCode(error) ?? ''
  const diagnosis = diagnose(code, error.message, connection, { schema: at, purpose })
  if (diagnosis !== null) {
    const reason = `${code === '' ? '' : `${code}: `}${error.message}`
    const found = fault('ledger.unreachable', at, { reason }, diagnosis)
    return new FaultError(found, { cause: error })
  }
  if (code === '' && !isConnectionLoss(error)) return error
  return new FaultError(faultOf(code, at, error), { cause: error })
}

/**
 * The failure of a reader. A table or column that is gone or of another type, and pages that cannot be
 * read, are damage: a reader names only what a ledger has.
 */
export function damageOf(error: unknown, at: string, connection: PoolConfig): unknown {
  const code = errorCode(error) ?? ''
  if (!/^(?:42|22|3F|XX|58P01)/.test(code) || code === INSUFFICIENT_PRIVILEGE) {
    return postgresFailure(error, at, connection, 'read')
  }
  const reason = `${code}: ${(error as Error).message}` // It has a code.
  const message = `the tables of the ledger in the schema ${at} are damaged (${reason})`
  const hint = 'put a copy of the schema back, as from pg_dump; nothing of this one was changed'
  return new FaultError(fault('ledger.corrupt', at, { reason }, { message, hint }), {
    cause: error,
  })
}

function faultOf(code: string, at: string, { message }: Error): Fault {
  if (code === '53100') return fault('ledger.disk_full', at, null)
  if (code === '55P03' || code === FENCED) return fault('ledger.busy', at, { waitedMs: 0 })
  if (code === REFUSED) {
    return fault('ledger.tampered', at, null, { message: `the server refused a write: ${message}` })
  }
  if (/^(?:XX001|XX002)$/.test(code)) return fault('ledger.corrupt', at, { reason: message })
  if (/^(?:42P06)$/.test(code)) return fault('ledger.exists', at, null)
  if (/^(?:3D000|3F000|42P01)$/.test(code)) return fault('ledger.missing', at, null)
  const reason = code === '' ? message : `${code}: ${message}`
  const said = `the ledger in PostgreSQL could not be read or written: ${reason}`
  return fault('ledger.unreachable', at, { reason }, { message: said })
}

function errorCode(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$|^E[A-Z]+$/.test(code) ? code : null
}

/** `pg` has no codes for these. */
function isConnectionLoss({ message }: Error): boolean {
  return /connection terminated|not queryable|timeout exceeded/i.test(message)
}

/** Fails as `checkNotBegun` does if a stream that has no head in PostgreSQL was begun. */
export async function checkNotBegunAt(
  queries: Queries,
  schema: string,
  stream: string,
): Promise<void> {
  const isGone = `NOT EXISTS (SELECT FROM ${schema}.streams JOIN ${schema}.heads USING (stream)
    WHERE name = $1)`
  const { rows } =
    stream === HOST_STREAM
      ? await queries.query(`SELECT FROM ${schema}.streams WHERE ${isGone} LIMIT 1`, [stream])
      : await queries.query(
          `SELECT FROM ${schema}.facts JOIN ${schema}.streams USING (stream)
            WHERE name = '${HOST_STREAM}' AND position($2 IN fact) > 0
              AND position('${BEGINNING_TYPE}' IN fact) > 0 AND ${isGone} LIMIT 1`,
          [stream, beginningName(stream)],
        )
  if (rows.length > 0) throw lostStream(stream)
}

/** What a line of the file is chosen by. */
interface Login {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly user?: string | undefined
}

/** The package has no types of its own. */
type PgPass = (login: Login, tell: (password: string | undefined) => void) => void

/**
 * The password of a role in PostgreSQL, from where PostgreSQL's own programs take it: `PGPASSWORD`, else
 * the password file (`PGPASSFILE`, `~/.pgpass`). The package `pg` reads that file as well, and prints a
 * warning to people that it will stop to.
 *
 * Returns undefined when there is none; `pg` asks only if the server wants one.
 */
async function findPassword(login: Login): Promise<string | undefined> {
  const { PGPASSWORD: given } = process.env
  if (given !== undefined) return given
  const readFile = createRequire(import.meta.url)('pgpass') as PgPass // As it is documented.
  return new Promise((resolve) => readFile(login, resolve))
}
