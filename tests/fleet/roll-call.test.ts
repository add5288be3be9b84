/** The roll of workers on a network that drops a connection without a word. */
import { EventEmitter, once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RollCall } from '../../src/fleet/roll-call.ts'
import { openServerPool } from '../../src/store/postgres/postgres-connection.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { createRoles, postgresLedger } from '../ledger/postgres-ledger.ts'

let server: PostgresServer
const pairs: (readonly [Socket, Socket])[] = []
const line = createServer((near) => {
  const { host, port } = server.connection
  const far = createConnection(join(host, `.s.PGSQL.${port}`))
  near.pipe(far).pipe(near)
  for (const end of [near, far]) end.on('error', () => undefined)
  pairs.push([near, far])
})

beforeAll(async () => {
  server = await startPostgres()
  await createRoles(server)
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve))
}, 180_000)

afterAll(async () => {
  for (const end of pairs.flat()) end.destroy()
  line.close()
  await server.stop()
})

it('tells a worker that its session is gone, and keeps nothing that waits for it', async () => {
  const { place } = await postgresLedger(server)
  const address = line.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const connection = { ...place.connection, host: '127.0.0.1', port }
  const pool = await openServerPool({ ...place, connection }, 4)
  const roll = new RollCall(pool, place, { machine: 'm', labels: [], version: '0' })
  await roll.start(async () => undefined)
  const work = new EventEmitter()
  const alone = roll.alone('work', async () => {
    setImmediate(() => work.emit('begun'))
    await once(work, 'end')
  })
  await once(work, 'begun')
  // The first connection of the pool is the guard's: the server sees it end, and this side hears nothing.
  const [[near, far] = []] = pairs
  near?.unpipe()
  far?.unpipe()
  far?.destroy()
  const silent = new Promise((resolve) => setTimeout(resolve, 40_000, 'silent'))
  expect(await Promise.race([roll.lost, silent])).not.toBe('silent')
  work.emit('end')
  await alone
  await roll.stop()
  await pool.end()
}, 90_000)
