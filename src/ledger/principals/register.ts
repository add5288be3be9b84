/**
 * The register of principals: what the `principal_v1` facts of the host's stream add up to. Facts are
 * the truth; a file that holds the register only spares reading them again.
 *
 * INVARIANT (the actor never decides, I1): what a principal may do follows from its kind alone. An
 * `ai`, a `script` or a `device` proposes and reports, and nothing else.
 */
import { digestBytes, type Fault, fault, parseIsoMomentMs, showName } from '../../base/index.ts'
import type { Passkey, PrincipalChange, TokenScope } from '../../contracts/index.ts'
import {
  type Fact,
  isStreamName,
  MAIN_STREAM,
  PRINCIPAL_KINDS,
  type Principal,
} from '../facts/fact.ts'
import { principalTerm } from '../facts/store.ts'

export interface RegisteredPrincipal {
  readonly principal: Principal
  /** The streams it may know of; null for every one. */
  readonly streams: readonly string[] | null
  readonly addedAt: string
}

export interface RegisteredToken {
  readonly id: string
  readonly digest: string
  readonly principal: Principal
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  /** What it is for; without them, all that its principal may do. */
  readonly scopes?: readonly TokenScope[]
  /** The cookie of a browser session. */
  readonly use?: 'browser'
}

export interface RegisteredPasskey {
  readonly passkey: Passkey
  readonly principal: Principal
  readonly addedAt: string
  readonly removedAt: string | null
}

/** A code that lets a human register a passkey, once. */
export interface RegisteredCode {
  readonly kind: 'once' | 'recovery'
  readonly principal: Principal
  readonly digest: string
  /** Null for a recovery code, which does not expire. */
  readonly expiresAt: string | null
  /** How many wrong codes were typed since it was made. */
  readonly refused: number
}

export interface Credential {
  readonly kind: 'passphrase' | 'passkey'
  readonly principal: Principal
  readonly key: string | null
}

export interface Register {
  /** How many facts of the host's stream it has taken in. */
  readonly applied: number
  readonly principals: readonly RegisteredPrincipal[]
  readonly tokens: readonly RegisteredToken[]
  /** Every credential of every human, in their order. */
  readonly credentials: readonly Credential[]
  /** That of the human who made the home. */
  readonly credential: Credential | null
  /** Of all humans, in the order of their registration, those that were removed as well. */
  readonly passkeys: readonly RegisteredPasskey[]
  /** Codes that were not used and not replaced. */
  readonly codes: readonly RegisteredCode[]
  /** The human who made the home: the caller who shows no token. */
  readonly owner: Principal | null
}

/** Folds the facts of the host's stream, in their order, into the register. */
export class RegisterFold {
  readonly #principals = new Map<string, RegisteredPrincipal>()
  readonly #tokens = new Map<string, RegisteredToken>()
  #credentials: readonly Credential[] = []
  #passkeys: readonly RegisteredPasskey[] = []
  #codes: readonly RegisteredCode[] = []
  #owner: Principal | null = null
  #applied = 0

  take(fact: Fact): void {
    this.#applied = fact.seq + 1
    if (fact.record.type !== 'principal_v1') return
    // The store judged the record by its contract before it was written.
    this.#apply(fact.record.payload as PrincipalChange, fact.occurred_at)
  }

