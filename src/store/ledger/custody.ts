/**
 * Whose word the history is (S-14): this user's alone, or also that of witnesses that a human pinned and
 * that cosigned the newest anchor. It is said from the facts; `ledger verify` checks the cosignatures.
 */
import type { LedgerReader } from './export-reader.ts'
import { anchorRecords, pinnedWitnesses } from './recorded-anchors.ts'

export async function custodyOf(
  reader: Pick<LedgerReader, 'store' | 'objects'>,
): Promise<'seatbelt' | 'witnessed'> {
  const [told] = await anchorRecords(reader, 1)
  if (told === undefined) return 'seatbelt'
  const pins = await pinnedWitnesses(reader)
  return told.witnesses.some(({ name, key }) => pins.get(name) === key) ? 'witnessed' : 'seatbelt'
}
