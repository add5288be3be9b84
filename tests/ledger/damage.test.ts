/** Readers of a damaged ledger: a failure with the place, never an empty answer. */

import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultError } from '../../src/base/index.ts'
import type { Query } from '../../src/ledger/index.ts'
import { connect } from '../../src/store/database/sqlite-driver.ts'
import {
  createLedger,
  openKeys,
  openLedger,
  openLedgerReader,
  signHome,
  verifyLedger,
} from '../../src/store/index.ts'
import { ANN, entry } from './entries.ts'
import { NAME, scratch } from './test-ledger.ts'

let place: ReturnType<typeof scratch>
let directory: string

beforeEach(async () => {
  place = scratch()
  directory = join(place.directory, 'state')
  await createLedger({ directory }, NAME, { principal: ANN, source: 'test' })
  const ledger = await openLedger({ directory })
  for (let at = 0; at < 8; at++) await ledger.record(entry(`t-${at}`))
  await ledger.close()
})

afterEach(() => place.remove())

/** SQL around the API, with every guard away for its time. */
function around(...sql: readonly string[]): void {
  const database = connect(join(directory, 'ledger.db'), 'write')
  const triggers = database
    .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
    .all() as { name: string; sql: string }[]
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`)
  for (const one of sql) database.exec(one)
  for (const one of triggers) database.exec(one.sql)
  database.close()
}

/** What a failure says: its code and its place. */
async function failureOf(work: () => Promise<unknown>): Promise<readonly [string, string] | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    return [error.fault.code, error.fault.at]
  }
}

async function reading(query: Partial<Query> = {}, stream = 'main') {
  const reader = openLedgerReader({ directory })
  const all: Query = { stream: 'main', limit: 100, order: 'oldest_first', ...query }
  try {
    return [
      await failureOf(() => reader.store.find(all)),
      await failureOf(() => reader.store.read(stream, 0, 100)),
    ]
  } finally {
    await reader.close()
  }
}

const MAIN = '(2 << 32)'

describe('a reader', () => {
  it('finds nothing wrong with a sound ledger, however it is asked', async () => {
    for (const order of ['oldest_first', 'newest_first'] as const) {
      expect(await reading({ order })).toEqual([null, null])
      expect(await reading({ order, task: 't-3' })).toEqual([null, null])
    }
  })

  it.each([
    ['of all', {}],
    ['newest first', { order: 'newest_first' as const }],
    ['of one task', { task: 't-3' }],
    ['of a time', { since: '2020-01-01T00:00:00.000Z' }],
  ])('names a fact that is not JSON: %s', async (_, query) => {
    around(`UPDATE facts SET fact = 'x' || fact WHERE place = ${MAIN} + 3`)
    expect((await reading(query))[0]).toEqual(['ledger.tampered', expect.stringMatching(/3$/)])
  })

  it('names a fact that is not there', async () => {
    around(`DELETE FROM facts WHERE place = ${MAIN} + 3`)
    expect(await reading()).toEqual([
      ['ledger.tampered', 'main/3'],
      ['ledger.tampered', 'main/3'],
    ])
    expect((await reading({ order: 'newest_first' }))[0]).toEqual(['ledger.tampered', 'main/3'])
  })

  it('says that facts behind the last one are gone', async () => {
    around(`DELETE FROM facts WHERE place > ${MAIN} + 3 AND place < (3 << 32)`)
    expect(await reading()).toEqual([
      ['ledger.truncated', 'main'],
      ['ledger.truncated', 'main'],
    ])
  })

  it('does not take a stream for a new one whose rows are gone', async () => {
    around(
      'DELETE FROM facts WHERE place >> 32 = 2',
      'DELETE FROM tiles WHERE place >> 32 = 2',
      'DELETE FROM heads WHERE stream = 2',
      'DELETE FROM streams WHERE stream = 2',
    )
    const wanted = ['ledger.tampered', 'main']
    expect(await reading()).toEqual([wanted, wanted])
    const ledger = await openLedger({ directory })
    expect(await failureOf(() => ledger.record(entry('again')))).toEqual([
      'ledger.tampered',
      'main',
    ])
    await ledger.record(entry('x', { stream: 'north' }))
    const keys = openKeys(join(directory, 'keys'))
    expect(await failureOf(() => signHome(ledger.store, keys))).toEqual(wanted)
    await ledger.close()
  })

  it('does not take a stream for an empty one whose head is gone', async () => {
    around('DELETE FROM heads WHERE stream = 2')
    const wanted = ['ledger.tampered', 'main']
    expect(await reading()).toEqual([wanted, wanted])
  })

  it('does not take the host stream for a new one whose rows are gone', async () => {
    const places = ['facts', 'tiles'].map((one) => `DELETE FROM ${one} WHERE place >> 32 = 1`)
    const rows = ['heads', 'streams'].map((one) => `DELETE FROM ${one} WHERE stream = 1`)
    around(...places, ...rows)
    const wanted = ['ledger.tampered', 'host']
    expect(await reading({ stream: 'host' }, 'host')).toEqual([wanted, wanted])
    const ledger = await openLedger({ directory })
    expect(await failureOf(() => ledger.record(entry('x', { stream: 'host' })))).toEqual(wanted)
    await ledger.close()
  })
})

it('verification minds two facts with one id', async () => {
  const database = connect(join(directory, 'ledger.db'), 'read')
  const text = (seq: number) =>
    database
      .prepare(`SELECT fact FROM facts WHERE place = ${MAIN} + ${seq}`)
      .pluck()
      .get() as string
  const [first, second] = [text(2), text(3)].map((one) => JSON.parse(one).fact_id)
  database.close()
  around(`UPDATE facts SET fact = replace(fact, '${second}', '${first}') WHERE place = ${MAIN} + 3`)
  const { problems } = await verifyLedger({ directory }, { contracts: true })
  expect(problems.map(({ code, seq }) => [code, seq])).toContainEqual(['ledger.id_unfit', 3])
})
