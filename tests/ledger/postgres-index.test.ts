/** Marks of the query index in PostgreSQL: bound to the history, so that an appender cannot move them. */
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgresReader } from '../../src/store/postgres/postgres-store.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { taskDraft } from './entries.ts'
import {
  asOwner,
  createRoles,
  postgresLedger,
  postgresLedgerAt,
  WRITER,
} from './postgres-ledger.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
  await createRoles(server)
}, 120_000)

afterAll(async () => {
  await server.stop()
})

const find = async (store: Awaited<ReturnType<Opened>>, task: string) =>
  (await store.find({ stream: 'main', task, limit: 5, order: 'oldest_first' })).facts.length
type Opened = Awaited<ReturnType<typeof postgresLedger>>['open']

it.each([
  ['far ahead', '5000'],
  ['beyond every number', '1152921504606846977'],
  ['back', '0'],
])(
  'a mark that an appender moved %s hides nothing',
  async (_, to) => {
    const ledger = await postgresLedger(server)
    const { schema } = ledger.place
    const first = await ledger.open()
    await first.append(Array.from({ length: 5 }, (_, at) => taskDraft(`t-${at}`)))
    await first.close()
    await asOwner(
      server,
      async (client) => {
        const { rows } = await client.query(`SELECT stream, size FROM ${schema}.marks`)
        expect(rows).toHaveLength(1)
        const values = [rows[0].stream, rows[0].size, to]
        await client.query(`SELECT ${schema}.follow($1, $2, $3, '{}', '{}', '{}')`, values)
      },
      WRITER,
    )
    const store = await ledger.open()
    await store.append(Array.from({ length: 5 }, (_, at) => taskDraft(`u-${at}`)))
    for (const task of ['t-0', 't-4', 'u-0', 'u-4']) expect(await find(store, task)).toBe(1)
    await store.close()
    // The follower took what was in between; the index alone answers now.
    const later = await ledger.open()
    for (const task of ['t-4', 'u-0']) expect(await find(later, task)).toBe(1)
    await later.close()
    await asOwner(server, async (client) => {
      const { rows } = await client.query(
        `SELECT count(*)::integer AS terms FROM ${schema}.terms WHERE field = 2`,
      )
      expect(rows[0].terms).toBe(10)
    })
  },
  120_000,
)

it('a mark that an appender makes with the chain value of a fact hides nothing', async () => {
  const ledger = await postgresLedger(server)
  const { schema } = ledger.place
  const first = await ledger.open()
  await first.append([taskDraft('t-0')])
  await first.close()
  const later = await postgresLedgerAt(ledger.place, { isIndexing: false })
  await later.append(Array.from({ length: 5 }, (_, at) => taskDraft(`u-${at}`)))
  await asOwner(
    server,
    async (client) => {
      const { rows } = await client.query(
        `SELECT stream, size, (SELECT value FROM ${schema}.terms WHERE field = 100) AS bound
          FROM ${schema}.marks`,
      )
      expect(rows[0].bound).toMatch(/^\d{16} [0-9a-f]{64} /)
      const { rows: facts } = await client.query(
        `SELECT encode(chain, 'hex') AS chain FROM ${schema}.facts WHERE seq = 5`,
      )
      const [, , signature] = rows[0].bound.split(' ')
      const own = `${'5'.padStart(16, '0')} ${facts[0].chain}`
      for (const value of [own, `${own} `, `${own} ${signature}`]) {
        await client.query(
          `SELECT ${schema}.follow($1, size, 6, '{100}', ARRAY[$2], '{5}')
          FROM ${schema}.marks`,
          [rows[0].stream, value],
        )
      }
    },
    WRITER,
  )
  for (const task of ['t-0', 'u-0', 'u-3', 'u-4']) expect(await find(later, task)).toBe(1)
  await later.close()
}, 120_000)

it('a reader that has no key believes no mark, and finds everything', async () => {
  const ledger = await postgresLedger(server)
  const store = await ledger.open()
  await store.append(Array.from({ length: 5 }, (_, at) => taskDraft(`t-${at}`)))
  await store.close()
  await asOwner(server, (client) =>
    client.query(`DELETE FROM ${ledger.place.schema}.terms WHERE field < 100`),
  )
  const reader = await openPostgresReader(ledger.place)
  expect(await find(reader, 't-2')).toBe(1)
  await reader.close()
}, 120_000)

it('terms that the owner removed are written again by reindex', async () => {
  const ledger = await postgresLedger(server)
  const { schema } = ledger.place
  const store = await ledger.open()
  await store.append(Array.from({ length: 5 }, (_, at) => taskDraft(`t-${at}`)))
  await store.close()
  await asOwner(server, (client) => client.query(`DELETE FROM ${schema}.terms WHERE field < 100`))
  const later = await ledger.open()
  expect(await find(later, 't-2')).toBe(0)
  await later.reindex()
  expect(await find(later, 't-2')).toBe(1)
  await later.close()
}, 120_000)

it('a tail that is too long to be searched at once is not read whole', async () => {
  const ledger = await postgresLedger(server)
  const store = await postgresLedgerAt(ledger.place, { isIndexing: false })
  await store.append(Array.from({ length: 700 }, (_, at) => taskDraft(`t-${at}`)))
  // The first question learns of the mark.
  expect(await find(store, 't-0')).toBe(1)
  const asked: pg.QueryConfig[] = []
  const { queries } = store
  const ask = queries.query.bind(queries)
  Object.assign(queries, {
    query: (config: pg.QueryConfig) => {
      asked.push(config)
      return ask(config)
    },
  })
  expect(await find(store, 't-699')).toBe(1)
  await store.close()
  const [{ text, values } = { text: '', values: [] }] = asked
  const { rows } = await asOwner(server, (client) =>
    client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values),
  )
  const plan = JSON.stringify(rows[0]['QUERY PLAN'])
  expect(plan).toContain('"Subplan Name":"CTE tail"')
  expect(plan).toContain('"Actual Rows":513')
  expect(plan).not.toContain('"Actual Rows":700')
}, 120_000)
