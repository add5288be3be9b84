/**
 * The cosigned checkpoints that a ledger is verified against (H-9): those that its facts hold
 * (`anchor_v1`), and those in `anchors.json`, which also speak when the facts are an old copy.
 *
 * A cosignature counts if its witness is one that the caller names, or without such names one that a
 * human pinned in this home. Of each witness and origin the largest checkpoint is taken.
 */
import { isDigest } from '../../base/index.ts'
import type { AnchorRecord, WitnessChange } from '../../contracts/index.ts'
import {
  type Fact,
  formatVerifierKey,
  HOST_STREAM,
  noteCosignedAt,
  parseCheckpoint,
  parseNote,
  parseWitnessKey,
  type VerifierKey,
  type Wrong,
} from '../../ledger/index.ts'
import type { KeptAnchor } from '../ledger/kept-anchors.ts'
import type { ObjectStore } from '../objects/objects.ts'
import type { KnownNote } from './verify-anchors.ts'
import { type LedgerRows, PAGE, type StreamRow } from './verify-rows.ts'

interface CosignedNote extends KnownNote {
  readonly witness: VerifierKey
  /** Of the cosignature. */
  readonly seconds: number
}

export interface CosignedNotes {
  readonly notes: readonly CosignedNote[]
  readonly wrongs: readonly Wrong[]
}

interface CosignedSources {
  readonly rows: LedgerRows
  readonly objects: ObjectStore
  readonly kept: readonly KeptAnchor[]
  /** Keys that the caller names; null where it names none. */
  readonly named: readonly VerifierKey[] | null
}

export async function cosignedNotes(sources: CosignedSources): Promise<CosignedNotes> {
  const { rows, objects, kept, named } = sources
  const streams = await rows.streams(() => undefined)
  const host = streams.find(({ name }) => name === HOST_STREAM)
  const pins = new Map<string, VerifierKey>()
  const everPinned: VerifierKey[] = []
  const recorded: string[] = []
  for await (const fact of host === undefined ? [] : hostFacts(rows, host)) {
    if (fact.record.type === 'witness_v1') takePin(fact, pins, everPinned)
    else recorded.push(...(await notesIn(fact, objects)))
  }
  const wrongs = recorded.flatMap((note) => wrongOf(note, [...everPinned, ...(named ?? [])]))
  const notes = [...recorded, ...kept.map(({ note }) => note)]
  return { notes: largest(notes, named ?? [...pins.values()]), wrongs }
}

/** The facts about witnesses, without judging them: the run over the stream does. */
async function* hostFacts(rows: LedgerRows, host: StreamRow): AsyncIterable<Fact> {
  for (let from = 0; ; from += PAGE) {
    const page = await rows.facts(host, from, () => undefined)
    for (const [, text] of page) {
      if (!/"type":"(?:anchor|witness)_v1"/.test(text)) continue
      const fact = factIn(text)
      if (fact !== null && /^(?:anchor|witness)_v1$/.test(fact.record.type)) yield fact
    }
    if (page.length < PAGE) return
  }
}

function factIn(text: string): Fact | null {
  try {
    // The form of every fact is judged later; only one with a record is used here.
    const fact = JSON.parse(text) as Fact
    return typeof fact?.record?.type === 'string' ? fact : null
  } catch {
    return null
  }
}

function takePin(
  { principal, record }: Fact,
  pins: Map<string, VerifierKey>,
  everPinned: VerifierKey[],
): void {
  if (principal?.kind !== 'human') return
  // Judged by its contract later; a field that is missing is no pin.
  const { change, name, key: text } = (record.payload ?? {}) as Partial<WitnessChange>
  const key = parseWitnessKey(text ?? '')
  if (change === 'unpinned') pins.delete(name ?? '')
  if (change !== 'pinned' || key === null) return
  pins.set(key.name, key)
  everPinned.push(key)
}

/** A home with many streams has its statement in a body. */
async function notesIn({ record }: Fact, objects: ObjectStore): Promise<readonly string[]> {
  const { payload, payload_ref: ref } = record
  let value: unknown = payload
  if (payload === undefined && ref !== undefined && isDigest(ref)) {
    // A body that is gone or altered is reported by the check of bodies.
    const bytes = await objects.get(ref).catch(() => null)
    value = bytes === null ? null : JSON.parse(Buffer.from(bytes).toString())
  }
  // Judged by its contract later; what is no list of notes is none here.
  const { checkpoints } = (value ?? {}) as Partial<AnchorRecord>
  return Array.isArray(checkpoints) ? checkpoints.map(({ note }) => String(note)) : []
}

/** A record of cosignatures without a valid one by a witness that was ever pinned here. */
function wrongOf(note: string, keys: readonly VerifierKey[]): readonly Wrong[] {
  if (keys.some((key) => noteCosignedAt(note, key) !== null)) return []
  const { origin = '?', size = 0 } = parseCheckpoint(parseNote(note)?.text ?? '') ?? {}
  const message = `no witness that was pinned here cosigned the recorded checkpoint of \`${origin}\` at ${size}`
  return [{ code: 'ledger.cosignature', message }]
}

function largest(notes: readonly string[], keys: readonly VerifierKey[]): readonly CosignedNote[] {
  const found = new Map<string, CosignedNote>()
  for (const note of notes) {
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
    if (checkpoint === null) continue
    for (const witness of keys) {
      const seconds = noteCosignedAt(note, witness)
      const place = `${formatVerifierKey(witness)} ${checkpoint.origin}`
      const before = found.get(place)?.checkpoint.size ?? 0
      if (seconds === null || checkpoint.size < before) continue
      found.set(place, { note, checkpoint, witness, seconds })
    }
  }
  return [...found.values()]
}
