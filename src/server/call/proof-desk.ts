/**
 * Proofs of humans in requests (H-5): the passphrase of the caller, else of the home's human. One at a
 * time, because opening a credential takes 128 MB for a moment; wrong ones are slowed down.
 */
import { FaultError, faultError } from '../../base/index.ts'
import { openCredential } from '../../home/index.ts'
import { type Caller, humanFault, ownCredential, principalText } from '../../ledger/index.ts'
import type { LedgerKey } from '../../store/index.ts'
import type { HostedHome } from './hosted-home.ts'
import { PaceLimit } from './pace-limit.ts'
import { Turnstile } from './turnstile.ts'

const WRONG_PACE = { perSecond: 0.1, burst: 10 }
const WAITING_MAX = 20

export class ProofDesk {
  readonly #home: HostedHome
  readonly #wrong = new PaceLimit(WRONG_PACE)
  readonly #places = new Turnstile(1, WAITING_MAX)

  constructor(home: HostedHome) {
    this.#home = home
  }

  /** Returns the caller's own key; null where the passphrase of the home's human proved it. */
  async prove(caller: Caller, passphrase: string | null, what: string): Promise<LedgerKey | null> {
    const refused = humanFault(caller, what)
    if (refused !== null) throw new FaultError(refused)
    const { credentials, credential } = await this.#home.register()
    const own = ownCredential(credentials, caller.principal)
    const used = own ?? credential
    if (used === null) {
      const hint = 'set one at a terminal: `writ principal pass`; what waits still waits'
      throw faultError('credential.required', '', `${what} over HTTP needs a passphrase`, hint)
    }
    if (passphrase === null) {
      const hint = 'add "proof": {"passphrase": "…"} to the body'
      throw faultError('credential.required', '', `${what} needs a proof in the request`, hint)
    }
    const name = principalText(caller.principal)
    const key = await this.#places.pass(() => this.#open(name, passphrase, used.key))
    return own === null ? null : key
  }

  /** Guesses that come at once are counted one by one. */
  async #open(name: string, passphrase: string, known: string | null): Promise<LedgerKey> {
    const seconds = this.#wrong.wait(name, Date.now())
    if (seconds > 0) {
      throw faultError('api.too_often', '', `too many wrong passphrases: wait ${seconds} s`)
    }
    const key = await openCredential(this.#home.home.state, passphrase, known)
    if (key !== null) return key
    this.#wrong.take(name, Date.now())
    throw faultError('credential.wrong', '')
  }
}