  finish(): Register {
    return {
      applied: this.#applied,
      principals: [...this.#principals.values()],
      tokens: [...this.#tokens.values()],
      credentials: this.#credentials,
      passkeys: this.#passkeys,
      codes: this.#codes,
      credential: this.#owner === null ? null : ownCredential(this.#credentials, this.#owner),
      owner: this.#owner,
    }
  }

  #apply(change: PrincipalChange, at: string): void {
    const { principal } = change
    switch (change.change) {
      case 'added': {
        const streams = change.streams ?? null
        this.#principals.set(principalTerm(principal), { principal, streams, addedAt: at })
        // Only the human of a new home is added with a word on the credential.
        if (change.credential !== undefined) this.#owner ??= principal
        return
      }
      case 'credential_set': {
        const { credential: kind, credential_key: key = null } = change
        const isNone = kind === undefined || kind === 'none'
        this.#credentials = isNone
          ? this.#credentials.filter((one) => !samePrincipal(one.principal, principal))
          : [...this.#credentials, { kind, principal, key }]
        return
      }
      case 'token_created':
        this.#addToken(change, at)
        return
      case 'token_revoked': {
        const token = this.#tokens.get(change.token_id ?? '')
        if (token === undefined || token.revokedAt !== null) return
        this.#tokens.set(token.id, { ...token, revokedAt: at })
        return
      }
      case 'passkey_added':
      case 'passkey_removed':
        this.#applyPasskey(change, at)
        return
      case 'code_made':
      case 'code_refused':
      case 'recovery_set':
        this.#codes = codesAfter(this.#codes, change)
        return
      default:
        change.change satisfies never
    }
  }

  #applyPasskey(change: PrincipalChange, at: string): void {
    const { principal, passkey, passkey_id: id, code_digest: code } = change
    if (passkey !== undefined) {
      this.#passkeys = [...this.#passkeys, { passkey, principal, addedAt: at, removedAt: null }]
    }
    this.#codes = this.#codes.filter(({ digest }) => digest !== code)
    this.#passkeys = this.#passkeys.map((one) =>
      one.passkey.passkey_id === id && one.removedAt === null ? { ...one, removedAt: at } : one,
    )
  }

  #addToken(change: PrincipalChange, createdAt: string): void {
    const { principal, token_id: id = '', token_digest: digest = '' } = change
    const expiresAt = change.expires_at ?? null
    const token = { id, digest, principal, createdAt, expiresAt, revokedAt: null }
    const use = change.use === undefined ? {} : { use: change.use }
    this.#tokens.set(id, { ...token, ...scopesOf(change), ...use })
  }
}

/** A new one-time code replaces an earlier one of the same human; new recovery codes likewise. */
function codesAfter(
  codes: readonly RegisteredCode[],
  change: PrincipalChange,
): readonly RegisteredCode[] {
  const { principal, code_digest: digest = '', expires_at: expiresAt = null } = change
  const without = (kind: RegisteredCode['kind']) =>
    codes.filter((one) => one.kind !== kind || !samePrincipal(one.principal, principal))
  if (change.change === 'code_refused') {
    return codes.map((one) => (one.digest === digest ? { ...one, refused: one.refused + 1 } : one))
  }
  if (change.change === 'code_made') {
    return [...without('once'), { kind: 'once', principal, digest, expiresAt, refused: 0 }]
  }
  const fresh = (change.recovery_digests ?? []).map(
    (one) => ({ kind: 'recovery', principal, digest: one, expiresAt: null, refused: 0 }) as const,
  )
  return [...without('recovery'), ...fresh]
}

/** Whether a human of the home has a passphrase or a passkey. */
export function hasCredentials({ credentials, passkeys }: Register): boolean {
  return credentials.length > 0 || passkeys.some(({ removedAt }) => removedAt === null)
}

/** The passkeys of a human that count now. */
export function livePasskeys(
  { passkeys }: Pick<Register, 'passkeys'>,
  principal: Principal,
): readonly RegisteredPasskey[] {
  return passkeys.filter((one) => one.removedAt === null && samePrincipal(one.principal, principal))
}

/**
 * Whether the passphrase that proves a human is too little for what counts most: they have a passkey, or
 * the passphrase is that of the human who made the home, who has one.
 */
export function hasPasskeyBehind(register: Register, principal: Principal): boolean {
  const { credentials, credential } = register
  if (livePasskeys(register, principal).length > 0) return true
  if (credential === null || ownCredential(credentials, principal) !== null) return false
  return livePasskeys(register, credential.principal).length > 0
}

function scopesOf({ scopes }: Pick<Caller, 'scopes'>): Pick<Caller, 'scopes'> {
  return scopes === undefined ? {} : { scopes }
}

