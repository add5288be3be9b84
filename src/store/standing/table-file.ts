/**
 * Tables in one file that is written once and read by key: rows of JSON in blocks, sorted by key, and
 * at the end an index with the digest of every block, signed. What a command does not ask for is not
 * read.
 *
 *     blocks: [["key",value],…]…  index: JSON  trailer: `writ tables 1 OFFSET BYTES SIGNATURE`
 *
 * INVARIANT (checked before believed): the index is read after its signature was verified, a block
 *   after its digest was compared. A key that is not in the block where it would stand is not there.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { digestBytes } from '../../base/index.ts'
import type { KeptTable } from '../../gate/index.ts'
import type { FileSeal } from '../keys/ed25519.ts'

export type KeyedRow = readonly [key: string, value: unknown]

/** Where a block begins is the sum of those before it. */
export interface BlockEntry {
  readonly first: string
  readonly bytes: number
  readonly digest: string
}

export interface TableEntry {
  readonly name: string
  /** No key lies behind this one. */
  readonly last: string
  readonly blocks: readonly BlockEntry[]
}

export interface TableIndex {
  /** What the file is about, as its writer said. */
  readonly head: unknown
  readonly tables: readonly TableEntry[]
}

const TRAILER_BYTES = 160
const TRAILER = /^writ tables 1 (\d+) (\d+) ([A-Za-z0-9+/=]+) *\n$/
/** So that no signature of a checkpoint is one of a file, and the other way round. */
const SIGNED_AS = 'writ tables 1\n'

export function trailerOf(offset: number, index: string, seal: FileSeal): string {
  const signature = Buffer.from(seal.sign(`${SIGNED_AS}${index}`)).toString('base64')
  const text = `writ tables 1 ${offset} ${Buffer.byteLength(index)} ${signature}`
  return `${text.padEnd(TRAILER_BYTES - 1)}\n`
}

/** The file is not what its writer wrote. */
export class TableDamage extends Error {
  override readonly name = 'TableDamage'
}

/** An open file; it stays readable when another takes its name. */
export class TableFile {
  readonly #descriptor: number
  readonly head: unknown
  readonly #tables: ReadonlyMap<string, FiledTable>

  /** Throws TableDamage, or what the system says. */
  constructor(path: string, seal: () => Pick<FileSeal, 'isOwn'>) {
    this.#descriptor = openSync(path, 'r')
    try {
      const index = this.#index(seal)
      this.head = index.head
      let offset = 0
      const tables = new Map<string, FiledTable>()
      for (const entry of index.tables) {
        tables.set(entry.name, new FiledTable(this, entry, offset))
        for (const { bytes } of entry.blocks) offset += bytes
      }
      this.#tables = tables
    } catch (error) {
      this.close()
      throw error
    }
  }

  table(name: string): FiledTable | null {
    return this.#tables.get(name) ?? null
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  read(offset: number, bytes: number): Buffer {
    const buffer = Buffer.allocUnsafe(bytes)
    for (let done = 0; done < bytes; ) {
      const count = readSync(this.#descriptor, buffer, done, bytes - done, offset + done)
      if (count === 0) throw new TableDamage('the file is cut short')
      done += count
    }
    return buffer
  }

  #index(seal: () => Pick<FileSeal, 'isOwn'>): TableIndex {
    const { size } = fstatSync(this.#descriptor)
    if (size < TRAILER_BYTES) throw new TableDamage('the file is cut short')
    const trailer = TRAILER.exec(this.read(size - TRAILER_BYTES, TRAILER_BYTES).toString('latin1'))
    const [, offset = '', bytes = '', signature = ''] = trailer ?? []
    if (trailer === null || Number(offset) + Number(bytes) + TRAILER_BYTES !== size) {
      throw new TableDamage('the end of the file is not one')
    }
    const text = this.read(Number(offset), Number(bytes)).toString('utf8')
    if (!seal().isOwn(`${SIGNED_AS}${text}`, Buffer.from(signature, 'base64'))) {
      throw new TableDamage('no key of this ledger signed it')
    }
    // What this ledger signed is an index.
    return JSON.parse(text) as TableIndex
  }
}

export class FiledTable implements KeptTable {
  readonly #file: TableFile
  readonly entry: TableEntry
  /** Where each block begins. */
  readonly #offsets: readonly number[]
  readonly #opened = new Map<number, ReadonlyMap<string, unknown>>()

  constructor(file: TableFile, entry: TableEntry, offset: number) {
    this.#file = file
    this.entry = entry
    let next = offset
    this.#offsets = entry.blocks.map(({ bytes }) => {
      next += bytes
      return next - bytes
    })
  }

  get(key: string): unknown {
    if (key > this.entry.last) return undefined
    const number = this.blockOf(key)
    return number < 0 ? undefined : this.#open(number).get(key)
  }

  *under(prefix: string): Iterable<string> {
    const { blocks, last } = this.entry
    if (prefix > last) return
    for (let number = Math.max(0, this.blockOf(prefix)); number < blocks.length; number++) {
      const first = blocks[number]?.first ?? ''
      if (first > prefix && !first.startsWith(prefix)) return
      for (const key of this.#open(number).keys()) if (key.startsWith(prefix)) yield key
    }
  }

  *entries(): Iterable<KeyedRow> {
    for (let number = 0; number < this.entry.blocks.length; number++) yield* this.rows(number)
  }

  /** The block in which a key would stand; -1 before the first. */
  blockOf(key: string): number {
    const { blocks } = this.entry
    let [low, high] = [0, blocks.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((blocks[middle]?.first ?? '') <= key) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** The bytes of blocks that lie side by side, as they are. */
  bytes(from: number, to: number): Buffer {
    const sizes = this.entry.blocks.slice(from, to).map(({ bytes }) => bytes)
    return this.#file.read(
      this.#offsets[from] ?? 0,
      sizes.reduce((sum, bytes) => sum + bytes, 0),
    )
  }

  rows(number: number): readonly KeyedRow[] {
    const bytes = this.bytes(number, number + 1)
    if (digestBytes(bytes) !== this.entry.blocks[number]?.digest) {
      throw new TableDamage(`a block of the table ${this.entry.name} is not what was written`)
    }
    // What was digested when it was written is rows.
    return JSON.parse(bytes.toString('utf8')) as readonly KeyedRow[]
  }

  #open(number: number): ReadonlyMap<string, unknown> {
    const opened = this.#opened.get(number) ?? new Map(this.rows(number))
    this.#opened.set(number, opened)
    return opened
  }
}
