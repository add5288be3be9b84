/**
 * Changes that need several humans (W-3). Where a law in force wants N approvals, a new principal, a new
 * credential and other laws need N humans as well, else one of them could make a second human of
 * themselves or lower N. Each human agrees to exactly the same change, with a credential of their own,
 * within a day; the command of the last one carries it out.
 *
 * INVARIANT (as many as there are): a home with fewer humans than N needs all of them, so that the law
 *   cannot lock a home. A human lowers that number only by removing a credential of their own.
 */
import { canonicalJson, digestDocument, faultError, invariant } from '../../base/index.ts'
import type { Endorsement, PasskeyProof } from '../../contracts/index.ts'
import {
  decodeBase64,
  encodeBase64,
  type Fact,
  HOST_STREAM,
  humansWithCredential,
  ownCredential,
  type Principal,
  principalText,
  type Register,
  recordedAssertionFault,
  SIGNATURE_TYPES,
  samePrincipal,
  verifierFor,
  verifierKey,
} from '../../ledger/index.ts'
import { mostApprovals } from '../../policy/index.ts'
import type { Actor, Ledger, LedgerKey } from '../../store/index.ts'
import { acceptedLaws, lastAccepted } from './accept-laws.ts'

const LIFE_MS = 24 * 60 * 60_000
/** An endorsement, and the proof of a passkey, is one of the newest. */
const LOOKED_AT = 500

/** Something that several humans agree to. */
export interface SharedChange {
  /** In words, after “agreed to”. */
  readonly what: string
  readonly document: unknown
}

/** What proved the human who agrees. */
export interface EndorserProof {
  /** The human's own. */
  readonly key: LedgerKey | null
  /** The digest of the ticket of a passkey's proof. */
  readonly ticket: string | null
}

export interface Endorsements {
  readonly needed: number
  /** `kind:id@namespace`, each once. */
  readonly given: readonly string[]
}

export function newPrincipalChange(
  principal: Principal,
  streams: readonly string[] | null,
): SharedChange {
  const what = `adding ${principalText(principal)}`
  return { what, document: { change: 'principal', principal, streams } }
}

/** One more credential of a human. After it was added, the next one is another change. */
export function credentialChange(register: Register, principal: Principal): SharedChange {
  const isOwn = (one: { readonly principal: Principal }) => samePrincipal(one.principal, principal)
  const after = register.credentials.filter(isOwn).length + register.passkeys.filter(isOwn).length
  const what = `a new credential of ${principalText(principal)}`
  return { what, document: { change: 'credential', principal, after } }
}

/** Laws after those in force; null for the same ones. The same change later is another one. */
export async function lawsChange(
  ledger: Pick<Ledger, 'store'>,
  laws: string,
): Promise<SharedChange | null> {
  const last = await lastAccepted(ledger)
  if (last?.laws.laws === laws) return null
  const after = last?.seq ?? -1
  return {
    what: `the laws ${laws.slice(0, 'sha256:'.length + 8)}`,
    document: { change: 'laws', laws, after },
  }
}

/** Returns how many humans have to agree; 1 or 0 if one is enough. */
async function humansNeeded(ledger: Ledger, register: Register): Promise<number> {
  const humans = humansWithCredential(register)
  if (humans <= 1) return humans
  const laws = await acceptedLaws(ledger)
  if (laws !== null) return Math.min(mostApprovals(laws), humans)
  // Laws that were accepted and cannot be read may want every human.
  return (await lastAccepted(ledger)) === null ? 1 : humans
}

/**
 * Records that the caller agrees, and fails until enough humans have. Says nothing where one human is
 * enough.
 */
export async function agreeTo(
  ledger: Ledger,
  register: Register,
  { principal, source }: Actor,
  change: SharedChange,
  proof: EndorserProof,
): Promise<Endorsements> {
  const before = await endorsementsOf(ledger, register, change)
  if (before.needed <= 1 || before.given.includes(principalText(principal))) return before
  const digest = digestDocument(change.document)
  const given_at = new Date().toISOString()
  const proven = provenEndorsement(register, principal, proof, endorsementText(digest, given_at))
  if (proven === null) {
    const message = `${before.needed} humans have to agree to ${change.what}, each with a credential of their own`
    const hint = 'set a passphrase of your own: `writ principal pass`'
    throw faultError('confirm.own_credential', '', message, hint)
  }
  const payload: Endorsement = { change: digest, what: change.what, given_at, ...proven }
  const recorded = await ledger.record({
    stream: HOST_STREAM,
    source,
    principal,
    record: { type: 'endorsement_v1', payload },
    // The proof of a passkey is for one change.
    ...(proof.ticket === null ? {} : { idempotencyKey: `endorsement/${proof.ticket}` }),
  })
  invariant(recorded.ok, 'an endorsement that writ made itself follows its contract')
  return endorsementsOf(ledger, register, change)
}

