/**
 * The password of a role in PostgreSQL, from where PostgreSQL's own programs take it: `PGPASSWORD`, else
 * the password file (`PGPASSFILE`, `~/.pgpass`). The package `pg` reads that file as well, and prints a
 * warning to people that it will stop to.
 */
import { createRequire } from 'node:module'

/** What a line of the file is chosen by. */
interface Login {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly user?: string | undefined
}

/** The package has no types of its own. */
type PgPass = (login: Login, tell: (password: string | undefined) => void) => void

/** Returns undefined when there is none; `pg` asks only if the server wants one. */
export async function findPassword(login: Login): Promise<string | undefined> {
  const { PGPASSWORD: given } = process.env
  if (given !== undefined) return given
  const readFile = createRequire(import.meta.url)('pgpass') as PgPass // As it is documented.
  return new Promise((resolve) => readFile(login, resolve))
}
