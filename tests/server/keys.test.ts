/** Idempotency keys on a ledger (H-3): whose they are, how long they hold, and two requests at once. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Caller } from '../../src/ledger/index.ts'
import { RequestKeys } from '../../src/server/idempotency.ts'
import type { Ledger } from '../../src/store/index.ts'
import { ANN, BOB } from '../ledger/entries.ts'
import { LogRig } from '../witness/log-rig.ts'

const HOUR_MS = 3_600_000
const rig = new LogRig()
let ledger: Ledger
let keys: RequestKeys
let done: string[] = []

beforeAll(async () => {
  ledger = await rig.create('keys', 1)
})

afterAll(async () => {
  await ledger.close()
  rig.remove()
})

beforeEach(() => {
  keys = new RequestKeys({ home: { id: 'writ/test', state: rig.path('state') }, ledger })
  done = []
})

function requestOf(key: string, principal: Caller['principal'] = ANN, body: object = {}) {
  const caller: Caller = { principal, streams: null, proof: 'none' }
  return { caller, streams: ['main'], method: 'POST', path: '/v1/x', key, query: {}, body }
}

/** A request that is answered whole: what it did is kept with its answer. */
function ask(request: ReturnType<typeof requestOf>): Promise<unknown> {
  return keys.onceWhole(request, { name: 'x', isKept: true }, async () => {
    done.push(request.key)
    return { value: done.length }
  })
}

it('answer the same request again, and no other one', async () => {
  const first = await ask(requestOf('same'))
  expect(await ask(requestOf('same'))).toEqual(first)
  const other = ask(requestOf('same', ANN, { more: 1 }))
  await expect(other).rejects.toMatchObject({ fault: { code: 'api.key_reused' } })
  expect(done).toEqual(['same'])
})

it('are of one principal each', async () => {
  await ask(requestOf('shared'))
  await ask(requestOf('shared', BOB))
  expect(done).toEqual(['shared', 'shared'])
})

it('refuse a second request while the first is under way', async () => {
  let end = (): void => undefined
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  const [first, second] = [requestOf('slow'), requestOf('slow')]
  const answer = keys.once(
    first,
    () => held,
    async () => undefined,
  )
  await turn()
  const early = ask(second)
  await expect(early).rejects.toMatchObject({ fault: { code: 'api.in_progress' } })
  end()
  await answer
  expect(done).toEqual([])
})

it('hold for a day', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const began = Date.now()
    await ask(requestOf('daily'))
    vi.setSystemTime(began + 23 * HOUR_MS)
    await ask(requestOf('daily'))
    expect(done).toEqual(['daily'])
    vi.setSystemTime(began + 25 * HOUR_MS)
    // The writer of the ledger has the time of the machine: what is recorded now is of yesterday here.
    await ask(requestOf('daily'))
    expect(done).toEqual(['daily', 'daily'])
  } finally {
    vi.useRealTimers()
  }
})
