/**
 * Makes the tables of jobs of a home, once, by the role that owns the home's tables. They belong to the
 * role of appenders: the engine changes its tables itself.
 */
import { FaultError, fault } from '../base/index.ts'
import { type HomeServer, postgresFailure } from '../store/index.ts'
import { jobsSchema } from './jobs.ts'

const APPENDER = 'writ_appender'

export async function prepareJobs(server: HomeServer, owner: string | undefined): Promise<void> {
  const schema = jobsSchema(server)
  const pool = await server.openPool(2, owner)
  try {
    // The engine is in the script of workers alone: other commands use the rest of this room.
    const { runMigrations } = await import('graphile-worker')
    await runMigrations({ pgPool: pool, schema })
    await pool.query(`GRANT ${APPENDER} TO CURRENT_USER`).catch(() => undefined)
    await pool.query(`GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${APPENDER}`)
    await pool.query(OWN.replaceAll('@', schema))
  } catch (error) {
    const { code } = error as { readonly code?: unknown } // Of an error of the server.
    if (owner === undefined && code === '42501') throw notOwner(schema, error)
    throw postgresFailure(error, schema)
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

const OWN = `DO $do$ DECLARE one record; BEGIN
  FOR one IN SELECT c.oid::regclass::text AS name, CASE c.relkind WHEN 'S' THEN 'SEQUENCE'
      WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS kind FROM pg_class c
    WHERE c.relnamespace = '@'::regnamespace AND c.relkind IN ('r', 'v', 'p')
  LOOP EXECUTE format('ALTER %s %s OWNER TO ${APPENDER}', one.kind, one.name); END LOOP;
  FOR one IN SELECT p.oid::regprocedure::text AS name FROM pg_proc p
    WHERE p.pronamespace = '@'::regnamespace
  LOOP EXECUTE format('ALTER FUNCTION %s OWNER TO ${APPENDER}', one.name); END LOOP;
  FOR one IN SELECT t.oid::regtype::text AS name FROM pg_type t
    WHERE t.typnamespace = '@'::regnamespace AND t.typtype = 'c'
      AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind <> 'c')
  LOOP EXECUTE format('ALTER TYPE %s OWNER TO ${APPENDER}', one.name); END LOOP;
  ALTER SCHEMA @ OWNER TO ${APPENDER};
END $do$`
