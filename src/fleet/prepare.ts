/**
 * Makes the tables of jobs of a home, once, by the role that owns the home's tables. They stay its own:
 * appenders read and write rows, and may neither change what is there nor add to it, because this role
 * and other appenders run it.
 */
import type { Pool } from 'pg'
import { FaultError, fault } from '../base/index.ts'
import { connectionIn, type HomeServer, postgresFailure } from '../store/index.ts'
import { jobsSchema } from './jobs.ts'

const APPENDER = 'writ_appender'

export async function prepareJobs(server: HomeServer, owner: string | undefined): Promise<void> {
  const schema = jobsSchema(server)
  const pool = await server.openPool(2, owner)
  try {
    // The engine is in the script of workers alone: other commands use the rest of this room.
    const { runMigrations } = await import('graphile-worker')
    await refuseForeign(pool, schema)
    await runMigrations({ pgPool: pool, schema })
    await pool.query(OPEN.replaceAll('@', schema))
  } catch (error) {
    const { code } = error as { readonly code?: unknown } // Of an error of the server.
    if (owner === undefined && code === '42501') throw notOwner(schema, error)
    throw postgresFailure(error, schema, connectionIn(pool))
  } finally {
    await pool.end()
  }
}

function notOwner(schema: string, cause: unknown): Error {
  const reason = 'the role that records the facts may not make tables'
  const message = `${reason}; the role that owns the tables of the home makes those of jobs, too`
  const hint = 'writ worker prepare --store-owner ROLE'
  const found = fault('ledger.unreachable', schema, { reason }, { message, hint })
  return new FaultError(found, { cause })
}

/** Fails if another role made or owns something there: nothing of it is run by this one. */
async function refuseForeign(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ owner: string }>(
    `SELECT owner::regrole::text AS owner FROM pg_namespace AS space, LATERAL (
        SELECT nspowner AS owner
        UNION SELECT relowner FROM pg_class WHERE relnamespace = space.oid
        UNION SELECT proowner FROM pg_proc WHERE pronamespace = space.oid
        UNION SELECT typowner FROM pg_type WHERE typnamespace = space.oid) AS one
      WHERE nspname = $1 AND owner <> current_user::regrole`,
    [schema],
  )
  const [found] = rows
  if (found === undefined) return
  const reason = `the role \`${found.owner}\` owns tables or functions there`
  const message = `${reason}, which the role that prepares workers would run; nothing was changed`
  const hint = `look what is queued: \`writ worker list\`; then, as that role: \`DROP SCHEMA ${schema} CASCADE\`, and \`writ worker prepare\` again; queue runs and proposals again that have not begun`
  throw new FaultError(fault('ledger.unreachable', schema, { reason }, { message, hint }))
}

/** A worker reads a whole job before it looks at it. No proposal that writ takes is longer. */
const PAYLOAD_BYTES_MAX = 32 * 1024 * 1024

const OPEN = `DO $do$ DECLARE name text; BEGIN
  GRANT USAGE ON SCHEMA @ TO ${APPENDER};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA @ TO ${APPENDER};
  REVOKE INSERT, UPDATE, DELETE ON @.migrations FROM ${APPENDER};
  GRANT USAGE ON ALL SEQUENCES IN SCHEMA @ TO ${APPENDER};
  ALTER TABLE @._private_jobs DROP CONSTRAINT IF EXISTS bounded;
  ALTER TABLE @._private_jobs ADD CONSTRAINT bounded
    CHECK (octet_length(payload::text) <= ${PAYLOAD_BYTES_MAX}) NOT VALID;
  FOR name IN SELECT oid::regclass::text FROM pg_class
    WHERE relnamespace = '@'::regnamespace AND relrowsecurity
  LOOP
    EXECUTE format('DROP POLICY IF EXISTS appenders ON %s', name);
    EXECUTE format('CREATE POLICY appenders ON %s TO ${APPENDER} USING (true) WITH CHECK (true)', name);
  END LOOP;
END $do$`
