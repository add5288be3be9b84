/** A reader of events hears every 15 seconds that its line is alive, without an id (H-3). */
import { afterEach, expect, it, vi } from 'vitest'
import type { Caller } from '../../src/ledger/index.ts'
import { EventHub } from '../../src/server/events.ts'
import { ANN } from '../ledger/entries.ts'
import { LogRig } from '../witness/log-rig.ts'

const rig = new LogRig()

afterEach(() => {
  vi.useRealTimers()
  rig.remove()
})

it('beats while nothing happens, and stops with its last reader', async () => {
  const ledger = await rig.create('beats', 2)
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
  const hub = new EventHub({ home: { id: 'writ/test' }, ledger })
  const caller: Caller = { principal: ANN, streams: null, proof: 'none' }
  const heard: string[] = []
  const sink = { write: (text: string) => heard.push(text) > 0, end: () => undefined }
  const leave = await hub.join(caller, {}, null, sink)
  const pass = async (seconds: number): Promise<void> => {
    for (let at = 0; at < seconds; at++) await vi.advanceTimersByTimeAsync(1_000)
    // The last look reads the ledger in real time.
    await new Promise((resolve) => setTimeout(resolve, 50))
    await vi.advanceTimersByTimeAsync(400)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await pass(14)
  expect(heard).toEqual([])
  await pass(2)
  expect(heard).toEqual([': alive\n\n'])
  await pass(15)
  expect(heard).toEqual([': alive\n\n', ': alive\n\n'])
  leave()
  expect(vi.getTimerCount()).toBe(0)
  await ledger.close()
})
