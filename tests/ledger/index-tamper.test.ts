/** A query index that was changed: found, made again, and never the reason that a key counts twice. */
import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TermSum } from '../../src/ledger/index.ts'
import { connect } from '../../src/store/database/sqlite-driver.ts'
import {
  createLedger,
  type Ledger,
  openLedger,
  schemaDifferences,
  verifyLedger,
} from '../../src/store/index.ts'
import { ANN, entry } from './entries.ts'
import { NAME, scratch } from './test-ledger.ts'

let place: ReturnType<typeof scratch>
let directory: string
let ledger: Ledger

const open = async () => {
  ledger = await openLedger({ directory })
}

beforeEach(async () => {
  place = scratch()
  directory = join(place.directory, 'state')
  await createLedger({ directory }, NAME, { principal: ANN, source: 'test' })
  await open()
  for (let at = 0; at < 80; at++) {
    await ledger.record(entry(`t-${at}`, { idempotencyKey: `k-${at}` }))
  }
  await ledger.close()
})

afterEach(async () => {
  await ledger.close()
  place.remove()
})

const codes = async () =>
  (await verifyLedger({ directory }, { contracts: true, index: true })).problems.map(
    ({ code }) => code,
  )

function around(file: string, ...sql: readonly string[]): void {
  const database = connect(join(directory, file), 'write')
  for (const one of sql) database.exec(one)
  database.close()
}

describe('the files of a ledger are their owner’s only', () => {
  /** Of the ledger, its index, and what SQLite adds to them while they are open. */
  const openToOthers = () =>
    readdirSync(directory).filter(
      (name) => name.includes('.db') && (statSync(join(directory, name)).mode & 0o077) !== 0,
    )
  const index = () => join(directory, 'ledger-index.db')

  it.each([
    ['that is made', () => rmSync(index())],
    ['that an older version made', () => chmodSync(index(), 0o644)],
  ])('an index %s', async (_, prepare) => {
    prepare()
    await open()
    await ledger.record(entry('one more'))
    expect(readdirSync(directory)).toContain('ledger-index.db')
    expect(openToOthers()).toEqual([])
  })
})

/** Uses a connection of its own: writ's does not allow writes to the schema. */
const WITHOUT_ONE_KEY = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
[sql] = database.execute("SELECT sql FROM sqlite_master WHERE name = 'facts_key'").fetchone()
database.execute("DROP INDEX facts_key")
database.execute(sql + " AND place & 0xffffffff <> 5")
database.execute("PRAGMA writable_schema = ON")
database.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'facts_key'", [sql])
`

const found = async (task: string) =>
  (await ledger.store.find({ stream: 'main', task, limit: 5, order: 'oldest_first' })).facts.length

describe('in SQLite', () => {
  it('is found by verification and made again by one command', async () => {
    expect(await codes()).toEqual([])
    around('ledger-index.db', 'DELETE FROM terms WHERE seq = 3')
    expect(await codes()).toEqual(['ledger.index_wrong'])
    await open()
    expect(await found('t-3')).toBe(0)
    await ledger.store.reindex()
    expect(await found('t-3')).toBe(1)
    await ledger.close()
    expect(await codes()).toEqual([])
  })

  it('lets no idempotency key be used a second time', async () => {
    around('ledger-index.db', 'DELETE FROM terms')
    await open()
    const again = await ledger.record(entry('t-3', { idempotencyKey: 'k-3' }))
    expect(again).toMatchObject({ ok: true, appended: { repeated: true, seq: 3 } })
  })

  it('a file of version 1 is read as it is, and a writer brings it on', async () => {
    around('ledger.db', 'DROP INDEX facts_key', 'PRAGMA user_version = 1')
    expect(await codes()).toEqual([])
    await open()
    const again = await ledger.record(entry('t-3', { idempotencyKey: 'k-3' }))
    expect(again).toMatchObject({ ok: true, appended: { repeated: true, seq: 3 } })
    const database = connect(join(directory, 'ledger.db'), 'read')
    expect(database.pragma('user_version', { simple: true })).toBe(2)
    expect(schemaDifferences(database)).toEqual([])
    database.close()
    await ledger.close()
    expect(await codes()).toEqual([])
  })

  it('an index over keys that lacks one is found', async () => {
    // Rows are dropped from the index alone by giving it another condition for a moment.
    execFileSync('python3', ['-c', WITHOUT_ONE_KEY, join(directory, 'ledger.db')])
    expect(await codes()).toEqual(['ledger.index_wrong'])
  })
})

describe('the sum of terms', () => {
  const rows: readonly [number, string, number][] = [
    [0, 'a', 1],
    [1, 'b', 2],
    [1, 'bb', 2],
  ]
  const sumOf = (of: readonly (readonly [number, string, number])[]) => {
    const sum = new TermSum(Uint32Array.of(1, 2, 3, 4))
    for (const [field, value, seq] of of) sum.add(field, value, seq)
    return sum
  }

  it('does not depend on the order, and tells every change of a row', () => {
    expect(sumOf(rows).equals(sumOf([...rows].reverse()))).toBe(true)
    for (const other of [
      rows.slice(1),
      [...rows, rows[0] ?? [0, '', 0]],
      [[0, 'a', 2], ...rows.slice(1)],
      [[2, 'a', 1], ...rows.slice(1)],
      [[0, 'c', 1], ...rows.slice(1)],
      [[0, 'a', 1 + 2 ** 32], ...rows.slice(1)],
    ] as const) {
      expect(sumOf(rows).equals(sumOf(other as typeof rows))).toBe(false)
    }
  })
})
