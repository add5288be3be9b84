/** The text of a stored fact as a fact. What a store returns may be damaged; the failure says where. */
import type { FaultError } from '../../base/index.ts'
import type { Fact } from '../../ledger/index.ts'
import { failure } from '../database/sqlite-connection.ts'

/** The failure that a fact is which is not in its place. */
export function lostFact(stream: string, seq: number): FaultError {
  const place = `${stream}/${seq}`
  return failure('ledger.tampered', place, `the fact ${place} is not there`)
}

/** Fails with `ledger.tampered` and the place if the text is gone or no JSON. */
export function storedFact(text: unknown, stream: string, seq: number): Fact {
  if (typeof text !== 'string') throw lostFact(stream, seq)
  try {
    return JSON.parse(text) as Fact // Written as a fact; verification judges its form.
  } catch {
    const place = `${stream}/${seq}`
    throw failure(
      'ledger.tampered',
      place,
      `the fact ${place} is not JSON: it was changed or damaged`,
    )
  }
}
