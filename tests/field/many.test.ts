/** Many devices and tasks over one real broker that is killed meanwhile (D-3). `npm run soak field`: all. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { allFacts } from '../../src/history/index.ts'
import { FieldRig } from './field-rig.ts'

const DEVICES = Number(process.env['WRIT_FIELD_DEVICES'] ?? 20)
const TASKS = Number(process.env['WRIT_FIELD_TASKS'] ?? 200)
const KILLS = 2
const WAIT_MS = 60_000 + TASKS * 400

vi.setConfig({ testTimeout: 2 * WAIT_MS, hookTimeout: 300_000 })

const names = Array.from({ length: DEVICES }, (_, at) => `pump-${at}`)
let rig: FieldRig

beforeAll(async () => {
  rig = await new FieldRig().open(names)
})
afterAll(() => rig.close())

/** Receipts by the word of the dispatcher; the record is counted at the end. */
function received(): number {
  return new Set(
    rig.news.flatMap((one) =>
      one.event === 'recorded' && 'message' in one && one.message === 'REPORTED'
        ? [one.command_id]
        : [],
    ),
  ).size
}

async function count(type: string): Promise<number> {
  return (await allFacts(rig.ledger, { stream: 'main', type })).length
}

describe(`${DEVICES} devices`, () => {
  it('carry every task out once, and every receipt is recorded once', async () => {
    const began = Date.now()
    rig.dispatch([rig.way], 5_000)
    for (const name of names) await rig.device(name)
    const ids: string[] = []
    for (let at = 0; at < TASKS; at += 50) {
      const batch = Array.from({ length: Math.min(50, TASKS - at) }, (_, next) =>
        rig.issue(names[(at + next) % DEVICES] ?? '', WAIT_MS / 1_000),
      )
      ids.push(...(await Promise.all(batch)))
    }
    for (let killed = 0; killed < KILLS; killed++) {
      await pause(Math.min(3_000, TASKS * 5))
      await rig.broker.stop('SIGKILL')
      await rig.broker.start()
    }
    const untilMs = Date.now() + WAIT_MS
    while (received() < TASKS && Date.now() < untilMs) await pause(1_000)
    await pause(1_000)
    expect(await count('ao_act_receipt_v0')).toBe(TASKS)
    expect([...rig.done.values()].every((times) => times === 1)).toBe(true)
    expect(rig.done.size).toBe(TASKS)
    for (const id of ids) {
      const story = await rig.story(id)
      expect(story.filter((event) => event === 'receipt')).toHaveLength(1)
      expect(story.filter((event) => event === 'started')).toHaveLength(1)
      expect(story.filter((event) => event === 'offered')).toHaveLength(1)
      expect(await rig.breach(id)).toBeNull()
    }
    const seconds = (Date.now() - began) / 1_000
    process.stderr.write(`${TASKS} tasks of ${DEVICES} devices in ${seconds.toFixed(0)} s\n`)
  })
})
