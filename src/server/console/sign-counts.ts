/**
 * The counters of authenticators: one that does not grow tells of a copy of the passkey (W-3). What a
 * passkey counted last follows from the facts: answers and proofs hold their assertions, and the fact of
 * a browser session says what the passkey counted that opened it.
 */
import { faultError } from '../../base/index.ts'
import type { Confirmation, PasskeyProof, PrincipalChange } from '../../contracts/index.ts'
import { eachFact } from '../../history/index.ts'
import {
  HOST_STREAM,
  type OpenedFact,
  type RegisteredPasskey,
  signCountOf,
} from '../../ledger/index.ts'
import type { Ledger } from '../../store/index.ts'

export class SignCounts {
  readonly #ledger: Ledger
  /** By credential. */
  readonly #counts = new Map<string, number>()
  /** By passkey. */
  readonly #logins = new Map<string, number>()
  /** The last fact of a stream that was read, by stream and type. */
  readonly #read = new Map<string, number>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Fails if the counter did not grow; an authenticator that does not count says 0 each time. */
  take(known: RegisteredPasskey, count: number): Promise<void> {
    // Of two assertions at once with one count, one is a copy.
    const taken = this.#turn.then(() => this.#take(known, count))
    this.#turn = taken.catch(() => undefined)
    return taken
  }

  async #take({ passkey }: RegisteredPasskey, count: number): Promise<void> {
    await this.#readFacts()
    const { passkey_id: id, credential_id, sign_count, name } = passkey
    const [signed, logged] = [this.#counts.get(credential_id) ?? 0, this.#logins.get(id) ?? 0]
    const last = Math.max(sign_count, signed, logged)
    if (count <= last && !(count === 0 && last === 0)) {
      const message = `the counter of the passkey “${name}” went from ${last} to ${count}: there may be a copy of it`
      const hint = `if it is not in your hands alone, remove it: \`writ passkey remove ${id}\``
      throw faultError('credential.cloned', '', message, hint)
    }
    this.#counts.set(credential_id, count)
  }

  /** Reads the facts that came since the last reading. */
  async #readFacts(): Promise<void> {
    for (const stream of await this.#ledger.store.streams()) {
      await this.#readType(stream, 'confirmation_v1', ({ payload }) => {
        // The query asked for facts of this type; a payload that is gone is null.
        const { assertion } = (payload ?? {}) as Partial<Confirmation>
        if (assertion !== undefined) this.#note(assertion)
      })
    }
    await this.#readType(HOST_STREAM, 'passkey_proof_v1', ({ payload }) => {
      // The same.
      const { assertion } = (payload ?? {}) as Partial<PasskeyProof>
      if (assertion !== undefined) this.#note(assertion)
    })
    await this.#readType(HOST_STREAM, 'principal_v1', ({ payload }) => {
      // The same.
      const { passkey_id: id, sign_count: count } = (payload ?? {}) as Partial<PrincipalChange>
      if (id === undefined || count === undefined) return
      this.#logins.set(id, Math.max(this.#logins.get(id) ?? 0, count))
    })
  }

  async #readType(stream: string, type: string, take: (fact: OpenedFact) => void): Promise<void> {
    const key = `${stream} ${type}`
    for await (const fact of eachFact(this.#ledger, { stream, type }, this.#read.get(key) ?? -1)) {
      take(fact)
      this.#read.set(key, fact.seq)
    }
  }

  #note(assertion: Parameters<typeof signCountOf>[0] & { readonly credential_id: string }): void {
    const { credential_id: id } = assertion
    this.#counts.set(id, Math.max(this.#counts.get(id) ?? 0, signCountOf(assertion)))
  }
}
