/**
 * The histories that humans signed for (W-3): a passkey's challenge holds the newest checkpoint of the
 * home, so an answer also dates what was recorded before it. Tiles are read here after they were compared
 * with the facts.
 */
import {
  assemble,
  emptyRoot,
  equalBytes,
  nodesOf,
  placeOf,
  planRoot,
  readNode,
  type SignedHistory,
  unheldAssertion,
} from '../../ledger/index.ts'
import type { Examined } from './verify-anchors.ts'
import type { LedgerRows, Say, StreamRow } from './verify-rows.ts'

/** Says of each fact with an assertion if its human signed for another history. */
export async function checkSignedHistories(
  signed: readonly SignedHistory[],
  examined: readonly Examined[],
  rows: LedgerRows,
  say: Say,
): Promise<void> {
  for (const { stream, seq, heads } of signed) {
    for (const head of heads ?? []) {
      const one = examined.find(({ row }) => row.name === head.stream)
      // What was not gone over, or is broken, is not compared here; a stream that is gone is said elsewhere.
      if (one === undefined || one.verification.isBroken) continue
      const most = head.stream === stream ? seq : one.verification.size
      const root = head.size > most ? null : await rootAt(rows, one.row, head.size)
      if (root !== null && equalBytes(root, head.root)) continue
      const words = `its human signed for another history of ${head.stream}, of ${head.size} facts`
      say(unheldAssertion(words), stream, seq)
      break
    }
    if (heads === null) say(unheldAssertion('it holds no checkpoint'), stream, seq)
  }
}

/** The root of the first facts; null if a tile is not there. */
async function rootAt(rows: LedgerRows, row: StreamRow, size: number): Promise<Uint8Array | null> {
  const plan = planRoot(size)
  const hashes: Uint8Array[] = []
  for (const place of nodesOf(plan).map(placeOf)) {
    const { level, index } = place
    const tile = await rows.tile(row, level, index)
    if (tile === null) return null
    const hash = readNode({ level, index, hashes: tile.hashes, inner: tile.nodes }, place)
    if (hash === null) return null
    hashes.push(hash)
  }
  return assemble(plan, hashes)[0] ?? emptyRoot()
}
