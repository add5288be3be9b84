/** Readers and writers of a damaged ledger in PostgreSQL: a failure with the place, never an empty answer. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FaultError } from '../../src/base/index.ts'
import type { Query } from '../../src/ledger/index.ts'
import {
  createLedger,
  openHistory,
  openKeys,
  openLedger,
  signHome,
  verifyLedger,
} from '../../src/store/index.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { ANN, entry } from './entries.ts'
import { asOwner } from './postgres-ledger.ts'
import { NAME, scratch } from './test-ledger.ts'

let server: PostgresServer
let place: ReturnType<typeof scratch>
let directory: string
let schema: string
let made = 0

beforeAll(async () => {
  server = await startPostgres()
}, 120_000)

afterAll(() => server.stop())

beforeEach(async () => {
  place = scratch()
  directory = join(place.directory, 'state')
  schema = `damaged_${made++}`
  const url = `postgresql://postgres@/postgres?host=${server.connection.host}`
  const actor = { principal: ANN, source: 'test' } as const
  await createLedger({ directory }, NAME, actor, { kind: 'postgres', url, schema })
  const ledger = await openLedger({ directory })
  for (let at = 0; at < 8; at++) {
    await ledger.record(entry(`t-${at}`, { idempotencyKey: `k-${at}` }))
  }
  await ledger.close()
})

afterEach(() => place.remove())

/** SQL around the API, with every guard off for its time. `@` is the schema. */
async function around(...sql: readonly string[]): Promise<void> {
  const guards = (how: string) => async (client: pg.Client) => {
    for (const table of ['facts', 'heads', 'tiles', 'streams', 'checkpoints', 'keys']) {
      const { rows } = await client.query<{ name: string }>(
        `SELECT tgname AS name FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = '${schema}.${table}'::regclass`,
      )
      for (const { name } of rows) {
        await client.query(`ALTER TABLE ${schema}.${table} ${how} TRIGGER ${name}`)
      }
    }
  }
  await asOwner(server, async (client) => {
    await guards('DISABLE')(client)
    for (const one of sql) await client.query(one.replaceAll('@', schema))
    await guards('ENABLE ALWAYS')(client)
  })
}

async function failureOf(work: () => Promise<unknown>): Promise<readonly [string, string] | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    return [error.fault.code, error.fault.at]
  }
}

/** What `find`, `read` and `head` of the stream say. */
async function reading(query: Partial<Query> = {}) {
  const reader = await openHistory({ directory })
  const all: Query = { stream: 'main', limit: 100, order: 'oldest_first', ...query }
  try {
    return [
      await failureOf(() => reader.store.find(all)),
      await failureOf(() => reader.store.read('main', 0, 100)),
      await failureOf(() => reader.store.head('main')),
    ]
  } finally {
    await reader.close()
  }
}

/** By a machine that has seen nothing before: what the facts say has to suffice. */
async function appending(name: string, stream = 'main', idempotencyKey?: string) {
  rmSync(join(directory, 'heads.json'), { force: true })
  const ledger = await openLedger({ directory })
  const given = idempotencyKey === undefined ? { stream } : { stream, idempotencyKey }
  try {
    return await failureOf(() => ledger.record(entry(name, given)))
  } finally {
    await ledger.close()
  }
}

const TAMPERED = ['ledger.tampered', 'main/3'] as const

