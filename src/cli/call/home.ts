/**
 * How commands come to a home: found, believed, opened, and with the caller known. The caller is the
 * principal of `WRIT_TOKEN`, which may not be empty, else the local human without proof.
 *
 * INVARIANT (tenants, L-7): a stream that the caller may not know of is answered exactly like one that
 * does not exist.
 */
import { digestBytes, FaultError, faultError, showName } from '../../base/index.ts'
import type { TokenScope } from '../../contracts/index.ts'
import { DEFAULT_LISTS, knownAgent } from '../../gate/index.ts'
import {
  type Home,
  isProvenByTicket,
  lostLedger,
  openCredential,
  openHome,
  PROOF_TICKET,
  type PrincipalsPlace,
  readRegister,
  rememberPlaces,
  type Surroundings,
  wrongPassphrase,
} from '../../home/index.ts'
import {
  bearerOf,
  type Caller,
  type Credential,
  defaultStream,
  HOST_STREAM,
  humanFault,
  MAIN_STREAM,
  mayKnow,
  ownCredential,
  type Principal,
  principalText,
  type Register,
  scopeFault,
  scopeOfCommand,
  unknownStream,
} from '../../ledger/index.ts'
import { ancestorNames, type EndorserProof } from '../../service/index.ts'
import {
  type Actor,
  type Ledger,
  type LedgerKey,
  type LedgerReader,
  openHistory,
  openLedger,
} from '../../store/index.ts'
import { type CommandCall, usageError } from './command.ts'
import { readPassphrase } from './passphrase.ts'
import { surroundings } from './terminal.ts'

/** Of a command that only reads. */
export interface ReadSession {
  readonly home: Home
  readonly ledger: LedgerReader
  readonly register: Register
  readonly caller: Caller
}

/** What proving a human looks at. */
type ProofPlace = Pick<ReadSession, 'home' | 'ledger' | 'register' | 'caller'>

export interface Session extends ReadSession {
  readonly ledger: Ledger
}

/** Opens the home, hands it over, and closes it again, also when `work` fails. */
export async function withHome<T>(
  call: CommandCall,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const around = surroundings()
  const home = openHome(around, call.options.text('home'))
  return withLedger(home, async (ledger, register) => {
    const caller = callerOf(around, register, scopeOfCommand(call.command))
    return work({ home, ledger, register, caller })
  })
}

/** The same for reading: needs no key, and opens what a writer would refuse to add to. */
export async function withHistory<T>(
  call: CommandCall,
  work: (session: ReadSession) => Promise<T>,
): Promise<T> {
  const around = surroundings()
  const home = openHome(around, call.options.text('home'))
  const ledger = await ofKnownHome(home, openHistory({ directory: home.state }))
  try {
    const register = await readRegister({ ledger, state: home.state })
    return await work({ home, ledger, register, caller: callerOf(around, register, 'read') })
  } finally {
    await ledger.close()
  }
}

/** Waits for the ledger of a home that is registered. */
export async function ofKnownHome<T>(
  { state }: Pick<Home, 'state'>,
  opened: Promise<T>,
): Promise<T> {
  try {
    return await opened
  } catch (error) {
    if (!(error instanceof FaultError) || error.fault.code !== 'ledger.missing') throw error
    throw lostLedger(error.fault.at, state)
  }
}

export async function withLedger<T>(
  home: Home,
  work: (ledger: Ledger, register: Register) => Promise<T>,
): Promise<T> {
  const { state } = home
  const ledger = await ofKnownHome(home, openLedger({ directory: state }))
  rememberPerson(state)
  try {
    return await work(ledger, await readRegister({ ledger, state }))
  } finally {
    await ledger.close()
  }
}

/** Keeps where the person who calls has programs and settings; an actor's word is not kept. */
function rememberPerson(state: string): void {
  const { env } = surroundings()
  if (env['WRIT_TOKEN'] !== undefined) return
  try {
    rememberPlaces(state, env)
  } catch {
    // Commands that only read work on a full disk. Acts refuse a malformed list by themselves.
  }
}

