/**
 * What verification needs of a store: the rows of one snapshot, and the checks that depend on the kind
 * of store. `verify-sqlite.ts` and `verify-postgres.ts` implement it; the run over them is the same.
 */

import type { Fact, Reference, StreamVerification, Wrong } from '../../ledger/index.ts'
import type { ObjectStore } from '../objects/objects.ts'

export interface StreamRow {
  readonly stream: number
  readonly name: string
  readonly origin: string
}

/** The chain value is in upper-case hex. */
export type FactRow = readonly [seq: number, text: string, chain: string]

export interface NoteRow {
  readonly size: number
  readonly note: string
}

export interface TileRow {
  readonly hashes: Uint8Array
  readonly nodes: Uint8Array
}

/** What one fact names. */
export interface Named {
  readonly seq: number
  readonly references: readonly Reference[]
}

/** Told of everything that is wrong. */
export type Say = (wrong: Wrong, stream?: string, seq?: number) => void

/** Facts of one page. */
export const PAGE = 1_000

export interface LedgerRows {
  /** Pages, types, guards, and that there is exactly one ledger. */
  checkPlace(say: Say): Promise<void>
  /** The streams that can be looked at, in the order of their numbers. */
  streams(say: Say): Promise<readonly StreamRow[]>
  head(row: StreamRow): Promise<NoteRow | null>
  /** In the order of sizes, each with the size it is filed under. */
  kept(row: StreamRow): Promise<readonly NoteRow[]>
  /** Returns facts from a seq on, at most a page; calls `say` for texts that are not UTF-8. */
  facts(row: StreamRow, from: number, say: Say): Promise<readonly FactRow[]>
  /**
   * Takes a whole page of facts at once, when that is faster; what they name, if they are read. Null
   * when they have to be taken one by one.
   */
  takeBlock(
    row: StreamRow,
    verification: StreamVerification,
    from: number,
    isRead: boolean,
  ): readonly Named[] | null
  tile(row: StreamRow, level: number, index: number): Promise<TileRow | null>
  count(table: 'facts' | 'tiles', row: StreamRow): Promise<number>
  /** Rows that are of none of the streams. */
  checkStrays(rows: readonly StreamRow[], say: Say): Promise<void>
  /** Takes every fact that is read, so that `checkIndex` can compare the indexes afterwards. */
  note(row: StreamRow, fact: Fact): void
  /** Whether facts are noted even if the options do not ask for the indexes. */
  readonly notesAlways: boolean
  /** The index over idempotency keys, and over terms if asked for, when every fact was noted. */
  checkIndex(rows: readonly StreamRow[], say: Say, withTerms: boolean): Promise<void>
  /** The texts of all facts that hold this mark. */
  marked(mark: string): AsyncIterable<string>
  /** Where the bodies lie that facts name. */
  readonly objects: ObjectStore
  close(): Promise<void>
}

export function stray(message: string): Wrong {
  return { code: 'ledger.stray', message }
}

export function wrongIndex(name: string): Wrong {
  const message = `the query index of ${name} is not that of its facts; make it again: writ ledger reindex`
  return { code: 'ledger.index_wrong', message }
}

export function hasZero(column: string): string {
  return `instr(CAST(${column} AS BLOB), x'00') > 0`
}
