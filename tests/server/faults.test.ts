/**
 * The service is killed, its disk is full, its PostgreSQL goes away and comes back, while proposals are
 * under way (H-8). `WRIT_SERVICE_SECONDS` and `WRIT_SEED` make the soak out of the slice.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { startPostgres } from '../../tools/postgres.mjs'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { type Random, randomFrom } from '../view/rounds.ts'
import { ServiceLoad } from './service-load.ts'
import { ServicePlace } from './service-place.ts'

const SECONDS = Number(process.env['WRIT_SERVICE_SECONDS'] ?? 12)
const SEED = Number(process.env['WRIT_SEED'] ?? Date.now() % 2 ** 31)
const AT_ONCE = 4
/** A proposal takes about a second; a kill hits any moment of it. */
const LATEST_MS = 2_500

vi.setConfig({ testTimeout: SECONDS * 4_000 + 240_000 })

let place: ServicePlace | null = null
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  await place?.end('SIGKILL')
  place?.remove()
  for (const close of closing.splice(0)) await close()
})

/** Rounds of load with a fault at a random moment, until the time is up; at least two. */
async function rounds(
  load: ServiceLoad,
  random: Random,
  fault: (random: Random) => Promise<void>,
): Promise<number> {
  const until = Date.now() + SECONDS * 1_000
  let done = 0
  for (; done < 2 || Date.now() < until; done++) {
    const answered = load.propose(AT_ONCE)
    await pause(random(LATEST_MS))
    await fault(random)
    await answered
    await load.settle()
  }
  return done
}

/** History is whole, and says again what it said. */
function expectWhole(at: ServicePlace): void {
  const verified = at.writ(['ledger', 'verify', '--json'])
  expect(verified.json, verified.err).toMatchObject({ ok: true, problems: [] })
  const replayed = at.writ(['replay'])
  expect(replayed.status, `${replayed.out}${replayed.err}`).toBe(0)
}

it(`kill -9 during proposals loses and doubles nothing, seed ${SEED}`, async () => {
  const at = new ServicePlace('kills')
  place = at
  const load = new ServiceLoad(at, at.tokenOf('ai:bot@local'))
  await at.serve()
  const count = await rounds(load, randomFrom(SEED), async () => {
    await at.end('SIGKILL')
    await at.serve()
  })
  await at.end()
  expectWhole(at)
  const { acknowledged, promoted, undecided } = load
  process.stdout.write(
    `seed ${SEED}: ${count} kills, ${acknowledged} acknowledged, ${promoted} promoted, ${undecided} proposed again\n`,
  )
  expect(promoted).toBeGreaterThan(0)
})

it(`PostgreSQL gone and back loses and doubles nothing, seed ${SEED}`, async () => {
  const server = await startPostgres()
  closing.push(() => server.stop())
  await asOwner(server, (client) =>
    client.query('CREATE ROLE keeper LOGIN CREATEROLE SUPERUSER; CREATE ROLE clerk LOGIN'),
  )
  const url = `postgresql://clerk@/postgres?host=${server.connection.host}`
  const at = new ServicePlace('away', ['--store', url, '--store-owner', 'keeper'])
  place = at
  const load = new ServiceLoad(at, at.tokenOf('ai:bot@local'))
  await at.serve()
  const count = await rounds(load, randomFrom(SEED + 1), async (random) => {
    await server.kill(random(2) === 0 ? 'crash' : 'immediate')
    await pause(random(1_000))
    await server.start()
  })
  await at.end()
  expectWhole(at)
  const { acknowledged, promoted, undecided } = load
  process.stdout.write(
    `seed ${SEED}: ${count} losses, ${acknowledged} acknowledged, ${promoted} promoted, ${undecided} proposed again\n`,
  )
  expect(promoted).toBeGreaterThan(0)
})
