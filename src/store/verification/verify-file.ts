/**
 * The file of a ledger as a file: its pages, types, guards, which streams it lists, and that no row
 * belongs to nothing.
 */

import { isStreamName } from '../../ledger/index.ts'
import { cutsTexts, type Database } from '../database/sqlite-driver.ts'
import { factPlace, schemaDifferences } from '../database/sqlite-schema.ts'
import { type Say, type StreamRow, stray } from './verify-rows.ts'

/** Ids beyond this make places that are no exact numbers. */
const STREAM_ID_MAX = 2 ** 20

/** Pages, types and guards, and that there is one ledger in the file. */
export function checkFile(database: Database, say: Say): void {
  for (const name of schemaDifferences(database)) {
    const message = `the table, view or guard \`${name}\` is missing, changed or too many`
    say({ code: 'ledger.schema', message })
  }
  // The index over the names of streams is compared with its table, everything else page by page.
  for (const pragma of ['quick_check(1)', `integrity_check('streams')`]) {
    const found = database.pragma(pragma, { simple: true })
    if (found !== 'ok') say({ code: 'ledger.corrupt', message: String(found) })
  }
  if (cutsTexts(database)) checkTexts(database, say)
  const ones = database.prepare('SELECT one FROM ledger').pluck().all()
  if (ones.length !== 1 || ones[0] !== 1) say(stray('the file does not name exactly one ledger'))
}

const TEXTS = {
  ...{ 'ledger.name': 'ledger', 'streams.name': 'streams', 'streams.origin': 'streams' },
  ...{ 'facts.fact': 'facts', 'heads.note': 'heads', 'checkpoints.note': 'checkpoints' },
}

/** No text of a ledger holds a zero byte. What lies behind one is not read here, so SQLite looks. */
function checkTexts(database: Database, say: Say): void {
  for (const [column, table] of Object.entries(TEXTS)) {
    const found = database.prepare(`SELECT 1 FROM ${table} WHERE ${hasZero(column)} LIMIT 1`).get()
    if (found !== undefined) {
      say({ code: 'ledger.tampered', message: `a text of \`${column}\` holds a zero byte` })
    }
  }
}

export function hasZero(column: string): string {
  return `instr(CAST(${column} AS BLOB), x'00') > 0`
}

/** The streams that can be looked at, in the order of their ids. */
export function readStreams(database: Database, say: Say): readonly StreamRow[] {
  const rows = database
    .prepare<StreamRow>('SELECT stream, name, origin FROM streams ORDER BY stream')
    .all()
  const ledger = database.prepare('SELECT name FROM ledger').pluck().get()
  return rows.filter(({ stream, name, origin }) => {
    const isSound = stream > 0 && stream <= STREAM_ID_MAX && isStreamName(name)
    if (!isSound) say(stray(`there is a stream of the number ${stream}`))
    if (origin !== `${ledger}/${name}`) say(stray(`${name} has an origin of its own`))
    return isSound
  })
}

/** Rows that are of none of the streams. */
export function checkStrays(database: Database, rows: readonly StreamRow[], say: Say): void {
  const ids = rows.map(({ stream }) => stream)
  const starts = ids.map((id) => factPlace(id, 0))
  const ends = ids.map((id) => factPlace(id + 1, 0))
  for (const table of ['facts', 'tiles', 'checkpoints']) {
    const within = database
      .prepare(`SELECT 1 FROM ${table} WHERE place >= ? AND place < ? LIMIT 1`)
      .pluck()
    const gaps = [-Infinity, ...ends].map((from, at) => [from, starts[at] ?? Infinity])
    if (gaps.some(([from, to]) => within.get(from, to) !== undefined)) {
      say(stray(`there are rows in ${table} that are of no stream`))
    }
  }
  const heads = database.prepare<number>('SELECT stream FROM heads').pluck().all()
  if (heads.some((id) => !ids.includes(id))) say(stray('there is a head of no stream'))
}
