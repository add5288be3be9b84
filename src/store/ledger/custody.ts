/**
 * Whose word the history is (S-14): this user's alone, or also that of witnesses that a human pinned and
 * that cosigned the newest anchor. It is said from the facts; `ledger verify` checks the cosignatures.
 */
import { isDigest } from '../../base/index.ts'
import type { AnchorRecord, WitnessChange } from '../../contracts/index.ts'
import { type Fact, HOST_STREAM } from '../../ledger/index.ts'
import type { LedgerReader } from './export-reader.ts'

/** More changes of witnesses than this are not looked at. */
const CHANGES_MAX = 1_000

export async function custodyOf({
  store,
  objects,
}: Pick<LedgerReader, 'store' | 'objects'>): Promise<'seatbelt' | 'witnessed'> {
  const query = { stream: HOST_STREAM, limit: 1, order: 'newest_first' } as const
  const [anchor] = (await store.find({ ...query, type: 'anchor_v1' })).facts
  if (anchor === undefined) return 'seatbelt'
  const changes = { ...query, type: 'witness_v1', limit: CHANGES_MAX } as const
  const pins = new Map<string, string>()
  for (const { text } of (await store.find(changes)).facts.toReversed()) {
    // The store returns texts of facts, and judged each record by its contract.
    const { principal, record } = JSON.parse(text) as Fact
    // As above; records of this type are short and lie in their facts.
    const { change, name, key = '' } = record.payload as WitnessChange
    if (principal.kind !== 'human') continue
    if (change === 'pinned') pins.set(name, key)
    else pins.delete(name)
  }
  // As above.
  const { record } = JSON.parse(anchor.text) as Fact
  const { payload, payload_ref: ref } = record
  const bytes = ref !== undefined && isDigest(ref) ? await objects.get(ref) : null
  // As above; a payload that is kept by reference is the same document.
  const told = (
    bytes === null ? payload : JSON.parse(Buffer.from(bytes).toString())
  ) as AnchorRecord
  return told.witnesses.some(({ name, key }) => pins.get(name) === key) ? 'witnessed' : 'seatbelt'
}
