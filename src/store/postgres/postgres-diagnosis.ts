/**
 * What keeps writ from a PostgreSQL server, in words: which of password, server, database, rights or
 * durability is wrong, and the command or SQL that mends it.
 */
import { userInfo } from 'node:os'
import type { PoolConfig } from 'pg'

interface Diagnosis {
  readonly message: string
  readonly hint: string
}

/** What was under way in which schema. */
interface Occasion {
  readonly schema: string
  readonly purpose: 'record' | 'read'
}

/** Returns null for errors that are no matter of the set-up. */
export function diagnose(
  code: string,
  said: string,
  connection: PoolConfig,
  { schema, purpose }: Occasion = { schema: 'SCHEMA', purpose: 'record' },
): Diagnosis | null {
  // What a URL leaves out is what `pg` takes then.
  const { env } = process
  const {
    user = env['PGUSER'] ?? env['USER'] ?? userInfo().username,
    host = env['PGHOST'] ?? 'localhost',
    port = Number(env['PGPORT'] ?? 5432),
    database = env['PGDATABASE'] ?? String(user),
  } = connection
  const server = String(host).startsWith('/') ? `socket ${host}` : `${host}:${port}`
  if (/client password must be|no password supplied/i.test(said)) {
    return {
      message: `the server at ${server} asks for the password of the role ${user}, and none was given`,
      hint: passwordHint({ host, port, user, database }),
    }
  }
  if (code === '28P01') {
    return {
      message: `the server at ${server} refused the password of the role ${user}`,
      hint: passwordHint({ host, port, user, database }),
    }
  }
  if (code === '28000') {
    return {
      message: `the server at ${server} does not let the role ${user} in: ${said}`,
      hint: `make the role (CREATE ROLE ${user} LOGIN), or allow it in pg_hba.conf`,
    }
  }
  if (code === '3D000') {
    return {
      message: `the server at ${server} has no database ${database}`,
      hint: `createdb ${database}`,
    }
  }
  if (
    /^(?:ECONNREFUSED|ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/.test(code)
  ) {
    return {
      message: `no PostgreSQL server answers at ${server} (${code})`,
      hint: `look at host and port of the URL; pg_isready -h ${host} -p ${port}`,
    }
  }
  if (code === '25006') {
    return {
      message: `the server at ${server} takes no writes: it is a standby, or was set to read-only`,
      hint: 'name the primary in store.json, or set default_transaction_read_only = off',
    }
  }
  if (code !== '42501') return null
  return purpose === 'read'
    ? missingSight(said, String(user), schema)
    : missingRight(said, String(user), String(database))
}

function passwordHint({ host, port, user, database }: PoolConfig) {
  return `a line \`${host}:${port}:${database}:${user}:PASSWORD\` in ~/.pgpass (chmod 600), or PGPASSWORD; with --store-owner both roles log in, each with its own line`
}

/** A role that only looks gets no right to append. */
function missingSight(said: string, user: string, schema: string): Diagnosis {
  return {
    message: `the role ${user} may not read the home: ${said}`,
    hint: `as the owner of the ledger: GRANT USAGE ON SCHEMA ${schema} TO ${user}; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${user}`,
  }
}

function missingRight(said: string, user: string, database: string): Diagnosis {
  if (/for database/.test(said)) {
    return {
      message: `the role ${user} may not make a schema in the database ${database}`,
      hint: `as a superuser: GRANT CREATE ON DATABASE ${database} TO ${user}`,
    }
  }
  if (/create role|CREATEROLE/i.test(said)) {
    return {
      message: `the role ${user} may not make the role writ_appender, which appenders are in`,
      hint: `as a superuser: ALTER ROLE ${user} CREATEROLE, or CREATE ROLE writ_appender NOLOGIN`,
    }
  }
  if (/grant role|admin option/i.test(said)) {
    return {
      message: `the role ${user} may not grant the role writ_appender, which another role made`,
      hint: `as a superuser: GRANT writ_appender TO ${user} WITH ADMIN OPTION`,
    }
  }
  return {
    message: `the role ${user} lacks a right: ${said}`,
    hint: `as the owner of the ledger: GRANT writ_appender TO ${user}`,
  }
}
