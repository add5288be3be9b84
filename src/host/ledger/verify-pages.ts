/**
 * The facts of a stream in pages: as rows, when each is read, or as blocks of bytes, when they are
 * only hashed. Texts and hex come out of SQLite in half the time of bytes, blocks in a third.
 */
import type { Database, Statement } from 'better-sqlite3'
import { ROTATION_MARK, type StreamVerification } from '../../ledger/index.ts'
import { FactBlocks } from './fact-block.ts'
import { factPlace } from './schema.ts'
import { type FactRow, PAGE, type StreamRow } from './verify-rows.ts'

export class FactPages {
  readonly #rows: Statement
  readonly #blocks: FactBlocks

  constructor(database: Database) {
    this.#rows = database
      .prepare(
        'SELECT place - ?, fact, hex(chain) FROM facts WHERE place >= ? AND place < ? ORDER BY place LIMIT ?',
      )
      .raw()
    this.#blocks = new FactBlocks(database)
  }

  rows({ stream }: StreamRow, from: number): readonly FactRow[] {
    const end = factPlace(stream + 1, 0)
    const start = factPlace(stream, 0)
    return this.#rows.all(start, factPlace(stream, from), end, PAGE) as FactRow[]
  }

  /**
   * Takes a page of facts unread; false when it has to be read row by row: it is not whole, or a
   * fact in it looks like a change of keys.
   */
  takeBlock({ stream }: StreamRow, verification: StreamVerification, from: number): boolean {
    const block = this.#blocks.read(stream, from, from + PAGE)
    const [first] = block?.entries ?? []
    if (block === null || first === undefined || !block.isWhole || block.entries.length < PAGE) {
      return false
    }
    const length = block.entries.reduce((sum, entry) => sum + entry.length, 0)
    const bytes = Buffer.from(first.buffer, first.byteOffset, length)
    if (bytes.includes(ROTATION_MARK)) return false
    block.entries.forEach((entry, index) => {
      verification.takeEntry(entry, block.chains[index] as Uint8Array)
    })
    return true
  }
}