/** Fails unless enough humans have agreed. `next` says what another human types. */
export function requireEnough({ needed, given }: Endorsements, what: string, next: string): void {
  if (given.length >= needed || needed <= 1) return
  const by = given.length === 0 ? '' : ` (${given.join(', ')})`
  const message = `${given.length} of ${needed} humans agreed to ${what}${by}, because a law in force wants ${needed} approvals; nothing was changed`
  throw faultError('principal.endorsement', '', message, next)
}

/** Fails unless enough humans have agreed that this human gets one more credential. */
export async function requireCredentialEndorsed(
  ledger: Ledger,
  register: Register,
  principal: Principal,
): Promise<void> {
  const change = credentialChange(register, principal)
  const endorsements = await endorsementsOf(ledger, register, change)
  const command = `writ principal endorse ${principalText(principal)}`
  requireEnough(
    endorsements,
    change.what,
    `${endorsements.needed} humans type \`${command}\` first, within a day`,
  )
}

/** Returns who agreed to a change within the last day, each with a proof that holds. */
async function endorsementsOf(
  ledger: Ledger,
  register: Register,
  change: SharedChange,
): Promise<Endorsements> {
  const needed = await humansNeeded(ledger, register)
  if (needed <= 1) return { needed, given: [] }
  const digest = digestDocument(change.document)
  const [facts, proofs] = await Promise.all([
    newest(ledger, 'endorsement_v1'),
    newest(ledger, 'passkey_proof_v1'),
  ])
  const given = new Map<string, string>()
  for (const { principal, record, occurred_at: at } of facts.reverse()) {
    // The store judged it by its contract.
    const endorsement = record.payload as Endorsement
    const isOld = Date.now() - Date.parse(at) > LIFE_MS
    if (isOld || endorsement.change !== digest || principal.kind !== 'human') continue
    const by = provenBy(endorsement, principal, register, proofs)
    const isNew = by !== null && ![...given.values()].includes(by)
    if (isNew) given.set(principalText(principal), by)
  }
  return { needed, given: [...given.keys()] }
}

async function newest({ store }: Pick<Ledger, 'store'>, type: string): Promise<Fact[]> {
  const query = { stream: HOST_STREAM, type, limit: LOOKED_AT, order: 'newest_first' } as const
  // The store returns texts of facts.
  return (await store.find(query)).facts.map(({ text }) => JSON.parse(text) as Fact)
}

/** Returns the credential that proves an endorsement; null for one that does not hold. */
function provenBy(
  endorsement: Endorsement,
  principal: Principal,
  register: Register,
  proofs: readonly Fact[],
): string | null {
  const { proof, ticket, change, given_at } = endorsement
  if (proof !== undefined) {
    const isKnown = register.credentials.some(
      (one) => one.key === proof.key && samePrincipal(one.principal, principal),
    )
    const [key, bytes] = [decodeBase64(proof.key), decodeBase64(proof.signature)]
    if (!isKnown || key === null || bytes === null) return null
    const verifier = verifierFor(verifierKey('endorsement', SIGNATURE_TYPES.ed25519, key))
    const isSigned = verifier?.verify(endorsementText(change, given_at), bytes) === true
    return isSigned ? proof.key : null
  }
  for (const { record, principal: by } of proofs) {
    // The store judged it by its contract; a long one is not here, and proves nothing.
    const { ticket: own, assertion } = (record.payload ?? {}) as Partial<PasskeyProof>
    if (own !== ticket || assertion === undefined || !samePrincipal(by, principal)) continue
    const wrong = recordedAssertionFault(register, assertion, principal)
    return wrong === null ? assertion.credential_id : null
  }
  return null
}

/** What a human's credential signs. */
function endorsementText(change: string, givenAt: string): string {
  return canonicalJson(['writ endorsement 1', change, givenAt])
}

/** Returns what proves an endorsement; null if nothing of the human's own does. */
function provenEndorsement(
  register: Register,
  principal: Principal,
  { key, ticket }: EndorserProof,
  text: string,
): Pick<Endorsement, 'proof' | 'ticket'> | null {
  if (ticket !== null) return { ticket }
  const own = ownCredential(register.credentials, principal)
  if (key === null || own === null || own.key !== encodeBase64(key.publicKey)) return null
  return { proof: { key: own.key, signature: encodeBase64(key.sign(text)) } }
}
