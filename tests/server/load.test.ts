/**
 * Many at once (H-8): proposals that are all decided while the memory of the service stays bounded, and
 * readers of events that cost little. `WRIT_SERVICE_PROPOSALS` and `WRIT_SERVICE_READERS` make the soak
 * out of the slice.
 */
import { readFileSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ServiceLoad } from './service-load.ts'
import { ServicePlace } from './service-place.ts'

const PROPOSALS = Number(process.env['WRIT_SERVICE_PROPOSALS'] ?? 24)
const READERS = Number(process.env['WRIT_SERVICE_READERS'] ?? 1_000)
const MEGABYTE = 1 << 20
/** A caller has 400 requests at once, and gets 100 a second. */
const READERS_EACH = 250
/** What a service of 200 proposals at once may grow by, and one of 1,000 readers. */
const GROWN_MAX = 256 * MEGABYTE
const READERS_MAX = 100 * MEGABYTE

vi.setConfig({ testTimeout: 120_000 + PROPOSALS * 10_000, hookTimeout: 240_000 })

let place: ServicePlace

beforeEach(() => {
  place = new ServicePlace('load')
})

afterEach(async () => {
  await place.end()
  place.remove()
})

/** Bytes of the service that are in memory, now or at their highest (`VmHWM`). */
function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${place.service?.pid}/status`, 'utf8')
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status) ?? []
  expect(Number(kilobytes)).toBeGreaterThan(0)
  return Number(kilobytes) * 1_024
}

it(`${PROPOSALS} proposals at once are all decided, in bounded memory`, async () => {
  const load = new ServiceLoad(place, place.tokenOf('ai:bot@local'))
  await place.serve()
  // What the first ones need for good is not what many need.
  await load.propose(2)
  await load.settle()
  const before = memory('VmRSS')
  await load.propose(PROPOSALS)
  await load.settle()
  const grown = memory('VmHWM') - before
  const { acknowledged, promoted, undecided } = load
  process.stdout.write(`${promoted} promoted, memory grew by ${Math.round(grown / MEGABYTE)} MB\n`)
  expect([acknowledged, promoted, undecided]).toEqual([PROPOSALS + 2, PROPOSALS + 2, 0])
  expect(grown).toBeLessThan(GROWN_MAX)
  await place.end()
  expect(place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true, problems: [] })
})

it(`kill -9 with ${PROPOSALS} proposals under way loses and doubles none`, async () => {
  const load = new ServiceLoad(place, place.tokenOf('ai:bot@local'))
  await place.serve()
  const answered = load.propose(PROPOSALS)
  // Some are decided, some run, most wait in line.
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(2), { timeout: 60_000 })
  await place.end('SIGKILL')
  await place.serve()
  await answered
  const { acknowledged } = load
  expect(acknowledged).toBeLessThan(PROPOSALS)
  await load.settle()
  process.stdout.write(
    `${acknowledged} acknowledged before, ${load.promoted} promoted, ${load.undecided} proposed again\n`,
  )
  expect(load.promoted + load.undecided).toBe(PROPOSALS)
  await place.end()
  expect(place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true, problems: [] })
  expect(place.writ(['replay']).status).toBe(0)
})

/** A reader that is answered, and how many facts it got. */
interface Reader {
  readonly sent: ClientRequest
  facts: number
}

function read(token: string): Promise<Reader> {
  const headers = { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const sent = request(`${place.url}/v1/events?type=promotion_v1`, { agent: false, headers })
    sent.on('error', reject)
    sent.on('response', (answer: IncomingMessage) => {
      if (answer.statusCode !== 200) return reject(new Error(`answered ${answer.statusCode}`))
      const reader: Reader = { sent, facts: 0 }
      answer.on('data', (chunk) => {
        reader.facts += String(chunk).split('event: promotion_v1').length - 1
      })
      // It is torn down at the end.
      answer.on('error', () => undefined)
      resolve(reader)
    })
    sent.end()
  })
}

it(`${READERS} readers of events cost less than 100 MB, and each hears of a fact`, async () => {
  const callers = Math.ceil(READERS / READERS_EACH)
  const tokens = Array.from({ length: callers }, (_, at) =>
    place.tokenOf(`script:reader-${at}@local`),
  )
  const load = new ServiceLoad(place, place.tokenOf('ai:bot@local'))
  await place.serve()
  await load.propose(1)
  await load.settle()
  const before = memory('VmRSS')
  const readers = await Promise.all(
    Array.from({ length: READERS }, (_, at) => read(tokens[at % callers] ?? '')),
  )
  const used = memory('VmRSS') - before
  process.stdout.write(`${READERS} readers use ${(used / MEGABYTE).toFixed(1)} MB\n`)
  expect(used).toBeLessThan(READERS_MAX)
  await load.propose(1)
  await vi.waitFor(() => expect(readers.every(({ facts }) => facts === 1)).toBe(true), {
    timeout: 60_000,
  })
  for (const { sent } of readers) sent.destroy()
  await load.settle()
})
