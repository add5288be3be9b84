/**
 * Services that a person registered, each with the key of its home. A service is spoken to only under
 * a registered address, and only while its checkpoints are signed by that key.
 */
import { join } from 'node:path'
import { type Client, createClient, ProblemError } from '../../api/index.ts'
import { type Fault, FaultError, faultError, showName } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import { type Surroundings, stateRoot } from '../../home/index.ts'
import {
  fingerprint,
  openCheckpoint,
  parseNote,
  parseVerifierKey,
  verifierFor,
  verifierKey,
} from '../../ledger/index.ts'
import { LOOPBACK_NAMES, makeFolder, readIfThere, writeWhole } from '../../machine/index.ts'
import type { CommandCall } from '../call/command.ts'
import { surroundings } from '../call/terminal.ts'

interface Remote {
  readonly name: string
  readonly url: string
  /** As `writ ledger key` prints it. */
  readonly key: string
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
  return isObject(row) && ['name', 'url', 'key'].every((name) => typeof row[name] === 'string')
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
  await checkKey(client, remote)
  return client
}

/** Returns the registered service of an address. Fails if there is none. */
function remoteOf(around: Surroundings, url: string): Remote {
  const found = readRemotes(around).find((one) => one.url === url)
  if (found !== undefined) return found
  const message = `the service at ${showName(url)} is not registered here`
  throw faultError('remote.unknown', url, message, `writ remote add NAME ${url}`)
}

/** Fails if a checkpoint of the service is not signed with the key that was registered, or none is shown. */
export async function checkKey(client: Client, { url, key, name }: Remote): Promise<void> {
  const { streams } = (await told(client.listStreams({}))).value
  if (!Array.isArray(streams)) throw foreignAnswer(url)
  if (streams.length === 0) {
    const message = `the service at ${showName(url)} shows no signed checkpoint to this token, so its key cannot be checked`
    const hint = 'use a token of a stream that has a fact: `writ token create` where the service is'
    throw faultError('remote.key_unproven', url, message, hint)
  }
  // A rotation is signed with both keys, so one stream does not tell.
  const notes = streams.map(({ stream }) => told(client.showCheckpoint({ params: { stream } })))
  for (const { value } of await Promise.all(notes)) {
    if (isSigned(String(value), key)) continue
    const message = `the service at ${showName(url)} signs with another key than the one registered for ${showName(name)}`
    const hint = `if its home has a new key, compare it there (\`writ ledger key\`), then: writ remote remove ${name}; writ remote add ${name} ${url}`
    throw faultError('remote.key_changed', url, message, hint)
  }
}

/** Of an answer that does not have the form of its route. */
function foreignAnswer(url: string) {
  const message = `what answers at ${showName(url)} is no service of writ`
  return faultError('api.foreign_answer', url, message, 'is this the address of `writ serve`?')
}

/** The public key that a service says is its own. */
export async function keyOf(client: Client, url: string): Promise<string> {
  const { public_key } = (await told(client.listKeys({ query: {} }))).value
  if (typeof public_key === 'string') return public_key
  throw foreignAnswer(url)
}

function isSigned(note: string, key: string): boolean {
  const [origin = ''] = parseNote(note)?.text.split('\n') ?? []
  const pinned = parseVerifierKey(key)
  if (pinned === null) return false
  const verifier = verifierFor(verifierKey(origin, pinned.type, pinned.publicKey))
  return verifier !== null && openCheckpoint(note, [verifier]).ok
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
