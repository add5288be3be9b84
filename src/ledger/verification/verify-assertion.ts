/**
 * Assertions of passkeys in a ledger, checked again fact by fact (W-3). The host's stream comes first
 * and tells of the passkeys; every later answer and proof must be of one of them.
 */
import type { Confirmation, PasskeyProof } from '../../contracts/index.ts'
import { type Fact, HOST_STREAM } from '../facts/fact.ts'
import { headsOfHome, parseCheckpoint, type StreamHead } from '../notes/checkpoint.ts'
import {
  type Assertion,
  answerAssertionFault,
  recordedAssertionFault,
} from '../principals/assertion.ts'
import { type Register, RegisterFold } from '../principals/register.ts'
import type { Wrong } from './verify-keys.ts'

/** What a human signed of the history before a fact. */
export interface SignedHistory {
  readonly stream: string
  readonly seq: number
  /** Null if the challenge holds no checkpoint of a home. */
  readonly heads: readonly StreamHead[] | null
}

export class AssertionAudit {
  /** Of all assertions that were taken; the one who has the trees compares them. */
  readonly signed: SignedHistory[] = []
  readonly #fold = new RegisterFold()
  #register: Register | null = null
  /** Facts whose payload is kept by reference, until it was read. */
  readonly #waiting = new Map<string, Fact>()

  /** Returns what is wrong with the assertion of a fact; null for a fact without one. */
  take(fact: Fact): Wrong | null {
    const { stream, record } = fact
    // Records that break their contracts are found by others; nothing is assumed of them here.
    try {
      if (stream === HOST_STREAM && record.type === 'principal_v1') {
        this.#fold.take(fact)
        this.#register = null
        return null
      }
      if (!MAY_HOLD.has(record.type)) return null
      if (record.payload === undefined) {
        this.#waiting.set(`${stream}/${fact.seq}`, fact)
        return null
      }
      return said(this.#fault(fact, record.payload))
    } catch {
      return unheldAssertion('it cannot be read')
    }
  }

  /**
   * Returns what is wrong with the assertion of a fact whose payload is kept by reference; null for a
   * fact without one. A payload that cannot be read (`undefined`) proves nothing, also one that a fact
   * says was dropped: no command drops the payload of an answer.
   */
  takeReferenced(stream: string, seq: number, payload: unknown): Wrong | null {
    const fact = this.#waiting.get(`${stream}/${seq}`)
    if (fact === undefined) return null
    this.#waiting.delete(`${stream}/${seq}`)
    if (payload === undefined) return unheldAssertion('the payload of the fact is not there')
    try {
      return said(this.#fault(fact, payload))
    } catch {
      return unheldAssertion('it cannot be read')
    }
  }

  #fault({ stream, seq, record, principal }: Fact, payload: unknown): string | null {
    this.#register ??= this.#fold.finish()
    // A record that breaks its contract is refused by its caller.
    const { assertion } = payload as { readonly assertion?: Assertion }
    if (assertion !== undefined) {
      const checkpoint = parseCheckpoint(assertion.challenge.checkpoint)
      this.signed.push({ stream, seq, heads: checkpoint === null ? null : headsOfHome(checkpoint) })
    }
    if (record.type === 'confirmation_v1') {
      // The same.
      return answerAssertionFault(this.#register, payload as Confirmation, principal)
    }
    // The same.
    return recordedAssertionFault(this.#register, (payload as PasskeyProof).assertion, principal)
  }
}

/** The records that may hold an assertion. */
const MAY_HOLD: ReadonlySet<string> = new Set(['confirmation_v1', 'passkey_proof_v1'])

function said(words: string | null): Wrong | null {
  return words === null ? null : unheldAssertion(words)
}

export function unheldAssertion(words: string): Wrong {
  return {
    code: 'ledger.assertion',
    message: `the assertion of a passkey in this fact does not hold: ${words}`,
  }
}
