/**
 * Proofs of humans in requests (H-5): the passphrase of the caller, else of the home's human, or the
 * assertion of a passkey over this very request. One passphrase at a time, because opening a credential
 * takes 128 MB for a moment; wrong ones are slowed down.
 */
import { randomBytes } from 'node:crypto'
import { digestBytes, digestDocument, FaultError, faultError, invariant } from '../../base/index.ts'
import {
  type ApprovalAssertion,
  field,
  isObject,
  type JsonObject,
  type RequestAssertion,
} from '../../contracts/index.ts'
import { openCredential, PROOF_TICKET, wrongPassphrase } from '../../home/index.ts'
import {
  type Assertion,
  type Caller,
  type Credential,
  HOST_STREAM,
  hasPasskeyBehind,
  humanFault,
  livePasskeys,
  ownCredential,
  type Principal,
  principalText,
} from '../../ledger/index.ts'
import type { LedgerKey } from '../../store/index.ts'
import type { HostedHome } from '../call/hosted-home.ts'
import { PaceLimit } from '../call/pace-limit.ts'
import { Turnstile } from '../call/turnstile.ts'
import type { AssertionResponse, PasskeyDesk } from './passkey-desk.ts'

const WRONG_PACE = { perSecond: 0.1, burst: 10 }
const WAITING_MAX = 20

/** What a request shows to prove its human. */
interface GivenProof {
  readonly passphrase?: string
  readonly passkey?: AssertionResponse
}

/** What the body of a request shows; a proof of another form is none. */
export function proofOf(body: JsonObject): GivenProof {
  const { passphrase, passkey } = isObject(body['proof']) ? body['proof'] : {}
  const response = field(passkey, 'response')
  const [id, clientDataJSON, authenticatorData, signature] = [
    field(passkey, 'id'),
    field(response, 'clientDataJSON'),
    field(response, 'authenticatorData'),
    field(response, 'signature'),
  ].map((value) => (typeof value === 'string' ? value : ''))
  return {
    ...(typeof passphrase === 'string' ? { passphrase } : {}),
    ...(id && clientDataJSON && authenticatorData && signature
      ? { passkey: { id, response: { clientDataJSON, authenticatorData, signature } } }
      : {}),
  }
}

/** What proved a human. */
export interface HumanProof {
  /** The caller's own key; null where another's passphrase, or a passkey, proved it. */
  readonly key: LedgerKey | null
  /** Of an answer to a question, to be recorded with it. */
  readonly assertion: ApprovalAssertion | null
  /** What the command that carries the request out is handed on the descriptor of its passphrase. */
  readonly secret: string | null
}

interface ProofSubject {
  readonly route: string
  /** The command that carries it out, if that asks for a proof as well. */
  readonly command: string | null
  /** Of route, parameters and body. */
  readonly request: string
  /** What is done, for people. */
  readonly what: string
  /** It makes or removes what proves people: of someone with a passkey, only that may. */
  readonly isOfCredentials: boolean
}

/** What an assertion is bound to: the route with its parameters and its body without the proof. */
export function requestDigest(
  route: string,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
  body: Readonly<Record<string, unknown>>,
): string {
  const { proof: _proof, ...rest } = body
  const texts = (part: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(part).map(([name, value]) => [name, String(value)]))
  return digestDocument({ route, params: texts(params), query: texts(query), body: rest })
}

export class ProofDesk {
  readonly #home: HostedHome
  readonly #passkeys: PasskeyDesk
  readonly #wrong = new PaceLimit(WRONG_PACE)
  readonly #places = new Turnstile(1, WAITING_MAX)

  constructor(home: HostedHome, passkeys: PasskeyDesk) {
    this.#home = home
    this.#passkeys = passkeys
  }

