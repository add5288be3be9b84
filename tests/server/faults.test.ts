/**
 * The service is killed, its disk is full, its PostgreSQL goes away and comes back, while proposals are
 * under way (H-8). `WRIT_SERVICE_SECONDS` and `WRIT_SEED` make the soak out of the slice.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { withWorkspaceLock } from '../../src/promotion/index.ts'
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
/** Shorter than the 30 s that a promotion waits for the workspace. */
const WAITING = { timeout: 25_000, interval: 200 }

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

/** Without its database the service lives, and says of everything else what is wrong. */
async function expectUnreachable(at: ServicePlace, token: string, host: string): Promise<void> {
  expect((await at.raw({ path: '/healthz' })).status).toBe(200)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify(at.proposal(`${randomUUID()}.txt`))
  const answers = [
    await at.raw({ path: '/readyz' }),
    await at.raw({ path: '/v1/questions', headers }),
    await at.raw({ method: 'POST', path: '/v1/actions', headers, body }),
  ]
  for (const { status, json, text } of answers) {
    expect([status, json.code], text).toEqual([503, 'ledger.unreachable'])
    expect(text).not.toContain(host)
  }
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

/** A home whose ledger is in a PostgreSQL of its own, and the token of an AI. */
async function onPostgres(name: string) {
  const server = await startPostgres()
  closing.push(() => server.stop())
  await asOwner(server, (client) =>
    client.query('CREATE ROLE keeper LOGIN CREATEROLE SUPERUSER; CREATE ROLE clerk LOGIN'),
  )
  const url = `postgresql://clerk@/postgres?host=${server.connection.host}`
  const at = new ServicePlace(name, ['--store', url, '--store-owner', 'keeper'])
  place = at
  return { server, at, bot: at.tokenOf('ai:bot@local') }
}

it(`PostgreSQL gone and back loses and doubles nothing, seed ${SEED}`, async () => {
  const { server, at, bot } = await onPostgres('away')
  const load = new ServiceLoad(at, bot)
  await at.serve()
  await server.kill('immediate')
  await expectUnreachable(at, bot, server.connection.host)
  await server.start()
  const count = await rounds(load, randomFrom(SEED + 1), async (random) => {
    await server.kill(random(2) === 0 ? 'crash' : 'immediate')
    await expectUnreachable(at, bot, server.connection.host)
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

it('a repeated request ends what was decided before PostgreSQL was gone', async () => {
  const { server, at, bot } = await onPostgres('between')
  await at.serve()
  const name = 'between.txt'
  const proposal = at.proposal(name)
  const { action_id } = proposal.descriptor
  const headers = { authorization: `Bearer ${bot}`, 'content-type': 'application/json' }
  const propose = () =>
    at.raw({
      method: 'POST',
      path: '/v1/actions',
      headers: { ...headers, 'idempotency-key': action_id, prefer: 'wait=60' },
      body: JSON.stringify(proposal),
    })
  // The promotion waits for the workspace, so that the loss comes after the decision and before it.
  const first = await withWorkspaceLock(at.project, { waitMs: 0 }, async () => {
    const answer = propose()
    const status = async () =>
      (await at.raw({ path: `/v1/actions/${action_id}`, headers })).json.status
    await vi.waitFor(async () => expect(await status()).toBe('unfinished'), WAITING)
    await server.kill('immediate')
    return { answer }
  })
  const lost = await first.answer
  expect([lost.status, lost.json.code], lost.text).toEqual([503, 'ledger.unreachable'])
  expect(existsSync(join(at.project, name))).toBe(false)
  await server.start()
  const again = await vi.waitFor(async () => {
    const answer = await propose()
    expect(answer.status, answer.text).toBe(200)
    return answer
  }, WAITING)
  expect(again.json.status).toBe('promoted')
  expect(existsSync(join(at.project, name))).toBe(true)
  await at.end()
  expectWhole(at)
})
