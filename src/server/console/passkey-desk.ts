/**
 * Passkeys at the service (W-3): what a person signs, and whether they signed it. Registrations are read
 * by the library; assertions are checked by the function that checks them offline, so that nothing is
 * accepted here that `writ ledger verify` would refuse later.
 */
import { createHash } from 'node:crypto'
import {
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { faultError, fromBase64Url } from '../../base/index.ts'
import {
  type ApprovalChallenge,
  PASSKEY_RP_ID,
  type Passkey,
  type PasskeyPublicKey,
  type RequestChallenge,
} from '../../contracts/index.ts'
import {
  type Assertion,
  assertionFault,
  type Caller,
  challengeOf,
  HOST_STREAM,
  homeCheckpointText,
  livePasskeys,
  mayKnow,
  type Principal,
  principalText,
  type RegisteredPasskey,
  samePrincipal,
  signCountOf,
} from '../../ledger/index.ts'
import { ledgerNameOf } from '../../store/index.ts'
import type { HostedHome } from '../call/hosted-home.ts'
import { Challenges, LoginChallenges, unknownChallenge } from './challenges.ts'
import type { ConsolePlace } from './console-place.ts'
import { publicKeyOfCose } from './cose.ts'
import { SignCounts } from './sign-counts.ts'

/** What a browser answered to `navigator.credentials.get`. */
export interface AssertionResponse {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
  }
}

export type ChallengeDocument = ApprovalChallenge | RequestChallenge

/** A proof that was asked for: by whom, and for which request. */
interface AskedProof {
  readonly kind: 'proof'
  readonly principal: Principal
  readonly request: string
  readonly document: ChallengeDocument
}

/** Who opens a browser session, by which passkey. */
export interface Login {
  readonly principal: Principal
  readonly passkeyId: string
  readonly signCount: number
}

export type Registration = {
  readonly principal: Principal
  readonly name: string
  readonly provenBy: 'passphrase' | 'passkey' | 'code' | 'recovery_code'
  readonly code: string | null
}

