/** Events across a restart of the service, and the filters of their readers (H-3). */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { chain } from '../flow-run/scripts.ts'
import { ServicePlace } from './service-place.ts'

vi.setConfig({ testTimeout: 240_000 })

const place = new ServicePlace('events')
let bot = ''
let home = ''

beforeAll(async () => {
  bot = place.tokenOf('ai:bot@local')
  home = place.writ(['home', 'list', '--json']).json.homes[0].id
  await place.serve()
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
})

/** A reader as browsers have them: remembers the last id, and comes back with it. */
class EventReader {
  readonly seen: Json[] = []
  last: string
  #stop = new AbortController()

  constructor(last: string) {
    this.last = last
  }

  /** Reads until the line ends, by whichever side. */
  async read(query = ''): Promise<void> {
    this.#stop = new AbortController()
    const headers = { authorization: `Bearer ${bot}`, 'last-event-id': this.last }
    let text = ''
    try {
      const url = `${place.url}/v1/events${query}`
      const answer = await fetch(url, { headers, signal: this.#stop.signal })
      expect(answer.status).toBe(200)
      for await (const chunk of answer.body ?? []) {
        const parts = `${text}${Buffer.from(chunk)}`.split('\n\n')
        text = parts.pop() ?? ''
        for (const part of parts) this.#take(part)
      }
    } catch (error) {
      if (error instanceof Error && error.name === 'AssertionError') throw error
    }
  }

  leave(): void {
    this.#stop.abort()
  }

  /** Waits for so many events, then leaves. */
  async readUntil(count: number, query: string): Promise<readonly Json[]> {
    const reading = this.read(query)
    await expect.poll(() => this.seen.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)
    await pause(500)
    this.leave()
    await reading
    return this.seen
  }

  #take(part: string): void {
    const [, id] = /^id: (.*)$/m.exec(part) ?? []
    const [, data] = /^data: (.*)$/m.exec(part) ?? []
    if (id === undefined || data === undefined) return
    this.last = id
    this.seen.push(JSON.parse(data))
  }
}

async function propose(name: string): Promise<string> {
  const body = place.proposal(name)
  const headers = {
    authorization: `Bearer ${bot}`,
    'content-type': 'application/json',
    prefer: 'wait=60',
  }
  const request = { method: 'POST', path: '/v1/actions', headers, body: JSON.stringify(body) }
  const { json, text } = await place.raw(request)
  expect(json.status, text).toBe('promoted')
  return body.descriptor.action_id
}

function sizeOfMain(): number {
  const { facts } = place.writ(['log', '--json', '--limit', '1000']).json
  return facts.filter(({ stream }: Json) => stream === 'main').length
}

it('go on after the service was stopped and after it was killed', async () => {
  const reader = new EventReader(home)
  for (const [round, signal] of (['SIGTERM', 'SIGKILL', 'SIGTERM'] as const).entries()) {
    const reading = reader.read()
    await propose(`round-${round}.txt`)
    // Some of the facts have come, perhaps not all.
    await pause(round * 150)
    await place.end(signal)
    await reading
    await place.serve()
  }
  const size = sizeOfMain()
  const seen = await reader.readUntil(size, '')
  expect(seen.map(({ seq }) => seq)).toEqual([...Array(size).keys()])
})

it('are those of the type, the run or the session that the reader names', async () => {
  const file = place.write('one.flow.json', JSON.stringify(chain(2)))
  const started = place.writ(['flow', 'run', file, '--json'])
  const all = await new EventReader(home).readUntil(sizeOfMain(), '')
  const runs = new Set(all.map(({ record }) => record.payload?.run_id).filter(Boolean))
  expect(runs.size, `${started.out}${started.err}`).toBeGreaterThan(0)
  const [run] = runs
  const ofRun = all.filter(({ record }) => record.payload?.run_id === run)
  const ofType = all.filter(({ record }) => record.type === 'promotion_v1')
  const read = async (query: string, wanted: readonly Json[]) => {
    const seen = await new EventReader(home).readUntil(wanted.length, query)
    expect(seen.map(({ seq }) => seq)).toEqual(wanted.map(({ seq }) => seq))
  }
  await read(`?run=${run}`, ofRun)
  await read('?type=promotion_v1', ofType)
  await session()
  const now = await new EventReader(home).readUntil(sizeOfMain(), '')
  const [{ record }] = now.filter((fact) => fact.record.type === 'session_v1') as [Json]
  const { session_id: id } = record.payload
  const ofSession = now.filter(({ record: { payload } }) =>
    [payload?.session_id, payload?.session?.session_id].includes(id),
  )
  expect(new Set(ofSession.map(({ record: { type } }) => type)).size).toBeGreaterThan(1)
  await read(`?session=${id}`, ofSession)
  const other = new EventReader(home)
  const reading = other.read('?session=another')
  await pause(1_500)
  other.leave()
  await reading
  expect(other.seen).toEqual([])
})

/** A session of a plain program that makes a file; it may end with a question. */
async function session(): Promise<void> {
  const child = place.start(['run', '--', 'sh', '-c', 'echo x > of-session.txt'])
  child.stdin?.end()
  await new Promise((resolve) => child.once('exit', resolve))
}
