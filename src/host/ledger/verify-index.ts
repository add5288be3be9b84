/**
 * The query index against the facts: every term of every fact below the mark is there, and nothing
 * else. It proves nothing and can be made again, but whoever bends it hides facts from queries and
 * lets an idempotency key be used twice, so a verification that is asked to looks at it as well.
 */
import { existsSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { type Fact, INDEXED_FIELDS, indexTerms } from '../../ledger/index.ts'
import { indexFileOf } from './engine.ts'
import { factPlace } from './schema.ts'
import { isDamage, openDatabase } from './sqlite.ts'
import { type Say, type StreamRow, wrongIndex } from './verify-rows.ts'

/** As the index numbers them; ids are found without it. */
const FIELDS = INDEXED_FIELDS.filter((field) => field !== 'factId')

/** Says what is wrong once per stream; an index that is not there is made when it is needed. */
export function checkIndex(
  ledger: Database,
  file: string,
  rows: readonly StreamRow[],
  say: Say,
): void {
  if (!existsSync(indexFileOf(file))) return
  let index: Database | null = null
  try {
    index = openDatabase({ file: indexFileOf(file), mode: 'read', synchronous: 'NORMAL' })
    for (const row of rows) if (!isIndexed(ledger, index, row)) say(wrongIndex(row.name))
  } catch (error) {
    if (!isDamage(error)) throw error
    say(wrongIndex('the file'))
  } finally {
    index?.close()
  }
}

function isIndexed(ledger: Database, index: Database, { stream }: StreamRow): boolean {
  const mark = index.prepare('SELECT size, chain FROM marks WHERE stream = ?').get(stream) as
    | { readonly size: number; readonly chain: Buffer }
    | undefined
  if (mark === undefined) return true
  const chain = ledger.prepare('SELECT chain FROM facts WHERE place = ?').pluck()
  const last = chain.get(factPlace(stream, mark.size - 1)) as Buffer | undefined
  // The index of another history is made anew before it is believed.
  if (last?.equals(mark.chain) !== true) return true
  const has = index
    .prepare('SELECT 1 FROM terms WHERE stream = ? AND field = ? AND value = ? AND seq = ?')
    .pluck()
  let expected = 0
  const facts = ledger
    .prepare('SELECT fact FROM facts WHERE place >= ? AND place < ? ORDER BY place')
    .pluck()
    .iterate(factPlace(stream, 0), factPlace(stream, mark.size))
  let seq = 0
  for (const text of facts) {
    const terms = indexTerms(JSON.parse(text as string) as Fact)
    for (const [code, field] of FIELDS.entries()) {
      const value = terms[field]
      if (value === undefined) continue
      expected++
      if (has.get(stream, code, value, seq) === undefined) return false
    }
    seq++
  }
  const found = index.prepare('SELECT count(*) FROM terms WHERE stream = ?').pluck().get(stream)
  return found === expected
}
