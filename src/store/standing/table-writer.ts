/**
 * Writes tables (table-file.ts) from what was kept before and what changed since. Blocks in which
 * nothing changed are carried over as they are, so that what it costs follows what changed, but for
 * the copying of bytes.
 *
 * Deliberately absent: syncing. What is written here can be made again from facts; a file that a
 * crash left torn is found out by its digests and thrown away.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { digestBytes } from '../../base/index.ts'
import type { MemoryTable } from '../../gate/index.ts'
import type { FileSeal } from '../keys/ed25519.ts'
import {
  type BlockEntry,
  type FiledTable,
  type KeyedRow,
  type TableEntry,
  type TableFile,
  type TableIndex,
  trailerOf,
} from './table-file.ts'

/** A block is read and digested whole to find one key. */
const BLOCK_BYTES = 16 * 1024
/** Blocks side by side are copied in pieces of this many. */
const COPIED_AT_ONCE = 64

interface TableOrder {
  readonly head: unknown
  readonly tables: Readonly<Record<string, Pick<MemoryTable<unknown>, 'changes'>>>
  /** What the changes are against; null when there is nothing. */
  readonly before: TableFile | null
}

/** Under another name first; a reader sees the old file or the new one. */
export function writeTables(path: string, order: TableOrder, seal: FileSeal): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    try {
      new TableWriter(descriptor).write(order, seal)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

class TableWriter {
  readonly #descriptor: number
  #offset = 0

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  write({ head, tables, before }: TableOrder, seal: FileSeal): void {
    const entries = Object.entries(tables).map(([name, table]) =>
      this.#table(name, table.changes(), before?.table(name) ?? null),
    )
    const index = JSON.stringify({ head, tables: entries } satisfies TableIndex)
    const offset = this.#offset
    this.#put(Buffer.from(index))
    this.#put(Buffer.from(trailerOf(offset, index, seal)))
  }

  #table(
    name: string,
    changes: ReadonlyMap<string, unknown>,
    before: FiledTable | null,
  ): TableEntry {
    const keys = [...changes.keys()].sort(byText)
    const blocks: BlockEntry[] = []
    for (const piece of piecesOf(keys, before)) {
      blocks.push(
        ...('copied' in piece
          ? this.#copy(piece.copied, piece.from, piece.to)
          : this.#rows(merged(piece.rows, piece.keys, changes))),
      )
    }
    const ends = [before?.entry.last ?? '', keys.at(-1) ?? ''].sort(byText)
    return { name, last: ends[1] ?? '', blocks }
  }

  #copy(table: FiledTable, from: number, to: number): readonly BlockEntry[] {
    for (let next = from; next < to; next += COPIED_AT_ONCE) {
      this.#put(table.bytes(next, Math.min(next + COPIED_AT_ONCE, to)))
    }
    return table.entry.blocks.slice(from, to)
  }

  /** In blocks of about one size: a full one that grows becomes two halves. */
  #rows(rows: readonly KeyedRow[]): readonly BlockEntry[] {
    const texts = rows.map((row) => JSON.stringify(row))
    const total = texts.reduce((sum, text) => sum + text.length + 1, 0)
    const wanted = total / Math.max(1, Math.ceil(total / BLOCK_BYTES))
    const blocks: BlockEntry[] = []
    for (let start = 0; start < texts.length; ) {
      let end = start
      for (let size = 0; end < texts.length && (end === start || size < wanted); end++) {
        size += (texts[end]?.length ?? 0) + 1
      }
      const bytes = Buffer.from(`[${texts.slice(start, end).join(',')}]`)
      const first = rows[start]?.[0] ?? ''
      blocks.push({ first, bytes: bytes.length, digest: digestBytes(bytes) })
      this.#put(bytes)
      start = end
    }
    return blocks
  }

  #put(bytes: Buffer): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#descriptor, bytes, done)
    }
    this.#offset += bytes.length
  }
}

type Piece =
  | { readonly copied: FiledTable; readonly from: number; readonly to: number }
  | { readonly rows: readonly KeyedRow[]; readonly keys: readonly string[] }

/** A table in its order: blocks that are carried over, and rows with the keys that change them. */
function* piecesOf(keys: readonly string[], before: FiledTable | null): Iterable<Piece> {
  if (before === null || before.entry.blocks.length === 0) {
    yield { rows: [], keys }
    return
  }
  const { blocks } = before.entry
  let carried = 0
  for (let next = 0; next < keys.length; ) {
    const number = Math.max(0, before.blockOf(keys[next] ?? ''))
    if (number > carried) yield { copied: before, from: carried, to: number }
    const bound = blocks[number + 1]?.first
    let end = next
    while (end < keys.length && (bound === undefined || (keys[end] ?? '') < bound)) end++
    yield { rows: before.rows(number), keys: keys.slice(next, end) }
    carried = number + 1
    next = end
  }
  if (carried < blocks.length) yield { copied: before, from: carried, to: blocks.length }
}

/** Both are sorted; a change takes the place of a row, or takes it away. */
function merged(
  rows: readonly KeyedRow[],
  keys: readonly string[],
  changes: ReadonlyMap<string, unknown>,
): readonly KeyedRow[] {
  const result: KeyedRow[] = []
  let next = 0
  const takeKeys = (below: string | null): void => {
    for (; next < keys.length; next++) {
      const key = keys[next] ?? ''
      if (below !== null && key >= below) return
      const value = changes.get(key)
      if (value !== undefined) result.push([key, value])
    }
  }
  for (const row of rows) {
    takeKeys(row[0])
    if (!changes.has(row[0])) result.push(row)
  }
  takeKeys(null)
  return result
}

/** As the keys are compared when they are looked up. */
function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
