/**
 * Tickets: how the service tells a command of its own that a passkey proved the human of a request. The
 * ticket is random, goes from process to process through a pipe, and the fact of the proof holds its
 * digest; so neither the fact nor another process can stand for it.
 */
import { digestBytes } from '../../base/index.ts'
import type { PasskeyProof } from '../../contracts/index.ts'
import {
  type Fact,
  HOST_STREAM,
  type Principal,
  type Register,
  recordedAssertionFault,
  samePrincipal,
} from '../../ledger/index.ts'
import type { Ledger } from '../../store/index.ts'

export const PROOF_TICKET = 'writ-passkey-ticket:'
const LIFE_MS = 15 * 60_000
/** A ticket is of one of the newest proofs. */
const LOOKED_AT = 200

/** Whether a passkey of this human proved a request that this command carries out. */
export async function isProvenByTicket(
  { store }: Pick<Ledger, 'store'>,
  register: Register,
  principal: Principal,
  command: string,
  ticket: string,
): Promise<boolean> {
  const digest = digestBytes(ticket)
  const page = await store.find({
    stream: HOST_STREAM,
    type: 'passkey_proof_v1',
    limit: LOOKED_AT,
    order: 'newest_first',
  })
  // The store returns texts of facts, which were judged by their contracts.
  const facts = page.facts.map(({ text }) => JSON.parse(text) as Fact)
  const found = facts.find((fact) => (fact.record.payload as PasskeyProof).ticket === digest)
  if (found === undefined || Date.now() - Date.parse(found.occurred_at) > LIFE_MS) return false
  // The store judged it by its contract.
  const proof = found.record.payload as PasskeyProof
  if (proof.command !== command || !samePrincipal(found.principal, principal)) return false
  return recordedAssertionFault(register, proof.assertion, principal) === null
}
