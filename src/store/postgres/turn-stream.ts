/** A stream in a turn of a sequencer in PostgreSQL: its end as the server tells it, and what is added to it. */
import { FaultError, fault, HASH_BYTES } from '../../base/index.ts'
import { type Appended, factLeaf, type StoredTile, TILE_WIDTH } from '../../ledger/index.ts'
import type { AppendCall } from '../sqlite/ledger-file.ts'
import { type StoredEnd, type StreamState, storedFact } from '../streams/stream-state.ts'

export interface EndRow {
  readonly name: string
  readonly stream: number
  readonly origin: string
  readonly size: number | null
  readonly epoch: number | null
  readonly holder: string | null
  readonly note: string | null
  /** The end of the stream; null when this sequencer was the last one and knows it. */
  readonly last_seq: number | null
  readonly last_fact: string | null
  readonly last_chain: Buffer | null
  readonly levels: readonly number[] | null
  readonly tiles: readonly number[] | null
  readonly hashes: readonly Buffer[] | null
  readonly nodes: readonly Buffer[] | null
  /** There are changes of keys that are not known here. */
  readonly turned: boolean
}

/** A stream in this turn. */
export interface TurnStream {
  readonly state: StreamState
  /** The size and the epoch that the fence has to find at the next stretch. */
  sentSize: number
  seenEpoch: number
  readonly nextEpoch: number
  /** The first fact of the turn, by which a commit in doubt is settled. */
  first: string | null
  /** What is placed and not sent yet. */
  texts: string[]
  chains: Uint8Array[]
  usedKeys: string[]
  readonly keys: Map<string, Placed>
  rotateTo?: AppendCall['rotateTo']
}

/** A fact as it will be answered, but for the size that its commit will have. */
export type Placed = Omit<Appended, 'size' | 'repeated'>

/** The end of a stream as the server told it with the turn. */
export function endOf(row: EndRow): StoredEnd {
  const { stream: id, name, origin, size, note, last_fact: fact, last_chain: chain } = row
  const last = fact === null || chain === null ? null : { fact, chain }
  const head = size === null || note === null ? null : { size, note }
  const tiles = (row.levels ?? []).map((level, at) => ({
    level,
    index: row.tiles?.[at] ?? 0,
    hashes: row.hashes?.[at] ?? EMPTY,
    inner: row.nodes?.[at] ?? EMPTY,
  }))
  return { id, name, origin, size: (row.last_seq ?? -1) + 1, head, last, tiles }
}

const EMPTY = new Uint8Array(0)

export function growingOf(state: StreamState, seenEpoch: number, nextEpoch: number): TurnStream {
  return {
    state,
    sentSize: state.storedSize,
    seenEpoch,
    nextEpoch,
    first: null,
    texts: [],
    chains: [],
    usedKeys: [],
    keys: new Map(),
  }
}

/** What has come to a tile since the tree had the stored size. */
export function pieceOf({ level, index, hashes, inner }: StoredTile, storedSize: number) {
  const stored = Math.floor(storedSize / TILE_WIDTH ** level) - index * TILE_WIDTH
  const start = Math.max(0, stored)
  return {
    level,
    index,
    start,
    hashes: Buffer.from(hashes.subarray(start * HASH_BYTES)),
    inner: Buffer.from(inner.subarray(innerCount(start) * HASH_BYTES)),
  }
}

/** Complete subtrees above so many hashes. */
function innerCount(width: number): number {
  let count = 0
  for (let rest = width >> 1; rest > 0; rest >>= 1) count += rest
  return count
}

/** Field by field: spreading costs as much as hashing. */
export function appendedOf(fact: Placed, { state }: TurnStream, repeated: boolean): Appended {
  const { stream, seq, factId, occurredAt, leaf } = fact
  return { stream, seq, factId, occurredAt, leaf, size: state.growth.size, repeated }
}

export function earlierOf(stream: string, seq: number, text: string): Placed {
  const { fact_id: factId, occurred_at: occurredAt } = storedFact(text, stream, seq)
  return { stream, seq, factId, occurredAt, leaf: leafText(factLeaf(text)) }
}

export function leafText(leaf: Uint8Array): string {
  return `sha256:${Buffer.from(leaf.buffer, leaf.byteOffset, leaf.byteLength).toString('hex')}`
}

export function headMoved(stream: string, expected: number, found: number): FaultError {
  return new FaultError(fault('ledger.head_moved', stream, { expected, found }))
}
