/**
 * Services that a person registered, each with a key of its home. A service is spoken to only under a
 * registered address, and only while its checkpoints are signed by that key, or by keys which that one
 * certifies: those of other machines of the home, and those that followed in a rotation.
 */
import { join } from 'node:path'
import { type Client, createClient, ProblemError } from '../../api/index.ts'
import { type Fault, FaultError, faultError, showName } from '../../base/index.ts'
import { field, isObject } from '../../contracts/index.ts'
import { type Surroundings, stateRoot } from '../../home/index.ts'
import {
  fingerprint,
  followKeyChain,
  formatVerifierKey,
  HOST_STREAM,
  type KeyChain,
  parseVerifierKey,
} from '../../ledger/index.ts'
import { LOOPBACK_NAMES, makeFolder, readIfThere, writeWhole } from '../../machine/index.ts'
import type { CommandCall } from '../call/command.ts'
import { surroundings } from '../call/terminal.ts'

interface Remote {
  readonly name: string
  readonly url: string
  /** As `writ ledger key` prints it. */
  readonly key: string
  /** The keys that sign now, as they were proven last; absent before the first check. */
  readonly keys?: readonly string[]
}

function fileOf(around: Surroundings): string {
  return join(stateRoot(around), 'remotes.json')
}

export function readRemotes(around: Surroundings): readonly Remote[] {
  const text = readIfThere(fileOf(around))
  if (text === null) return []
  const value: unknown = JSON.parse(text.toString())
  const rows = isObject(value) && Array.isArray(value['remotes']) ? value['remotes'] : []
  return rows.filter(isRemote)
}

function isRemote(row: unknown): row is Remote {
  if (!isObject(row)) return false
  const { keys = [] } = row
  const isList = Array.isArray(keys) && keys.every((one) => typeof one === 'string')
  return isList && ['name', 'url', 'key'].every((name) => typeof row[name] === 'string')
}

export function writeRemotes(around: Surroundings, remotes: readonly Remote[]): void {
  makeFolder(stateRoot(around), 0o700)
  writeWhole(fileOf(around), `${JSON.stringify({ remotes })}\n`, 0o600)
}

/** The address without what names nothing of it. Fails if a token would go there unprotected. */
export function wholeUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw faultError('cli.usage', text, `${showName(text)} is no address`, 'http://127.0.0.1:4180')
  const { protocol, hostname, host, origin } = url
  if (protocol === 'https:' || LOOPBACK_NAMES.has(hostname.replaceAll(/[[\]]/g, ''))) return origin
  const message = `${showName(origin)} is another machine, and plain http would show your token and passphrase on the way`
  throw faultError('cli.usage', text, message, `https://${host}`)
}

export function clientOf(around: Surroundings, url: string): Client {
  const token = around.env['WRIT_TOKEN'] ?? ''
  if (token === '') {
    const hint = 'a human makes one where the service is: `writ token create KIND:ID@NAMESPACE`'
    throw faultError('api.no_token', '', '`WRIT_URL` needs `WRIT_TOKEN`', hint)
  }
  return createClient({ url, token })
}

/** Returns a client of the service that `WRIT_URL` names, once its key was checked. */
export async function connect({ options }: CommandCall): Promise<Client> {
  const around = surroundings()
  if (options.text('home') !== null)
    throw faultError('cli.usage', '', '`--home` names a home of this machine, `WRIT_URL` a service')
  const url = wholeUrl(around.env['WRIT_URL'] ?? '')
  const remote = remoteOf(around, url)
  const client = clientOf(around, url)
  const keys = await checkKeys(client, remote, remote.keys ?? [remote.key])
  if (keys.join() !== (remote.keys ?? []).join()) noteKeys(around, url, keys)
  return client
}

/** A key that was removed or rotated is not believed again. */
function noteKeys(around: Surroundings, url: string, keys: readonly string[]): void {
  const rows = readRemotes(around).map((one) => (one.url === url ? { ...one, keys } : one))
  writeRemotes(around, rows)
}

/** Returns the registered service of an address. Fails if there is none. */
function remoteOf(around: Surroundings, url: string): Remote {
  const found = readRemotes(around).find((one) => one.url === url)
  if (found !== undefined) return found
  const message = `the service at ${showName(url)} is not registered here`
  throw faultError('remote.unknown', url, message, `writ remote add NAME ${url}`)
}

