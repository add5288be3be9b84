/** Cosignatures as the facts hold them (H-9): every machine of a home has those, also one without `anchors.json`. */
import { isDigest } from '../../base/index.ts'
import type { AnchorRecord, WitnessChange } from '../../contracts/index.ts'
import { type Fact, HOST_STREAM, noteCosignedAt, parseWitnessKey } from '../../ledger/index.ts'
import type { LedgerReader } from './export-reader.ts'

type AnchorPlace = Pick<LedgerReader, 'store' | 'objects'>

/** More changes of witnesses than this are not looked at. */
const CHANGES_MAX = 1_000
/** A stream may be missing in the newest ones, where a witness was not there. */
const ANCHORS_MAX = 20

/** Returns the keys of the witnesses that humans pinned, by their names. */
export async function pinnedWitnesses({
  store,
}: AnchorPlace): Promise<ReadonlyMap<string, string>> {
  const order = 'newest_first' as const
  const changes = { stream: HOST_STREAM, type: 'witness_v1', limit: CHANGES_MAX, order }
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
  return pins
}

/** Returns the newest records of cosigned checkpoints, the newest first. */
export async function anchorRecords(
  { store, objects }: AnchorPlace,
  limit: number,
): Promise<readonly AnchorRecord[]> {
  const query = { stream: HOST_STREAM, type: 'anchor_v1', limit, order: 'newest_first' } as const
  const records: AnchorRecord[] = []
  for (const { text } of (await store.find(query)).facts) {
    // As above.
    const { payload, payload_ref: ref } = (JSON.parse(text) as Fact).record
    const bytes = ref !== undefined && isDigest(ref) ? await objects.get(ref) : null
    // As above; a payload that is kept by reference is the same document.
    records.push(
      (bytes === null ? payload : JSON.parse(Buffer.from(bytes).toString())) as AnchorRecord,
    )
  }
  return records
}

/** Returns the recorded checkpoints that a witness cosigned which is pinned now. */
export async function recordedAnchors(
  place: AnchorPlace,
): Promise<readonly AnchorRecord['checkpoints'][number][]> {
  const keys = [...(await pinnedWitnesses(place)).values()].flatMap(
    (text) => parseWitnessKey(text) ?? [],
  )
  if (keys.length === 0) return []
  const records = await anchorRecords(place, ANCHORS_MAX)
  return records
    .flatMap(({ checkpoints }) => checkpoints)
    .filter(({ note }) => keys.some((key) => noteCosignedAt(note, key) !== null))
}
