/** Schedules: each time begins one run at most, with several loops and after a crash. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { canonicalJson, digestBytes } from '../../src/base/index.ts'
import type { Flow, ScheduleSlot, ScheduleTerms } from '../../src/contracts/index.ts'
import type { FlowHost } from '../../src/runs/flow-host.ts'
import { passTimers } from '../../src/runs/pass-timers.ts'
import { runHeads } from '../../src/runs/run-records.ts'
import { lookAtRun } from '../../src/runs/runs.ts'
import { pinFlow, pinnedFile } from '../../src/schedules/pinned.ts'
import { ScheduleLoop, type ScheduleNews } from '../../src/schedules/schedule-loop.ts'
import {
  readSchedules,
  recordChange,
  recordSlot,
  slotsOf,
} from '../../src/schedules/schedule-records.ts'
import { troublesOf } from '../../src/schedules/trouble.ts'
import { edge, flowOf, goal, worker } from './acceptance/scene.ts'
import { ANN, RunPlace } from './place.ts'
import { compiledFlow, WORKER } from './scripts.ts'

vi.setConfig({ testTimeout: 120_000 })

const NOON = Date.parse('2030-01-07T12:00:00.000Z')
const HOUR = 3_600_000
let place: RunPlace
let nowMs: number
let news: ScheduleNews[]

beforeEach(async () => {
  place = await new RunPlace('schedules').make()
  nowMs = NOON
  news = []
})

afterEach(() => place.remove())

function hostOf(of: RunPlace = place): FlowHost {
  return of.host({ clock: { nowMs: () => nowMs, elapsedMs: () => nowMs } })
}

const QUICK = flowOf([goal('a', 'P1')], [])
const PERSON = flowOf([worker('a', { executor: { human: 'ann' } })], [])

async function setSchedule(flow: Flow, more: Partial<ScheduleTerms> = {}): Promise<void> {
  const path = place.write('flow.json', JSON.stringify(flow))
  await pinFlow(place.ledger, compiledFlow(flow))
  const terms: ScheduleTerms = {
    cron: '0 * * * *',
    zone: 'UTC',
    workspace: place.workspace,
    flow_id: flow.flow_id,
    title: flow.title,
    flow_digest: compiledFlow(flow).digest,
    participants_digest: null,
    files: [pinnedFile('flow', path)],
    missed: 'once',
    overlap: 'skip',
    ...more,
  }
  const at = new Date(nowMs).toISOString()
  await recordChange(hostOf(), { name: 'hourly', change: 'set', at, terms })
}

async function change(to: 'paused' | 'resumed' | 'removed'): Promise<void> {
  await recordChange(hostOf(), { name: 'hourly', change: to, at: new Date(nowMs).toISOString() })
}

async function look(...of: RunPlace[]): Promise<void> {
  const loops = (of.length === 0 ? [place] : of).map(
    (one) => new ScheduleLoop(hostOf(one), { tell: (told) => news.push(told) }),
  )
  await Promise.all(loops.map((loop) => loop.look()))
  await Promise.all(loops.map((loop) => loop.settled()))
}

async function runs(): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { run_id } of runHeads(place.ledger, 'main')) found.push(run_id)
  return found
}

const slots = (): Promise<readonly ScheduleSlot[]> => slotsOf(hostOf(), 'hourly', 50)
const short = ({ slot, kind, why, missed }: ScheduleSlot) => [slot.slice(11, 16), kind, why, missed]

describe('a time', () => {
  it('begins one run of the flow that was pinned; an edit shows and changes nothing', async () => {
    await setSchedule(QUICK)
    await look()
    expect(await runs()).toEqual([])
    place.write('flow.json', '{}')
    nowMs = NOON + HOUR
    await look()
    await look()
    expect((await slots()).map(short)).toEqual([['13:00', 'claimed', undefined, undefined]])
    const [run = ''] = await runs()
    expect((await lookAtRun(hostOf(), run)).status).toBe('DONE')
    const [schedule] = await readSchedules(hostOf())
    if (schedule === undefined) throw new Error('no schedule')
    const told = (await troublesOf(hostOf(), schedule)).map(({ kind, next }) => [kind, next])
    expect(told).toEqual([['edited', ['writ schedule update hourly']]])
  })

  it('begins a run of a flow with a map, which is pinned as it was written', async () => {
    const executor = { human: 'ann' }
    await setSchedule(flowOf([worker('a', { executor, map: { items: ['x', 'y'] } })], []))
    nowMs = NOON + HOUR
    await look()
    expect((await slots()).map(short)).toEqual([['13:00', 'claimed', undefined, undefined]])
    expect(await runs()).toHaveLength(1)
  })

  it('is claimed once by loops of several processes at once', async () => {
    await setSchedule(QUICK)
    const others = await Promise.all(
      [1, 2].map(() => new RunPlace('schedules', place.folder).open()),
    )
    try {
      for (let round = 1; round <= 5; round++) {
        nowMs = NOON + round * HOUR
        await look(place, ...others)
      }
    } finally {
      for (const other of others) await other.close()
    }
    expect(await runs()).toHaveLength(5)
    expect((await slots()).map(({ kind }) => kind)).toEqual(Array(5).fill('claimed'))
  })

  it('whose process died after the claim begins with the run that was claimed, once', async () => {
    await setSchedule(QUICK)
    nowMs = NOON + HOUR
    const run_id = 'run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01'
    const slot = new Date(nowMs).toISOString()
    await recordSlot(hostOf(), { name: 'hourly', slot, at: slot, kind: 'claimed', run_id })
    const other = await new RunPlace('schedules', place.folder).open()
    await look(place, other)
    await other.close()
    await look()
    expect(await runs()).toEqual([run_id])
    expect(await slots()).toHaveLength(1)
  })

  it('that no human set is none', async () => {
    await setSchedule(QUICK)
    await change('removed')
    const terms = { ...(await readTerms()), missed: 'once' as const }
    const payload = { name: 'hourly', change: 'set', at: new Date(nowMs).toISOString(), terms }
    await place.ledger.record({
      stream: 'main',
      source: 'test',
      principal: { kind: 'ai', id: 'bot', namespace: 'local' },
      record: { type: 'schedule_v1', payload },
    })
    nowMs = NOON + HOUR
    await look()
    expect([await readSchedules(hostOf()), await runs()]).toEqual([[], []])
  })
})

async function readTerms(): Promise<ScheduleTerms> {
  const [first] = (
    await place.ledger.store.find({
      stream: 'main',
      type: 'schedule_v1',
      limit: 1,
      order: 'oldest_first',
      cursor: -1,
    })
  ).facts
  return JSON.parse(first?.text ?? '').record.payload.terms
}

describe('missed times', () => {
  it('once: one run begins for all, and says for how many', async () => {
    await setSchedule(QUICK)
    nowMs = NOON + 5 * HOUR + 20 * 60_000
    await look()
    expect((await slots()).map(short)).toEqual([['17:00', 'claimed', undefined, 4]])
    expect(await runs()).toHaveLength(1)
    expect(news).toContainEqual(expect.objectContaining({ kind: 'started', missed: 4 }))
  })

  it('skip: none is run when it is late, and one in time is', async () => {
    await setSchedule(QUICK, { missed: 'skip' })
    nowMs = NOON + 5 * HOUR + 20 * 60_000
    await look()
    expect((await slots()).map(short)).toEqual([['17:00', 'skipped', 'missed', 4]])
    nowMs = NOON + 6 * HOUR + 60_000
    await look()
    expect((await slots()).map(short)[0]).toEqual(['18:00', 'claimed', undefined, undefined])
  })

  it('while paused none begins; after the pause they are missed ones', async () => {
    await setSchedule(QUICK)
    await change('paused')
    nowMs = NOON + 3 * HOUR
    await look()
    expect(await slots()).toEqual([])
    await change('resumed')
    await look()
    expect((await slots()).map(short)).toEqual([['15:00', 'claimed', undefined, 2]])
    await change('removed')
    nowMs = NOON + 4 * HOUR
    await look()
    expect(await runs()).toHaveLength(1)
  })
})

describe('overlap', () => {
  it('skip: a time is skipped while the last run waits for a person', async () => {
    await setSchedule(PERSON)
    for (const hours of [1, 2, 3]) {
      nowMs = NOON + hours * HOUR
      await look()
    }
    expect((await slots()).map(({ kind, why }) => [kind, why])).toEqual([
      ['skipped', 'overlap'],
      ['skipped', 'overlap'],
      ['claimed', undefined],
    ])
    expect(await runs()).toHaveLength(1)
  })

  it('allow: another run begins', async () => {
    await setSchedule(PERSON, { overlap: 'allow' })
    for (const hours of [1, 2]) {
      nowMs = NOON + hours * HOUR
      await look()
    }
    expect(await runs()).toHaveLength(2)
  })
})

describe('a start that is refused', () => {
  it('is a record with its cause; the next time is tried again', async () => {
    await setSchedule(flowOf([worker('a'), goal('b', 'P2')], [edge('a', 'b')]))
    nowMs = NOON + HOUR
    await look()
    expect((await slots())[0]).toMatchObject({ kind: 'failed', code: 'flow.program_missing' })
    await look()
    expect(await slots()).toHaveLength(2)
    const [schedule] = await readSchedules(hostOf())
    if (schedule === undefined) throw new Error('no schedule')
    expect(await troublesOf(hostOf(), schedule)).toEqual([
      expect.objectContaining({ kind: 'failed', code: 'flow.program_missing' }),
    ])
    place.write('a.mjs', WORKER)
    nowMs = NOON + 2 * HOUR
    await look()
    const [run = ''] = await runs()
    expect((await lookAtRun(hostOf(), run)).status).toBe('DONE')
  })

  it('by a halt is none: the time waits', async () => {
    await setSchedule(QUICK)
    nowMs = NOON + HOUR
    const halted = { ...hostOf(), isHalted: async () => true }
    const loop = new ScheduleLoop(halted, { tell: (told) => news.push(told) })
    await loop.look()
    expect([await slots(), news.map(({ kind }) => kind)]).toEqual([[], ['halted']])
    await look()
    expect(await runs()).toHaveLength(1)
  })
})

describe('time that passes while no process walks', () => {
  it('a wait: recorded by a look at the run, gone on with by the loop', async () => {
    const flow = flowOf([goal('a', 'P1'), goal('b', 'P2')], [edge('a', 'b', { after: 1_800 })])
    await setSchedule(flow)
    nowMs = NOON + HOUR
    await look()
    const [run = ''] = await runs()
    expect((await lookAtRun(hostOf(), run)).status).toBe('WAITING')
    expect(await passTimers(hostOf(), run)).toEqual([])
    nowMs += 1_800_000
    await look()
    expect((await lookAtRun(hostOf(), run)).status).toBe('DONE')
    expect(news).toContainEqual(expect.objectContaining({ kind: 'passed', run_id: run }))
  })

  it('a deadline: the person is asked, also when the order of commands comes later', async () => {
    await setSchedule(flowOf([worker('a', { executor: { human: 'ann' }, deadline: 60 })], []))
    nowMs = NOON + HOUR
    await look()
    const [run = ''] = await runs()
    nowMs += 61_000
    const passed = await passTimers(hostOf(), run)
    expect(passed.map(({ kind, node_id }) => [kind, node_id])).toEqual([['deadline', 'a']])
    expect(await passTimers(hostOf(), run)).toEqual([])
    const { waiting, status } = await lookAtRun(hostOf(), run)
    expect([status, waiting.map(({ type }) => type)]).toEqual(['WAITING', ['ask_human']])
  })
})

it('pins what it runs by the digest of its document', async () => {
  await setSchedule(QUICK)
  const [schedule] = await readSchedules(hostOf())
  expect(schedule?.terms.flow_digest).toBe(digestBytes(canonicalJson(QUICK)))
  expect(schedule?.by).toEqual(ANN)
})