describe('PostgreSQL: a reader', () => {
  it('finds nothing wrong with a sound ledger, however it is asked', async () => {
    for (const order of ['oldest_first', 'newest_first'] as const) {
      expect(await reading({ order })).toEqual([null, null, null])
      expect(await reading({ order, task: 't-3' })).toEqual([null, null, null])
      expect(await reading({ order, since: '2020-01-01T00:00:00.000Z' })).toEqual([
        null,
        null,
        null,
      ])
    }
  })

  it.each([
    ['of all', {}],
    ['newest first', { order: 'newest_first' as const }],
    ['of one task', { task: 't-3' }],
    ['since a time', { since: '2020-01-01T00:00:00.000Z' }],
    ['until a time', { until: '2200-01-01T00:00:00.000Z' }],
  ])('names a fact that is not JSON: %s', async (_, query) => {
    await around(`UPDATE @.facts SET fact = 'x' || fact WHERE stream = 2 AND seq = 3`)
    expect((await reading(query))[0]).toEqual(TAMPERED)
  })

  it.each([
    ['of all', {}],
    ['newest first', { order: 'newest_first' as const }],
    ['of one task', { task: 't-3' }],
    ['since a time', { since: '2020-01-01T00:00:00.000Z' }],
  ])('names a fact that is not there: %s', async (_, query) => {
    await around('DELETE FROM @.facts WHERE stream = 2 AND seq = 3')
    expect((await reading(query)).slice(0, 2)).toEqual([TAMPERED, TAMPERED])
  })

  it('names a fact that halving the time comes upon', async () => {
    await around('DELETE FROM @.facts WHERE stream = 2 AND seq = 4')
    const [found] = await reading({ until: '2200-01-01T00:00:00.000Z' })
    expect(found).toEqual(['ledger.tampered', 'main/4'])
  })

  it.each([
    ['the last ones', 'seq > 3'],
    ['all', 'true'],
  ])('says that facts are gone: %s', async (_, which) => {
    await around(`DELETE FROM @.facts WHERE stream = 2 AND ${which}`)
    const wanted = ['ledger.truncated', 'main']
    expect((await reading()).slice(0, 2)).toEqual([wanted, wanted])
    expect((await reading({ task: 't-1' }))[0]).toEqual(wanted)
    expect(await appending('again')).toEqual(wanted)
  })

  it('does not take a stream for a new one whose rows are gone', async () => {
    const tables = ['facts', 'tiles', 'heads', 'keys', 'streams']
    await around(...tables.map((table) => `DELETE FROM @.${table} WHERE stream = 2`))
    const wanted = ['ledger.tampered', 'main']
    expect(await reading()).toEqual([wanted, wanted, wanted])
    expect(await appending('again')).toEqual(wanted)
    expect(await appending('x', 'north')).toBeNull()
    // Nor is a checkpoint of the home signed, or a key changed, as if the stream had never been.
    rmSync(join(directory, 'heads.json'), { force: true })
    const ledger = await openLedger({ directory })
    const actor = { principal: ANN, source: 'test' } as const
    const keys = openKeys(join(directory, 'keys'))
    expect(await failureOf(() => signHome(ledger.store, keys))).toEqual(wanted)
    expect(await failureOf(() => ledger.rotateKey(actor))).toEqual(wanted)
    await ledger.close()
  })

  it('does not take a stream for an empty one whose head is gone', async () => {
    await around('DELETE FROM @.heads WHERE stream = 2')
    const wanted = ['ledger.tampered', 'main']
    expect(await reading()).toEqual([wanted, wanted, wanted])
    expect(await appending('again')).toEqual(wanted)
  })

  it('does not take the host stream for a new one whose rows are gone', async () => {
    const tables = ['facts', 'tiles', 'heads', 'keys', 'streams']
    await around(...tables.map((table) => `DELETE FROM @.${table} WHERE stream = 1`))
    const reader = await openHistory({ directory })
    const { store } = reader
    const query: Query = { stream: 'host', limit: 1, order: 'oldest_first' }
    for (const read of [
      () => store.find(query),
      () => store.read('host', 0, 1),
      () => store.head('host'),
    ]) {
      expect(await failureOf(read)).toEqual(['ledger.tampered', 'host'])
    }
    await reader.close()
    expect(await appending('again', 'host')).toEqual(['ledger.tampered', 'host'])
  })

  it('does not take a key for unused whose fact is gone', async () => {
    await around('DELETE FROM @.facts WHERE stream = 2 AND seq = 3')
    expect(await appending('t-3', 'main', 'k-3')).toEqual(TAMPERED)
  })

  it.each(['facts', 'heads', 'streams'])('calls a table that is gone damage: %s', async (table) => {
    await asOwner(server, (client) => client.query(`DROP TABLE ${schema}.${table} CASCADE`))
    expect((await reading())[0]).toEqual(['ledger.corrupt', schema])
    const report = await verifyLedger({ directory }, { contracts: true })
    expect(report.problems.map(({ code }) => code)).toEqual(['ledger.corrupt'])
  })
})
