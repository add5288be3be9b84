/** `writ schedule …` as processes: set, seen, refused to actors, killed and gone on with. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { artifact, edge, flowOf, goal, worker } from './acceptance/scene.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 240_000 })

let place: Place

beforeEach(() => {
  place = new Place('schedule').init()
})

afterEach(() => place.remove())

function writ(...words: readonly string[]): Json {
  return place.writ([...words, '--json']).json
}

const QUICK = flowOf([goal('a', 'P1')], [], { title: 'The quick one' })

it('is set, listed with its next time, shown, changed, paused and removed', () => {
  place.write('flow.json', JSON.stringify(QUICK))
  const zone = ['--zone', 'Europe/Berlin']
  const set = writ('schedule', 'add', 'nightly', '30 2 * * *', 'flow.json', ...zone)
  expect(set).toMatchObject({ ok: true, missed: 'once', overlap: 'skip', zone: 'Europe/Berlin' })
  expect(writ('schedule', 'add', 'nightly', '0 3 * * *', 'flow.json').error.code).toBe(
    'schedule.exists',
  )
  const listed = place.writ(['schedule', 'list'])
  expect(listed.out).toContain('The quick one')
  expect(listed.out).toContain(set.next)
  const updated = writ('schedule', 'update', 'nightly', '--cron', '0 4 * * *', '--missed', 'skip')
  expect(updated).toMatchObject({ cron: '0 4 * * *', missed: 'skip', zone: 'Europe/Berlin' })
  writ('schedule', 'pause', 'nightly')
  expect(writ('schedule', 'show', 'nightly')).toMatchObject({ paused: true, next: [], slots: [] })
  writ('schedule', 'resume', 'nightly')
  expect(writ('schedule', 'show', 'nightly').next).toHaveLength(5)
  writ('schedule', 'remove', 'nightly')
  expect(writ('schedule', 'list').schedules).toEqual([])
  const gone = place.writ(['schedule', 'pause', 'nightli'])
  expect([gone.status, gone.err]).toEqual([1, expect.stringContaining('schedule.unknown')])
})

it('refuses wrong times, zones, policies and flows, and keeps nothing of them', () => {
  place.write('flow.json', JSON.stringify(QUICK))
  place.write('wrong.json', JSON.stringify({ ...QUICK, edges: [edge('a', 'x')] }))
  const code = (...words: readonly string[]): unknown =>
    writ('schedule', 'add', ...words).error?.code
  expect(code('x', '* * * *', 'flow.json')).toBe('schedule.cron')
  expect(code('x', '0 0 * * *', 'flow.json', '--zone', 'Mars/X')).toBe('schedule.zone')
  expect(code('x', '0 0 * * *', 'flow.json', '--missed', 'all')).toBe('cli.usage')
  expect(code('a/b', '0 0 * * *', 'flow.json')).toBe('cli.usage')
  expect(place.writ(['schedule', 'add', 'x', '0 0 * * *', 'wrong.json']).status).toBe(1)
  place.write('empty.json', JSON.stringify({ ...QUICK, nodes: [] }))
  expect(writ('schedule', 'add', 'x', '0 0 * * *', 'empty.json').violations[0].code).toBe(
    'flow.empty',
  )
  expect(writ('schedule', 'list').schedules).toEqual([])
})

it('list, inbox and doctor show an edited file; an update pins it again', () => {
  place.write('flow.json', JSON.stringify(QUICK))
  writ('schedule', 'add', 'nightly', '30 2 * * *', 'flow.json')
  expect(place.writ(['inbox']).out).toContain('nothing waits')
  place.write('flow.json', JSON.stringify({ ...QUICK, title: 'Another' }))
  for (const words of [['schedule', 'list'], ['inbox'], ['doctor']]) {
    const { out } = place.writ(words)
    expect(out).toContain('flow.json` was edited or moved')
    expect(out).toContain('writ schedule update nightly')
  }
  expect(writ('inbox').schedules).toMatchObject([{ name: 'nightly', kind: 'edited' }])
  writ('schedule', 'update', 'nightly')
  expect(place.writ(['inbox']).out).toContain('nothing waits')
})

it('a loop that is killed while its run works is followed by one that goes on with it', async () => {
  const until = join(place.project, 'go')
  place.write(
    'a.mjs',
    script(`
const end = Date.now() + 60000
while (!existsSync(${JSON.stringify(until)}) && Date.now() < end) await new Promise((done) => setTimeout(done, 100))
${TOOL}${artifact("'made'")}`),
  )
  const flow = flowOf([worker('a'), goal('b', 'P2')], [edge('a', 'b')])
  place.write('flow.json', JSON.stringify(flow))
  writ('schedule', 'add', 'each', '* * * * *', 'flow.json')
  const loop = place.start(['schedule', 'run', '--jsonl'])
  const [first] = await firstLine(loop)
  expect(first).toMatchObject({ kind: 'started', name: 'each' })
  for (let tries = 0; writ('flow', 'status', first.run_id).status !== 'RUNNING'; tries++) {
    expect(tries).toBeLessThan(50)
    await pause(100)
  }
  loop.kill('SIGKILL')
  await new Promise((done) => loop.once('exit', done))
  // Its next times are none of this test.
  writ('schedule', 'pause', 'each')
  place.write('go', '')
  expect(existsSync(until)).toBe(true)
  const lines = place
    .writ(['schedule', 'run', '--once', '--jsonl'])
    .out.trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([
    { kind: 'resumed', name: 'each', run_id: first.run_id },
    { kind: 'ended', run_id: first.run_id, status: 'DONE' },
  ])
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, differences: [] })
  expect(writ('flow', 'status').runs).toHaveLength(1)
})

it('status, inbox and resume record a deadline that passed meanwhile, and say so', async () => {
  const asked = worker('a', { title: 'Judge it', executor: { human: 'ann' }, deadline: 1 })
  place.write('flow.json', JSON.stringify(flowOf([asked], [])))
  for (const look of [['flow', 'status'], ['inbox'], ['flow', 'resume']]) {
    const { run_id, stops } = writ('flow', 'run', 'flow.json')
    expect(stops[0].kind).toBe('participant')
    await pause(1_200)
    const words = look[0] === 'inbox' ? look : [...look, run_id]
    expect(place.writ(words).err).toContain('the deadline of Judge it passed at')
    const later = writ('flow', 'status', run_id)
    expect(later.stops[0]).toMatchObject({ kind: 'decision' })
    expect(later.findings.map(({ code }: Json) => code)).toContain('flow.deadline')
    writ('flow', 'cancel', run_id)
    writ('flow', 'resume', run_id)
  }
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, differences: [] })
})

async function firstLine(child: ReturnType<Place['start']>): Promise<readonly Json[]> {
  let text = ''
  for await (const part of child.stdout ?? []) {
    text += String(part)
    if (text.includes('\n')) break
  }
  return text
    .split('\n')
    .slice(0, 1)
    .map((line) => JSON.parse(line))
}