  async prove(caller: Caller, given: GivenProof, subject: ProofSubject): Promise<HumanProof> {
    const { what } = subject
    const refused = humanFault(caller, what)
    if (refused !== null) throw new FaultError(refused)
    if (given.passkey !== undefined) {
      if (given.passphrase === undefined) return this.#byPasskey(caller, given.passkey, subject)
      const message = 'a request is proven by a passphrase or by a passkey, not by both'
      throw faultError('api.malformed', '/body/proof', message)
    }
    const register = await this.#home.register()
    const { credentials, credential, passkeys } = register
    if (subject.isOfCredentials && hasPasskeyBehind(register, caller.principal)) {
      throw passkeyNeeded(what)
    }
    const own = ownCredential(credentials, caller.principal)
    const used = own ?? credential
    if (used === null && passkeys.every(({ removedAt }) => removedAt !== null)) {
      const hint = 'set one at a terminal: `writ principal pass`; what waits still waits'
      throw faultError('credential.required', '', `${what} over HTTP needs a passphrase`, hint)
    }
    const { passphrase } = given
    if (used === null || passphrase === undefined) {
      const hint =
        'add "proof": {"passphrase": "…"} to the body, or a passkey’s answer to a challenge'
      throw faultError('credential.required', '', `${what} needs a proof in the request`, hint)
    }
    const name = `${principalText(caller.principal)} with a token`
    const key = await this.#opened(name, passphrase, used)
    return { key: own === null ? null : key, assertion: null, secret: passphrase }
  }

  /** Fails unless the passphrase is the human's own: that of another human proves nothing here. */
  async proveOwn(principal: Principal, passphrase: string): Promise<void> {
    const register = await this.#home.register()
    const own = ownCredential(register.credentials, principal)
    if (own === null) {
      const message = `${principalText(principal)} has no passphrase of their own`
      const hint = 'make a one-time code at a terminal: `writ passkey code`'
      throw faultError('credential.required', '', message, hint)
    }
    await this.#opened(principalText(principal), passphrase, own)
    if (livePasskeys(register, principal).length > 0) throw passkeyNeeded('another passkey')
  }

  /** Slows down what guesses: one-time codes, recovery codes, passphrases. */
  async guess<T>(
    name: string,
    work: () => Promise<T | null>,
    wrong: () => FaultError | Promise<FaultError>,
  ): Promise<T> {
    const seconds = this.#wrong.wait(name, Date.now())
    if (seconds > 0) {
      throw faultError('api.too_often', '', `too many wrong ones: wait ${seconds} s`)
    }
    const found = await work()
    if (found !== null) return found
    this.#wrong.take(name, Date.now())
    throw await wrong()
  }

  /** `name`: whose guesses are counted; those without a token never hold up the bearer of one. */
  #opened(name: string, passphrase: string, { key }: Credential): Promise<LedgerKey> {
    const { state } = this.#home.home
    const { files } = this.#home.ledger
    // Guesses that come at once are counted one by one.
    const guess = (): Promise<LedgerKey> =>
      this.guess(
        name,
        () => openCredential(state, passphrase, key, files),
        () => wrongPassphrase(state, key, files),
      )
    return this.#places.pass(guess, name)
  }

  async #byPasskey(
    { principal }: Caller,
    response: AssertionResponse,
    subject: ProofSubject,
  ): Promise<HumanProof> {
    const { assertion } = await this.#passkeys.prove(response, subject.request, principal)
    if (isOfAnswer(assertion)) return { key: null, assertion, secret: null }
    return { key: null, assertion: null, secret: await this.#record(principal, assertion, subject) }
  }

  /** Records the proof before anything is done with it; returns the ticket of its command. */
  async #record(
    principal: Principal,
    assertion: RequestAssertion,
    { route, command }: ProofSubject,
  ): Promise<string | null> {
    const ticket = command === null ? null : `${PROOF_TICKET}${randomBytes(32).toString('hex')}`
    const payload = {
      route,
      ...(command === null || ticket === null ? {} : { command, ticket: digestBytes(ticket) }),
      assertion,
    }
    const recorded = await this.#home.ledger.record({
      stream: HOST_STREAM,
      source: 'api',
      principal,
      record: { type: 'passkey_proof_v1', payload },
      idempotencyKey: `passkey/${digestDocument(assertion.challenge)}`,
    })
    invariant(recorded.ok, 'a proof that writ made itself follows its contract')
    if (!recorded.appended.repeated) return ticket
    throw faultError('credential.challenge', '', 'the passkey’s answer was used before')
  }
}

function passkeyNeeded(what: string): FaultError {
  const message = `${what} needs the passkey: the passphrase alone is not enough once there is one`
  const hint = 'without the passkey: a recovery code, or `writ passkey remove` at a terminal'
  return faultError('credential.required', '', message, hint)
}

function isOfAnswer(assertion: Assertion): assertion is ApprovalAssertion {
  return assertion.challenge.type === 'approval_challenge_v1'
}
