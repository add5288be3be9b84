/**
 * Assertions of passkeys in a ledger, checked again fact by fact (W-3). The host's stream comes first
 * and tells of the passkeys; every later answer and proof must be of one of them.
 */
import type { Confirmation, PasskeyProof } from '../../contracts/index.ts'
import { type Fact, HOST_STREAM } from '../facts/fact.ts'
import { answerAssertionFault, recordedAssertionFault } from '../principals/assertion.ts'
import { type Register, RegisterFold } from '../principals/register.ts'
import type { Wrong } from './verify-keys.ts'

export class AssertionAudit {
  readonly #fold = new RegisterFold()
  #register: Register | null = null

  /** Returns what is wrong with the assertion of a fact; null for a fact without one. */
  take(fact: Fact): Wrong | null {
    const { stream, record, principal } = fact
    // Records that break their contracts are found by others; nothing is assumed of them here.
    try {
      if (stream === HOST_STREAM && record.type === 'principal_v1') {
        this.#fold.take(fact)
        this.#register = null
        return null
      }
      const words = this.#fault(record.type, record.payload, principal)
      return words === null ? null : unheld(words)
    } catch {
      return unheld('it cannot be read')
    }
  }

  #fault(type: string, payload: unknown, principal: Fact['principal']): string | null {
    if (type !== 'confirmation_v1' && type !== 'passkey_proof_v1') return null
    // A long record is kept by reference; its digest is checked there.
    if (payload === undefined) return null
    this.#register ??= this.#fold.finish()
    if (type === 'confirmation_v1') {
      // A record that breaks its contract is refused by its caller.
      return answerAssertionFault(this.#register, payload as Confirmation, principal)
    }
    // The same.
    const { assertion } = payload as PasskeyProof
    return recordedAssertionFault(this.#register, assertion, principal)
  }
}

function unheld(words: string): Wrong {
  return {
    code: 'ledger.assertion',
    message: `the assertion of a passkey in this fact does not hold: ${words}`,
  }
}
