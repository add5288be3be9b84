/**
 * Where the facts of a ledger lie: in `ledger.db` of its state directory, or in PostgreSQL if
 * `store.json` of that directory says so. Keys and bodies stay in the state directory either way.
 *
 * INVARIANT (no password on paper): the setting never holds one, and a URL with one is refused. It
 * comes from where PostgreSQL's own programs take it: `~/.pgpass`, or `PGPASSWORD`.
 */
import { join } from 'node:path'
import type { PoolConfig } from 'pg'
import { FaultError, fault, showName } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import type { PostgresPlace } from '../postgres/postgres-connection.ts'
import { isSqlName } from '../postgres/postgres-schema.ts'

export type StoreSetting =
  | { readonly kind: 'sqlite' }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }

export type PostgresSetting = Extract<StoreSetting, { kind: 'postgres' }>

export const STORE_FILE = 'store.json'
export const SQLITE: StoreSetting = { kind: 'sqlite' }

export function readStoreSetting(directory: string): StoreSetting {
  const file = join(directory, STORE_FILE)
  const text = readIfThere(file)
  if (text === null) return SQLITE
  const setting = parseSetting(text)
  if (setting === null) throw malformed(file, `${showName(file)} is no setting of a store`)
  // The URL is looked at again: the file may have been edited.
  connectionOf(setting.url)
  return setting
}

export function writeStoreSetting(directory: string, setting: PostgresSetting): void {
  const text = `${JSON.stringify(setting, null, 2)}\n`
  writeWhole(join(directory, STORE_FILE), text, 0o600)
}

function parseSetting(text: string): PostgresSetting | null {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || Object.keys(value).sort().join() !== 'kind,schema,url') return null
    const { kind, url, schema } = value
    if (kind !== 'postgres' || typeof url !== 'string' || typeof schema !== 'string') return null
    return isSqlName(schema) ? { kind, url, schema } : null
  } catch {
    return null
  }
}

export function postgresPlaceOf({ url, schema }: PostgresSetting): PostgresPlace {
  return { connection: connectionOf(url), schema }
}

const PARAMETERS = ['host', 'sslmode']
const SCHEMES = ['postgres:', 'postgresql:']

/**
 * `postgresql://user@host:port/database`, or `postgresql://user@/database?host=/socket/directory`.
 * Anything else that a URL could ask of the server is refused: what a session needs is set here.
 */
export function connectionOf(url: string): PoolConfig {
  const parsed = parseUrl(url)
  if (parsed === null || !SCHEMES.includes(parsed.protocol)) {
    throw malformed('store', 'a store is named by a URL such as postgresql://user@host/database')
  }
  if (parsed.password !== '') {
    const message = 'the URL of a store holds no password: others could read it'
    throw malformed('store', message, 'put it into ~/.pgpass, or into PGPASSWORD')
  }
  const unknown = [...parsed.searchParams.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) {
    throw malformed('store', `the URL of a store has no parameter ${showName(unknown)}`)
  }
  const named = parsed.hostname === NO_HOST ? '' : decodeURIComponent(parsed.hostname)
  const host = parsed.searchParams.get('host') ?? named
  const user = decodeURIComponent(parsed.username)
  const database = decodeURIComponent(parsed.pathname.slice(1))
  return {
    ...(host === '' ? {} : { host }),
    ...(parsed.port === '' ? {} : { port: Number(parsed.port) }),
    ...(user === '' ? {} : { user }),
    ...(database === '' ? {} : { database }),
    ssl: isEncrypted(host, parsed.searchParams.get('sslmode')),
  }
}

/** To the parser a user without a host is no URL, but sockets have no host. */
const NO_HOST = 'no-host.invalid'

function parseUrl(url: string): URL | null {
  try {
    return new URL(url.replace(/^(postgres(?:ql)?:\/\/[^/@?#]+)@\//, `$1@${NO_HOST}/`))
  } catch {
    return null
  }
}

/** Beyond this machine only with a certificate that is checked, unless the URL says otherwise. */
function isEncrypted(host: string, mode: string | null): boolean {
  if (mode === 'verify-full') return true
  if (mode === 'disable') return false
  if (mode !== null) {
    const message = `${showName(mode)} is no sslmode of a store`
    throw malformed('store', message, 'verify-full, or disable')
  }
  return !(host === '' || host.startsWith('/') || /^(?:localhost|127\.|\[?::1\]?$)/.test(host))
}

function malformed(at: string, message: string, hint?: string): FaultError {
  const words = hint === undefined ? { message } : { message, hint }
  return new FaultError(fault('ledger.store_malformed', at, null, words))
}