/** Returns who calls. Fails if their token is not for what they do; null is what no scope covers. */
export function callerOf(
  around: Surroundings,
  register: Register,
  needed: TokenScope | null,
): Caller {
  const token = around.env['WRIT_TOKEN']
  if (token === undefined) {
    const principal = register.owner ?? localHuman(around)
    return { principal, streams: null, proof: 'none' }
  }
  const answer = bearerOf(register, token, Date.now())
  if (!answer.ok) throw new FaultError(answer.fault)
  const refused = scopeFault(answer.caller, needed)
  if (refused !== null) throw new FaultError(refused)
  return answer.caller
}

export function localHuman({ userName: id }: Surroundings): Principal {
  return { kind: 'human', id, namespace: 'local' }
}

export function actorOf({ caller }: Session): Actor {
  return { principal: caller.principal, source: 'cli' }
}

export function placeOf({ ledger, home }: Session): PrincipalsPlace {
  return { ledger, state: home.state }
}

/** The stream of a command that records; it need not exist yet. */
export function streamToWrite({ caller }: Session, call: CommandCall): string {
  const stream = call.options.text('stream') ?? defaultStream(caller)
  if (!mayKnow(caller, stream)) throw new FaultError(unknownStream(stream))
  if (stream === HOST_STREAM) {
    throw usageError('the stream `host` holds facts about the host only')
  }
  return stream
}

/** The stream of a command that reads. */
export async function streamToRead(
  { caller, ledger }: ReadSession,
  call: CommandCall,
): Promise<string> {
  const stream = call.options.text('stream') ?? defaultStream(caller)
  if (!mayKnow(caller, stream)) throw new FaultError(unknownStream(stream))
  const isOwn = stream === MAIN_STREAM || caller.streams !== null
  if (!isOwn && (await ledger.store.head(stream)) === null)
    throw new FaultError(unknownStream(stream))
  return stream
}

/** Every stream that the caller may know of, or the one it named. */
export async function streamsToRead(
  session: ReadSession,
  call: CommandCall,
): Promise<readonly string[]> {
  if (call.options.text('stream') !== null) return [await streamToRead(session, call)]
  const known = await session.ledger.store.streams()
  return known.filter((stream) => mayKnow(session.caller, stream))
}

/** Refuses all but humans of the whole host, and asks for their credential if there is one (I1). */
export async function requireHuman(
  session: ProofPlace,
  call: CommandCall,
  what: string,
): Promise<void> {
  requireWholeHost(session.caller, what)
  await proveHuman(session, call, what)
}

/** Whether `requireWholeHost` passes the caller. */
export function isOfWholeHost(caller: Caller): boolean {
  return humanFault(caller, '') === null && caller.streams === null
}

/** Refuses all but humans who may know of every stream. */
export function requireWholeHost(caller: Caller, what: string): void {
  refuseOthers(caller, what)
  if (caller.streams === null) return
  throw faultError('principal.scope', '', `${what} is for humans of the whole host`)
}

/** Refuses a call with a token where no one home could know it. */
export function refuseTokens({ env }: Surroundings, what: string): void {
  if (env['WRIT_TOKEN'] === undefined) return
  const message = `${what} is for a person, and \`WRIT_TOKEN\` is set`
  throw faultError('principal.not_human', '', message, 'call without `WRIT_TOKEN`')
}

export function refuseOthers(caller: Caller, what: string): void {
  const refused = humanFault(caller, what)
  if (refused !== null) throw new FaultError(refused)
}

/** What proves a human: their own credential, else that of the home's human; null without both. */
export function credentialOf({
  register,
  caller,
}: Pick<ReadSession, 'register' | 'caller'>): Credential | null {
  return ownCredential(register.credentials, caller.principal) ?? register.credential
}

/**
 * Asks for the caller's own passphrase, else for that of the home's human when there is one. Until then
 * the plain word of a human is enough, and that counts as little below a known agent as a plain yes
 * does. Answers with the caller's own key; null when it was not that which proved anything.
 */
