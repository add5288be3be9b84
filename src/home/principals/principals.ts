/**
 * The principals of a home. The facts of the host's stream are the truth: the register is folded from
 * them at every opening, and `principals.json` is the copy that people and other programs can read.
 *
 * INVARIANT (hashed at rest): a token is shown once, when it is made. Facts and files hold its digest;
 * the token itself is 32 random bytes, so it cannot be guessed from the digest.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { digestBytes, faultError, invariant, showName } from '../../base/index.ts'
import type { PrincipalChange, TokenScope } from '../../contracts/index.ts'
import {
  type Appended,
  type Fact,
  HOST_STREAM,
  isRegistered,
  type Principal,
  principalText,
  type Register,
  RegisterFold,
  requireRegistered,
} from '../../ledger/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import type { Actor, Ledger } from '../../store/index.ts'

const FILE = 'principals.json'
const PAGE = 1_000
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Where the principals of a home are written down. */
export interface PrincipalsPlace {
  readonly ledger: Ledger
  /** The state directory. */
  readonly state: string
}

/** What reading the register needs. */
interface RegisterPlace {
  readonly ledger: Pick<Ledger, 'store'>
  readonly state: string
}

/** Folds the register from the facts and keeps its copy fresh. */
export async function readRegister(place: RegisterPlace): Promise<Register> {
  return new RegisterReader(place).read()
}

/**
 * The register of a process that stays: each reading folds only the facts that came since the last
 * one. A new process folds them all and trusts no file: write access to such a file would be enough to
 * make principals without a fact. A thousand facts take some 25 ms, a hundred thousand 1.5 s.
 */
export class RegisterReader {
  readonly #place: RegisterPlace
  readonly #fold = new RegisterFold()
  /** The last fact that was folded. */
  #last = -1
  /** The number of the next fact of the stream, as of the last reading. */
  #next = 0
  #reading: Promise<unknown> = Promise.resolve()
  #register: Register | null = null

  constructor(place: RegisterPlace) {
    this.#place = place
  }

  /** One reading at a time: two that fold at once would fold the same facts twice. */
  read(): Promise<Register> {
    const reading = this.#reading.then(() => this.#read())
    this.#reading = reading.catch(() => undefined)
    return reading
  }

  async #read(): Promise<Register> {
    const { ledger, state } = this.#place
    const next = this.#register === null ? 0 : await this.#nextOf(ledger)
    if (this.#register !== null && next === this.#next) return this.#register
    const before = this.#last
    for (let cursor: number | null = this.#last; cursor !== null; ) {
      const page = await ledger.store.find({
        stream: HOST_STREAM,
        type: 'principal_v1',
        cursor,
        limit: PAGE,
        order: 'oldest_first',
      })
      for (const { seq, text } of page.facts) {
        // The store returns texts of facts.
        this.#fold.take(JSON.parse(text) as Fact)
        this.#last = seq
      }
      cursor = page.next
    }
    this.#next = next
    if (this.#register !== null && this.#last === before) return this.#register
    const register = this.#fold.finish()
    this.#register = register
    const text = `${JSON.stringify(register, null, 2)}\n`
    const file = join(state, FILE)
    if (readIfThere(file) !== text) writeWhole(file, text, 0o600)
    return register
  }

  /** The number of the next fact. A query by type costs several times as much as this look. */
  async #nextOf({ store }: RegisterPlace['ledger']): Promise<number> {
    let next = this.#next
    for (let count = PAGE; count === PAGE; next += count)
      count = (await store.read(HOST_STREAM, next, PAGE)).length
    return next
  }
}

/** Fails if no principal of this name can be added. */
export function checkNewPrincipal(register: Register, principal: Principal): void {
  for (const name of [principal.id, principal.namespace]) {
    if (NAME.test(name)) continue
    const message = `${showName(name)} is no name: 1 to 64 letters, digits, dots, dashes`
    throw faultError('principal.name', '', message)
  }
  if (!isRegistered(register, principal)) return
  const message = `${showName(principalText(principal))} is known already`
  throw faultError('principal.exists', '', message)
}

export async function addPrincipal(
  place: PrincipalsPlace,
  register: Register,
  actor: Actor,
  principal: Principal,
  streams: readonly string[] | null,
): Promise<Appended> {
  checkNewPrincipal(register, principal)
  return recordChange(place, actor, {
    change: 'added',
    principal,
    ...(streams === null ? {} : { streams: [...streams] }),
  })
}

interface TokenBounds {
  readonly expiresAt: string | null
  /** What it is for; null for all that its principal may do. */
  readonly scopes: readonly TokenScope[] | null
  readonly use?: 'browser'
  /** The passkey that opened a browser session, and what it counted. */
  readonly openedBy?: { readonly passkeyId: string; readonly signCount: number }
}

interface NewToken {
  readonly id: string
  /** Shown now and never again. */
  readonly token: string
  readonly appended: Appended
}

export async function createToken(
  place: PrincipalsPlace,
  register: Register,
  actor: Actor,
  principal: Principal,
  { expiresAt, scopes, use, openedBy }: TokenBounds,
): Promise<NewToken> {
  requireRegistered(register, principal)
  const id = `tok-${randomBytes(6).toString('hex')}`
  const token = `writ_${randomBytes(32).toString('base64url')}`
  const appended = await recordChange(place, actor, {
    change: 'token_created',
    principal,
    token_id: id,
    token_digest: digestBytes(token),
    ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    ...(scopes === null ? {} : { scopes: [...scopes] }),
    ...(use === undefined ? {} : { use }),
    ...(openedBy === undefined
      ? {}
      : { passkey_id: openedBy.passkeyId, sign_count: openedBy.signCount }),
  })
  return { id, token, appended }
}

export async function revokeToken(
  place: PrincipalsPlace,
  register: Register,
  actor: Actor,
  id: string,
): Promise<Appended> {
  const found = register.tokens.find((token) => token.id === id)
  if (found === undefined) {
    throw faultError('principal.unknown', '', `there is no token ${showName(id)}`)
  }
  return recordChange(place, actor, {
    change: 'token_revoked',
    principal: found.principal,
    token_id: id,
  })
}

/** Writes one change about a principal into the host's stream, and then the copy. */
export async function recordChange(
  place: PrincipalsPlace,
  { principal, source }: Actor,
  change: PrincipalChange,
  /** A second change with the same key is not recorded; the first is returned. */
  idempotencyKey?: string,
): Promise<Appended> {
  const record = { type: 'principal_v1', payload: change }
  const recorded = await place.ledger.record({
    stream: HOST_STREAM,
    source,
    principal,
    record,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })
  invariant(recorded.ok, 'a change that writ made itself follows its contract')
  await readRegister(place)
  return recorded.appended
}
