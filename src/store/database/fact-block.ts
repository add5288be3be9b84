/**
 * Reads facts in blocks, for code that goes over a whole stream: one value per block instead of one per
 * fact, because fetching a row costs more than hashing it.
 *
 * A block is the facts' bytes, each with 0x00 in front, which is what a leaf is hashed from. Canonical
 * JSON holds no such byte; that there are as many pieces as rows shows that no fact holds one.
 */
import { HASH_BYTES, invariant } from '../../base/index.ts'
import type { Database, Statement } from './sqlite-driver.ts'
import { factPlace, seqOf } from './sqlite-schema.ts'

export interface FactBlock {
  /** The seq of the first fact. */
  readonly from: number
  /** 0x00 ‖ bytes of each fact, in order, no copies. */
  readonly entries: readonly Uint8Array[]
  /** The chain value of each fact. */
  readonly chains: readonly Uint8Array[]
  /** False when rows are missing in the middle, or a fact or chain value cannot be one. */
  readonly isWhole: boolean
}

export class FactBlocks {
  readonly #block: Statement<BlockRow>

  constructor(database: Database) {
    const rows =
      'SELECT place, fact, chain FROM facts WHERE place >= ? AND place < ? ORDER BY place'
    this.#block = database
      .prepare<BlockRow>(
        `SELECT count(*), min(place), max(place), CAST(char(0) || group_concat(fact, char(0)) AS BLOB),` +
          ` CAST(group_concat(chain, '') AS BLOB) FROM (${rows})`,
      )
      .raw()
  }

  /** The facts of a stream from one seq to another, those that are there. Null when none is. */
  read(stream: number, from: number, to: number): FactBlock | null {
    const row = this.#block.get(factPlace(stream, from), factPlace(stream, to))
    invariant(row !== undefined, 'an aggregate has one row')
    const [count, first, last, facts, chains] = row
    if (first === null || last === null) return null
    const entries = split(facts)
    const isWhole =
      first === factPlace(stream, from) &&
      last - first + 1 === count &&
      entries.length === count &&
      chains.length === count * HASH_BYTES
    return { from: seqOf(first), entries, chains: cut(chains), isWhole }
  }
}

type BlockRow = readonly [
  count: number,
  first: number | null,
  last: number | null,
  facts: Uint8Array,
  chains: Uint8Array,
]

function split({ buffer, byteOffset, length }: Uint8Array): readonly Uint8Array[] {
  // Searching a Buffer is faster, and so is cutting a plain array.
  const facts = Buffer.from(buffer, byteOffset, length)
  const bytes = new Uint8Array(buffer, byteOffset, length)
  const entries: Uint8Array[] = []
  for (let start = 0; start < bytes.length; ) {
    const next = facts.indexOf(0, start + 1)
    const end = next === -1 ? bytes.length : next
    entries.push(bytes.subarray(start, end))
    start = end
  }
  return entries
}

function cut(chains: Uint8Array): readonly Uint8Array[] {
  const bytes = new Uint8Array(chains.buffer, chains.byteOffset, chains.length)
  const hashes: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += HASH_BYTES)
    hashes.push(bytes.subarray(at, at + HASH_BYTES))
  return hashes
}