export function proveHuman(
  session: ProofPlace,
  call: CommandCall,
  what: string,
): Promise<LedgerKey | null> {
  return provenBy(session, call, what).then(({ key }) => key)
}

/** The same, with what proved the human: their own key, or the ticket of a passkey's proof. */
export function provenBy(
  session: ProofPlace,
  call: CommandCall,
  what: string,
): Promise<EndorserProof> {
  const known = HANDED_OVER.get(call)
  if (known !== undefined) return known
  const proof = openedCredential(session, call, what)
  if (call.options.text('pass-fd') !== null) HANDED_OVER.set(call, proof)
  return proof
}

/** Proofs by a passphrase from a descriptor, which can be read once. */
const HANDED_OVER = new WeakMap<CommandCall, Promise<EndorserProof>>()

/**
 * Opens the credential if a passphrase is handed over. Called before a long list of changes is read:
 * opening takes 128 MB for a moment.
 */
export async function proveAhead(
  session: ProofPlace,
  call: CommandCall,
  what: string,
): Promise<void> {
  if (call.options.text('pass-fd') === null || credentialOf(session) === null) return
  // A failure counts when the proof is needed: another refusal may come first.
  await proveHuman(session, call, what).catch(() => null)
}

async function openedCredential(
  session: ProofPlace,
  call: CommandCall,
  what: string,
): Promise<EndorserProof> {
  const { register, caller } = session
  const own = ownCredential(register.credentials, caller.principal)
  const credential = credentialOf(session)
  const hasPasskeys = register.passkeys.some(({ removedAt }) => removedAt === null)
  if (credential === null && !hasPasskeys) {
    refuseBelowAgent(what)
    return { key: null, ticket: null }
  }
  if (credential === null && call.options.text('pass-fd') === null) throw passkeyOnly(what)
  const passphrase = await readPassphrase(call, `passphrase for ${what}`)
  if (passphrase === null) {
    const whose = own === null ? 'of this home’s human' : `of ${principalText(caller.principal)}`
    const message = `${what} needs the passphrase ${whose}`
    const hint = 'call from a terminal, or with `--pass-fd N`'
    throw faultError('credential.required', '', message, hint)
  }
  if (passphrase.startsWith(PROOF_TICKET)) return checkTicket(session, call, passphrase)
  if (credential === null) throw passkeyOnly(what)
  const { files } = session.ledger
  const { state } = session.home
  const key = await openCredential(state, passphrase, credential.key, files)
  if (key === null) throw await wrongPassphrase(state, credential.key, files)
  return { key: own === null ? null : key, ticket: null }
}

/** Of a home whose humans have passkeys and no passphrase. */
function passkeyOnly(what: string): FaultError {
  const message = `${what} needs a credential, and only passkeys are registered here`
  const hint =
    'do it in the console (`writ serve` prints its address), or set a passphrase: `writ principal pass`'
  return faultError('credential.required', '', message, hint)
}

/** Fails unless the ticket is of a passkey's proof for this command; a proof has no key to sign with. */
async function checkTicket(
  { ledger, register, caller }: Pick<ReadSession, 'register' | 'caller' | 'ledger'>,
  call: CommandCall,
  ticket: string,
): Promise<EndorserProof> {
  const { principal } = caller
  const isProven = await isProvenByTicket(ledger, register, principal, call.command, ticket)
  if (isProven) return { key: null, ticket: digestBytes(ticket) }
  throw faultError('credential.wrong', '', 'no passkey proved this command for this caller')
}

/** Below a known agent a terminal is the agent's: no plain word counts there (best effort). */
export function refuseBelowAgent(what: string): void {
  const agent = agentAbove()
  if (agent === null) return
  const message = `${what} is for a person, and this runs below ${showName(agent)}`
  throw faultError('credential.required', '', message, 'call from a terminal of your own')
}

/** The known agent that this process runs below; null without one. */
function agentAbove(): string | null {
  return knownAgent(DEFAULT_LISTS, ancestorNames())
}

export function isBelowAgent(): boolean {
  return agentAbove() !== null
}
