/**
 * The facts of a stream in pages: as blocks of bytes, a thousand at once, or as rows where something
 * about a block is odd and the place has to be found. Texts and hex come out of SQLite in half the time
 * of bytes, blocks in a third.
 */
import { isUtf8 } from 'node:buffer'
import { ROTATION_MARK, type StreamVerification } from '../../ledger/index.ts'
import { type FactBlock, FactBlocks } from '../database/fact-block.ts'
import type { Database, Statement } from '../database/sqlite-driver.ts'
import { factPlace } from '../database/sqlite-schema.ts'
import { type FactRow, type Named, PAGE, type StreamRow } from './verify-rows.ts'

export class FactPages {
  readonly #rows: Statement<FactRow>
  readonly #blocks: FactBlocks

  constructor(database: Database) {
    this.#rows = database
      .prepare<FactRow>(
        'SELECT place - ?, fact, hex(chain) FROM facts WHERE place >= ? AND place < ? ORDER BY place LIMIT ?',
      )
      .raw()
    this.#blocks = new FactBlocks(database)
  }

  rows({ stream }: StreamRow, from: number): readonly FactRow[] {
    const end = factPlace(stream + 1, 0)
    const start = factPlace(stream, 0)
    return this.#rows.all(start, factPlace(stream, from), end, PAGE)
  }

  /**
   * Takes a page of facts at once; null when it has to be taken row by row: it is not whole, or not
   * UTF-8, or a fact in it looks like a change of keys and none was to be read.
   */
  takeBlock(
    { stream }: StreamRow,
    verification: StreamVerification,
    from: number,
    isRead: boolean,
  ): readonly Named[] | null {
    const block = this.#blocks.read(stream, from, from + PAGE)
    const [first] = block?.entries ?? []
    if (block === null || first === undefined || !block.isWhole || block.entries.length < PAGE) {
      return null
    }
    const length = block.entries.reduce((sum, entry) => sum + entry.length, 0)
    const bytes = Buffer.from(first.buffer, first.byteOffset, length)
    if (isRead) return isUtf8(bytes) ? readAll(block, bytes, verification) : null
    if (bytes.includes(ROTATION_MARK)) return null
    block.entries.forEach((entry, index) => {
      // A whole block has a chain value for each entry.
      verification.takeEntry(entry, block.chains[index] as Uint8Array)
    })
    return []
  }
}

function readAll(
  { from, entries, chains }: FactBlock,
  bytes: Buffer,
  verification: StreamVerification,
): readonly Named[] {
  const named: Named[] = []
  let at = 0
  entries.forEach((entry, index) => {
    // Behind the 0x00 in front.
    const text = bytes.toString('utf8', at + 1, at + entry.length)
    at += entry.length
    // A whole block has a chain value for each entry.
    const references = verification.takeRead(entry, chains[index] as Uint8Array, text)
    if (references.length > 0) named.push({ seq: from + index, references })
  })
  return named
}