const TIMEOUT_MS = 120_000
/** EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257]

export class PasskeyDesk {
  readonly #home: HostedHome
  readonly #place: () => ConsolePlace
  readonly #proofs = new Challenges<AskedProof>()
  readonly #logins = new LoginChallenges()
  readonly #registrations = new Challenges<Registration & { readonly challenge: string }>()
  readonly #counts: SignCounts

  constructor(home: HostedHome, place: () => ConsolePlace) {
    this.#home = home
    this.#place = place
    this.#counts = new SignCounts(home.ledger)
  }

  /** Makes the challenge of a login: any passkey of the home may answer it. */
  offerLogin() {
    return optionsOf(this.#logins.offer(Date.now()), [])
  }

  /** Returns the human whose passkey answered a login, and what the passkey counted. */
  async login(response: AssertionResponse): Promise<Login> {
    const document = this.#logins.find(response.response.clientDataJSON, Date.now())
    const { known, count } = await this.#verified(response, document, null)
    this.#logins.use(document, response.id, Date.now())
    return { principal: known.principal, passkeyId: known.passkey.passkey_id, signCount: count }
  }

  /** Makes the challenge for one request of a human. */
  async offerProof(principal: Principal, request: string, document: ChallengeDocument) {
    const own = livePasskeys(await this.#home.register(), principal)
    if (own.length === 0) {
      const message = `${principalText(principal)} has no passkey here`
      const hint = `register one at ${this.#place().origin}, or send the passphrase as proof`
      throw faultError('credential.required', '', message, hint)
    }
    const challenge = challengeOf(document)
    const purpose = { kind: 'proof', principal, request, document } as const
    const expires_at = this.#proofs.add(challenge, purpose, Date.now())
    return { document, options: optionsOf(challenge, own), expires_at }
  }

  /** Returns the assertion of a request, and who made it. Fails if it is for another one. */
  async prove(
    response: AssertionResponse,
    request: string,
    caller: Principal | null,
  ): Promise<{ readonly assertion: Assertion; readonly principal: Principal }> {
    const asked = this.#proofs.take(response.response.clientDataJSON, Date.now())
    if (asked.request !== request) {
      throw unknownChallenge('the passkey signed for another request than this one')
    }
    if (caller !== null && !samePrincipal(caller, asked.principal)) {
      throw unknownChallenge('the challenge was made for another person')
    }
    const { signed } = await this.#verified(response, asked.document, asked.principal)
    // The challenge is the document that was asked for.
    return { assertion: signed as Assertion, principal: asked.principal }
  }

  async #verified(response: AssertionResponse, document: unknown, owner: Principal | null) {
    const { passkeys } = await this.#home.register()
    const known = passkeys.find(
      ({ passkey, removedAt }) => passkey.credential_id === response.id && removedAt === null,
    )
    if (known === undefined || (owner !== null && !samePrincipal(known.principal, owner))) {
      throw refusedAssertion('the passkey is not registered here, or was removed')
    }
    const { clientDataJSON, authenticatorData, signature } = response.response
    const signed = {
      credential_id: response.id,
      public_key: known.passkey.public_key,
      client_data: clientDataJSON,
      authenticator_data: authenticatorData,
      signature,
      challenge: document,
    }
    const wrong = assertionFault(signed, this.#place().origin)
    if (wrong !== null) throw refusedAssertion(`the answer of the passkey does not hold: ${wrong}`)
    const count = signCountOf(signed)
    await this.#counts.take(known, count)
    return { signed, known, count }
  }

  async offerRegistration(registration: Registration) {
    const { principal, name } = registration
    const known = livePasskeys(await this.#home.register(), principal)
    const text = principalText(principal)
    const options = await generateRegistrationOptions({
      rpName: 'writ',
      rpID: PASSKEY_RP_ID,
      userName: text,
      userDisplayName: principal.id,
      userID: new Uint8Array(createHash('sha256').update(text).digest()),
      timeout: TIMEOUT_MS,
      attestationType: 'none',
      excludeCredentials: known.map(({ passkey }) => ({ id: passkey.credential_id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
    })
    const { challenge } = options
    const kept = { ...registration, name, challenge }
    return { options, expires_at: this.#registrations.add(challenge, kept, Date.now()) }
  }

  /** Returns the passkey that a browser made, for the human who was proven before. */
  async register(
    response: RegistrationResponseJSON,
  ): Promise<{ readonly passkey: Passkey; readonly registration: Registration }> {
    const registration = this.#registrations.take(response.response.clientDataJSON, Date.now())
    const { origin } = this.#place()
    const found = await verifyRegistrationResponse({
      response,
      expectedChallenge: registration.challenge,
      expectedOrigin: origin,
      expectedRPID: PASSKEY_RP_ID,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch(() => null)
    if (found?.verified !== true) throw refusedAssertion('the browser’s registration does not hold')
    const { credential, credentialBackedUp } = found.registrationInfo
    const { passkeys } = await this.#home.register()
    if (passkeys.some(({ passkey }) => passkey.credential_id === credential.id)) {
      throw refusedAssertion('this passkey is registered already')
    }
    const hex = createHash('sha256').update(fromBase64Url(credential.id)).digest('hex')
    const passkey: Passkey = {
      passkey_id: `pk-${hex.slice(0, 16)}`,
      credential_id: credential.id,
      public_key: keyOf(credential.publicKey),
      sign_count: credential.counter,
      transports: (response.response.transports ?? []).filter((one) => one !== ''),
      rp_id: PASSKEY_RP_ID,
      origin,
      name: registration.name,
      backed_up: credentialBackedUp,
    }
    return { passkey, registration }
  }

  /** The newest checkpoint of the home, as far as the caller may know of its streams. */
  async checkpoint(caller: Caller): Promise<string> {
    const heads = await this.#home.ledger.store.heads()
    const host = heads.find(({ stream }) => stream === HOST_STREAM)
    const known = heads.filter((one) => one === host || mayKnow(caller, one.stream))
    const text = host === undefined ? null : homeCheckpointText(ledgerNameOf(host), known)
    if (text === null) throw faultError('ledger.stream_missing', HOST_STREAM)
    return text
  }
}

function keyOf(cose: Uint8Array<ArrayBuffer>): PasskeyPublicKey {
  const key = publicKeyOfCose(cose)
  if (key !== null) return key
  throw refusedAssertion('the passkey signs with an algorithm that writ does not know')
}

function refusedAssertion(message: string): Error {
  const hint = 'nothing was done; try again, or use another passkey'
  return faultError('credential.assertion', '', message, hint)
}

function optionsOf(challenge: string, passkeys: readonly RegisteredPasskey[]) {
  return {
    challenge,
    rpId: PASSKEY_RP_ID,
    timeout: TIMEOUT_MS,
    userVerification: 'required',
    allowCredentials: passkeys.map(({ passkey }) => ({
      id: passkey.credential_id,
      type: 'public-key',
      transports: passkey.transports,
    })),
  }
}
