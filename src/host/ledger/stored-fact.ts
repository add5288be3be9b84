/** The text of a stored fact as a fact. What a store returns may be damaged; the failure says where. */
import type { Fact } from '../../ledger/index.ts'
import { failure } from './sqlite.ts'

/** Fails with `ledger.tampered` and the place if the text is gone or no JSON. */
export function storedFact(text: unknown, stream: string, seq: number): Fact {
  const place = `${stream}/${seq}`
  if (typeof text !== 'string') {
    throw failure('ledger.tampered', place, `the fact ${place} is not there`)
  }
  try {
    return JSON.parse(text) as Fact // Written as a fact; verification judges its form.
  } catch {
    throw failure(
      'ledger.tampered',
      place,
      `the fact ${place} is not JSON: it was changed or damaged`,
    )
  }
}