/**
 * Returns the keys that sign now, proven from those that are trusted. Fails if a checkpoint of the service is
 * signed by none of them, or none is shown.
 */
export async function checkKeys(
  client: Client,
  { url, name }: Pick<Remote, 'url' | 'name'>,
  trusted: readonly string[],
): Promise<readonly string[]> {
  const { streams } = (await told(client.listStreams({}))).value
  if (!Array.isArray(streams)) throw foreignAnswer(url)
  // The host's stream names every key; one stream alone does not tell, for all have to be signed.
  const names = [...streams.map(({ stream }) => stream)].sort(hostFirst)
  const [first] = names
  if (first === undefined) {
    const message = `the service at ${showName(url)} shows no signed checkpoint to this token, so its key cannot be checked`
    const hint = 'use a token of a stream that has a fact: `writ token create` where the service is'
    throw faultError('remote.key_unproven', url, message, hint)
  }
  const known = trusted.flatMap((key) => parseVerifierKey(key) ?? [])
  const found = await Promise.all(
    names.map(async (stream) => {
      const { value } = await told(client.proveKeys({ params: { stream } }))
      return isKeyChain(value) ? followKeyChain(value, known) : null
    }),
  )
  const [keys] = found
  if (keys?.ok === true && found.every((one) => one?.ok)) return keys.keys.map(formatVerifierKey)
  const message = `the service at ${showName(url)} signs with another key than the one registered for ${showName(name)}, and no fact that a registered key has signed certifies it`
  const hint = `compare the keys where the home is (\`writ ledger key\`), then: writ remote remove ${name}; writ remote add ${name} ${url} --key "$KEYS", with what it prints there`
  throw faultError('remote.key_changed', url, message, hint)
}

function hostFirst(one: string, other: string): number {
  return Number(other === HOST_STREAM) - Number(one === HOST_STREAM)
}

/** What another service answers need not have the form of the route. */
function isKeyChain(value: unknown): value is KeyChain {
  const isPath = (path: unknown): boolean =>
    Array.isArray(path) && path.every((one) => typeof one === 'string')
  const isKept = (kept: unknown): boolean =>
    kept === null || (typeof field(kept, 'checkpoint') === 'string' && isPath(field(kept, 'path')))
  const changes = field(value, 'changes')
  return (
    typeof field(value, 'head') === 'string' &&
    Array.isArray(changes) &&
    changes.every((one) => {
      const isFact = typeof field(one, 'fact') === 'string' && Number.isInteger(field(one, 'seq'))
      return isFact && isPath(field(one, 'path')) && isKept(field(one, 'kept'))
    })
  )
}

/** Of an answer that does not have the form of its route. */
function foreignAnswer(url: string) {
  const message = `what answers at ${showName(url)} is no service of writ`
  return faultError('api.foreign_answer', url, message, 'is this the address of `writ serve`?')
}

/** The public keys that a service says are its own: one of each machine. */
export async function keysOf(client: Client, url: string): Promise<readonly string[]> {
  const { public_key, keys } = (await told(client.listKeys({ query: {} }))).value
  if (typeof public_key !== 'string' || !Array.isArray(keys)) throw foreignAnswer(url)
  return onePerKey(keys)
}

/** `writ ledger key` prints each key under the name of the home and of each stream. */
export function onePerKey(keys: readonly string[]): readonly string[] {
  return [
    ...new Map([...keys].reverse().map((key) => [fingerprintOf(key), key])).values(),
  ].reverse()
}

/** Turns a problem of the service, or silence, into a fault in the words of the service. */
export async function told<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof ProblemError) throw new FaultError(faultOf(error))
    const message = `the service does not answer: ${(error as Error).message}`
    throw faultError('remote.unreachable', '', message, 'is `writ serve` running there?')
  }
}

function faultOf({ problem: { code, detail, hint } }: ProblemError): Fault {
  const words = hint === undefined ? {} : { hint }
  // The client takes only codes that are known here; their details stay in the service.
  return { code, at: '', message: detail, details: null, ...words } as unknown as Fault
}

export function fingerprintOf(key: string): string {
  const parsed = parseVerifierKey(key)
  if (parsed !== null) return fingerprint(parsed.publicKey)
  throw faultError('cli.usage', key, `${showName(key)} is no public key`, 'writ ledger key')
}