/** The newest credential of a principal; null when it has none. */
export function ownCredential(
  credentials: readonly Credential[],
  principal: Principal,
): Credential | null {
  return credentials.findLast((one) => samePrincipal(one.principal, principal)) ?? null
}

export function samePrincipal(left: Principal, right: Principal): boolean {
  return left.kind === right.kind && left.id === right.id && left.namespace === right.namespace
}

/** Who is calling, and how far it can see. */
export interface Caller {
  readonly principal: Principal
  readonly streams: readonly string[] | null
  /** `token`: the bearer of a token of this host. `none`: the local human, unproven. */
  readonly proof: 'token' | 'none'
  /** What its token is for; without them, all that the principal may do. */
  readonly scopes?: readonly TokenScope[]
  /** Its token is the cookie of a browser session, and no bearer token. */
  readonly session?: { readonly id: string; readonly expiresAt: string | null }
}

export type CallerAnswer =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly fault: Fault }

/**
 * Returns the bearer of a token. Refuses an unknown, revoked or expired token: it is never the
 * human.
 */
export function bearerOf(register: Register, token: string, nowMs: number): CallerAnswer {
  return bearerBy(register, digestBytes(token.trim()), nowMs)
}

/** The same for a token that was shown elsewhere, by its digest. */
export function bearerBy(register: Register, digest: string, nowMs: number): CallerAnswer {
  const refused = (message: string): CallerAnswer => ({
    ok: false,
    fault: fault('principal.token', '', null, { message }),
  })
  // Digests of secrets are compared, so the time of the comparison tells nothing about a secret.
  const found = register.tokens.find((one) => one.digest === digest)
  if (found === undefined) return refused('the token is not known here')
  if (found.revokedAt !== null) return refused(`the token ${showName(found.id)} was revoked`)
  const expiresMs = found.expiresAt === null ? null : parseIsoMomentMs(found.expiresAt)
  if (expiresMs !== null && nowMs >= expiresMs) {
    return refused(`the token ${showName(found.id)} has expired`)
  }
  const entry = register.principals.find((one) => samePrincipal(one.principal, found.principal))
  if (entry === undefined) return refused('the principal of the token is not known here')
  const { principal, streams } = entry
  const { id, expiresAt } = found
  const session = found.use === 'browser' ? { session: { id, expiresAt } } : {}
  return {
    ok: true,
    caller: { principal, streams, proof: 'token', ...scopesOf(found), ...session },
  }
}

/** The fault of a caller who is no human; null for one who is (I1). */
export function humanFault({ principal }: Caller, what: string): Fault | null {
  if (principal.kind === 'human') return null
  return fault('principal.not_human', '', null, {
    message: `${what} is for humans; the caller is ${showName(principalText(principal))}`,
  })
}

/** The stream that a caller means when it names none. */
export function defaultStream({ streams }: Caller): string {
  if (streams === null || streams.includes(MAIN_STREAM)) return MAIN_STREAM
  return streams[0] ?? MAIN_STREAM
}

/** A stream that a caller may not know of does not exist for it (L-7). */
export function mayKnow({ streams }: Caller, stream: string): boolean {
  return isStreamName(stream) && (streams === null || streams.includes(stream))
}

export function unknownStream(stream: string): Fault {
  const message = `there is no stream ${showName(stream)}`
  return fault('ledger.stream_unknown', stream, null, { message })
}

/** `kind:id@namespace`, the way principals are written and read on the command line. */
export function principalText({ kind, id, namespace }: Principal): string {
  return `${kind}:${id}@${namespace}`
}

export function parsePrincipal(text: string): Principal | null {
  const colon = text.indexOf(':')
  const sign = text.lastIndexOf('@')
  if (colon < 1 || sign <= colon + 1 || sign === text.length - 1) return null
  const kind = PRINCIPAL_KINDS.find((known) => known === text.slice(0, colon))
  if (kind === undefined) return null
  return { kind, id: text.slice(colon + 1, sign), namespace: text.slice(sign + 1) }
}
