/**
 * Verification of a ledger in PostgreSQL: an honest one holds, and every manipulation by the owner of
 * its tables is found. A slice by default; `WRIT_POSTGRES_TAMPER_RUNS` is their number, `WRIT_SEED`
 * where they start.
 */

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FaultError } from '../../src/base/index.ts'
import { openLedger, type VerifyReport, verifyLedger } from '../../src/store/index.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { entry } from './entries.ts'
import { PostgresCorpus, SCHEMA, TEMPLATE } from './postgres-tamper.ts'
import { type Fixture, makeFixture, STREAMS } from './tamper-ledger.ts'
import { scratch } from './test-ledger.ts'

const RUNS = Number(process.env['WRIT_POSTGRES_TAMPER_RUNS'] ?? 20)
const SEED = Number(process.env['WRIT_SEED'] ?? 1)

let server: PostgresServer
let place: ReturnType<typeof scratch>
let corpus: PostgresCorpus
let fixture: Fixture

beforeAll(async () => {
  server = await startPostgres()
  place = scratch()
  corpus = new PostgresCorpus(server, place.directory)
  const client = new pg.Client(server.connection)
  await client.connect()
  await client.query(`CREATE DATABASE ${TEMPLATE}`)
  await client.end()
  const keep = (from: string, to: string) => corpus.keepOld(from, to)
  fixture = await makeFixture(place.directory, corpus.storeOf(TEMPLATE), keep)
}, 60_000)

afterAll(async () => {
  place.remove()
  await server.stop()
})

const anchors = () => Object.values(fixture.anchors)

/** A ledger that cannot even be opened has been found out: null. */
async function verdict(
  directory: string,
  options: { readonly anchor?: readonly string[]; readonly index?: boolean } = {},
): Promise<VerifyReport | null> {
  try {
    const pinnedKeys = fixture.pins
    return await verifyLedger({ directory }, { contracts: true, pinnedKeys, ...options })
  } catch (error) {
    if (error instanceof FaultError) return null
    throw error
  }
}

describe('a ledger in PostgreSQL', () => {
  it('holds when it was not changed, with and without anchors, and so does its index', async () => {
    const plain = await verdict(fixture.directory, { index: true })
    expect(plain).toMatchObject({ ok: true, anchored: false, problems: [] })
    const anchored = await verdict(fixture.directory, { anchor: anchors() })
    expect(anchored).toMatchObject({ ok: true, anchored: true, problems: [] })
    for (const stream of STREAMS) {
      const options = { contracts: false, stream, anchor: fixture.anchors[stream] ?? '' }
      const report = await verifyLedger({ directory: fixture.directory }, options)
      expect(report).toMatchObject({ ok: true, anchored: stream === 'host', problems: [] })
    }
  })

  it('may be written to while it is verified', async () => {
    const ledger = await openLedger({ directory: fixture.old })
    const [report] = await Promise.all([
      verdict(fixture.old),
      ...Array.from({ length: 20 }, (_, index) => ledger.record(entry(`while-${index}`))),
    ])
    expect(report).toMatchObject({ ok: true })
    await ledger.close()
  })

  it(`shows ${RUNS} of ${RUNS} manipulations from seed ${SEED} on`, async () => {
    const missed: string[] = []
    for (let run = 0; run < RUNS; run++) {
      const { name, expect: wanted } = await corpus.manipulate(SEED * 100_003 + run, run, fixture)
      const plain = await verdict(corpus.copy)
      if (wanted === 'found' && plain?.ok === true) missed.push(`${run} ${name}`)
      if (wanted === 'found') continue
      if (plain?.ok !== true || plain.anchored) missed.push(`${run} ${name}: alone`)
      const anchored = await verdict(corpus.copy, { anchor: anchors() })
      if (anchored?.ok === true) missed.push(`${run} ${name}: with an anchor`)
    }
    expect(missed).toEqual([])
  }, 3_600_000)

  it('shows an index that hides a fact, when it is asked to', async () => {
    const client = new pg.Client({ ...server.connection, database: 'old' })
    await client.connect()
    await client.query(`DELETE FROM ${SCHEMA}.terms WHERE seq = 3`)
    await client.end()
    expect(await verdict(fixture.old)).toMatchObject({ ok: true })
    const asked = await verdict(fixture.old, { index: true })
    expect(asked?.problems.map(({ code }) => code)).toContain('ledger.index_wrong')
  })
})
