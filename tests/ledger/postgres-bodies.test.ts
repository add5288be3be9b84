/** Bodies on a server that no fact names: a request that was given twice leaves none. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { digestBytes } from '../../src/base/index.ts'
import { createLedger, openLedger } from '../../src/store/index.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { ANN, entry, task } from './entries.ts'
import { asOwner } from './postgres-ledger.ts'
import { NAME, scratch } from './test-ledger.ts'

const { directory, remove } = scratch()
const SCHEMA = 'writ_bodies'
let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
}, 180_000)

afterAll(async () => {
  remove()
  await server.stop()
})

it('go with a fact that says so', async () => {
  const { host, user } = server.connection
  const url = `postgresql://${user}@/postgres?host=${host}`
  const actor = { principal: ANN, source: 'test' }
  await createLedger({ directory }, NAME, actor, { kind: 'postgres', url, schema: SCHEMA })
  const rule = { type: 'ao_act_task_v0', keep: 'places', places: ['/meta/note'] } as const
  const ledger = await openLedger({ directory, bodyRules: [rule] })
  const record = { type: 'ao_act_task_v0', payload: task('t', 'a secret') }
  const given = entry('t', { record, idempotencyKey: 'once' })
  const bodies = () =>
    asOwner(server, async (client) => {
      const { rows } = await client.query(`SELECT digest FROM ${SCHEMA}.bodies ORDER BY digest`)
      return rows
    })
  await ledger.record(given)
  const kept = await bodies()
  expect(kept).toHaveLength(1)
  expect(await ledger.record(given)).toMatchObject({ ok: true, appended: { repeated: true } })
  expect(await bodies()).toEqual(kept)
  const { facts } = await ledger.store.find({
    stream: 'main',
    type: 'body_dropped_v1',
    limit: 9,
    order: 'oldest_first',
  })
  expect(facts.map(({ text }) => JSON.parse(text).record.payload.rule)).toEqual(['repeated'])
  await ledger.close()
})

it('are put again after another process dropped them', async () => {
  const { objects, close } = await opened()
  const bytes = new Uint8Array(100_000).fill(7)
  const digest = digestBytes(bytes)
  await objects.put({ digest, bytes })
  await asOwner(server, (client) =>
    client.query(`DELETE FROM ${SCHEMA}.bodies WHERE digest = $1`, [digest]),
  )
  await objects.put({ digest, bytes })
  expect(await objects.size(digest)).toBe(bytes.length)
  await close()
})

it('stay what they are when a caller writes over what it gave or got', async () => {
  const { objects, close } = await opened()
  const given = Buffer.from('given once')
  const digest = digestBytes(given)
  await objects.put({ digest, bytes: given })
  given.fill(0)
  for (let times = 0; times < 3; times++) {
    const got = await objects.get(digest)
    expect(Buffer.from(got).toString()).toBe('given once')
    got.fill(0)
  }
  await close()
  const other = await opened()
  for (let times = 0; times < 3; times++) {
    const got = await other.objects.get(digest)
    expect(Buffer.from(got).toString()).toBe('given once')
    got.fill(0)
  }
  await other.close()
})

async function opened() {
  const ledger = await openLedger({ directory })
  return { objects: ledger.objects, close: () => ledger.close() }
}
