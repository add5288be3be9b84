/** The way of a task to its device as a fold over facts, and the rules of its steps (D-1). */
import { describe, expect, it } from 'vitest'
import { digestDocument } from '../../base/index.ts'
import type { ActTask, DispatchFact } from '../../contracts/index.ts'
import type { Principal } from '../facts/fact.ts'
import type { OpenedFact } from './act-evidence.ts'
import {
  deviceOfTask,
  dispatchBreach,
  dispatchView,
  foldDispatch,
  parseDevice,
  phaseAt,
} from './dispatch.ts'

const ANN: Principal = { kind: 'human', id: 'ann', namespace: 'farm' }
const PUMP: Principal = { kind: 'device', id: 'pump-1', namespace: 'farm' }
const OTHER: Principal = { kind: 'device', id: 'pump-2', namespace: 'farm' }
const START = Date.parse('2026-11-18T08:00:00Z')
const LEASE = 'a'.repeat(32)

const task = {
  type: 'ao_act_task_v0',
  act_task_id: 'act-1',
  issuer: ANN,
  time_window: { start_ts: START, end_ts: START + 3_600_000 },
  meta: { device_id: 'pump-1' },
  // The rules read these parts of a task alone.
} as unknown as ActTask

function at(seconds: number): string {
  return new Date(START + seconds * 1_000).toISOString()
}

type Step = readonly [Principal, Omit<DispatchFact, 'act_task_id' | 'step'>]

function facts(...steps: readonly Step[]): readonly OpenedFact[] {
  const records = [
    [ANN, 'ao_act_task_v0', task],
    ...steps.map(
      ([by, words], step) => [by, 'dispatch_v1', { ...words, act_task_id: 'act-1', step }] as const,
    ),
  ] as const
  return records.map(([principal, type, payload], seq) => ({
    seq,
    fact_id: `fact-${seq}`,
    occurred_at: at(0),
    source: 'test',
    stream: 'main',
    principal,
    record: { type, payload },
    payload,
  }))
}

const device = { id: 'pump-1', namespace: 'farm' }
const offer = { device, way: 'http', nonce: '0'.repeat(32), digest: digestDocument(task) }
const OFFERED: Step = [ANN, { event: 'offered', at: at(1), ...offer }]
const CLAIMED: Step = [PUMP, { event: 'claimed', at: at(2), lease: LEASE, lease_until: at(62) }]
const STARTED: Step = [PUMP, { event: 'started', at: at(3), lease: LEASE, due_at: at(3_660) }]

function breach(...steps: readonly Step[]) {
  return dispatchBreach(facts(...steps), () => [])
}

describe('the device of a task', () => {
  it('is in the namespace of its issuer unless it names another', () => {
    expect(deviceOfTask(task)).toEqual(device)
    const named = { ...task, meta: { device_id: 'x@south' } }
    expect(deviceOfTask(named)).toEqual({ id: 'x', namespace: 'south' })
    for (const text of ['', 'a/b', 'a@b@c', '#', 'a b', '@farm', `${'a'.repeat(65)}@farm`])
      expect(parseDevice(text, 'farm'), text).toBeNull()
    expect(deviceOfTask({ ...task, meta: {} })).toBeNull()
  })
})

describe('the steps of a task', () => {
  it('lead from the offer to the end', () => {
    expect(breach(OFFERED, CLAIMED, STARTED, [ANN, { event: 'unknown', at: at(3_660) }])).toBeNull()
    expect(breach(OFFERED, CLAIMED, [ANN, { event: 'silent', at: at(3_600) }])).toBeNull()
    expect(breach([ANN, { event: 'withdrawn', at: at(-5) }])).toBeNull()
    expect(breach([ANN, { event: 'silent', at: at(3_600) }])).toBeNull()
  })

  const withdrawn: Step = [ANN, { event: 'withdrawn', at: at(2) }]
  const proof = { key: `${'A'.repeat(43)}=`, sig: `${'A'.repeat(86)}==` }
  it.each<[string, readonly Step[]]>([
    ['an offer before the window', [[ANN, { ...OFFERED[1], at: at(-1) }]]],
    ['an offer after the window', [[ANN, { ...OFFERED[1], at: at(3_600) }]]],
    ['a second offer', [OFFERED, [ANN, { ...OFFERED[1], at: at(2) }]]],
    [
      'an offer to another device',
      [[ANN, { ...OFFERED[1], device: { id: 'pump-2', namespace: 'farm' } }]],
    ],
    ['an offer of a changed task', [[ANN, { ...OFFERED[1], digest: digestDocument(1) }]]],
    ['a claim without an offer', [CLAIMED]],
    ['a claim of another device', [OFFERED, [OTHER, CLAIMED[1]]]],
    ['a claim while a lease is alive', [OFFERED, CLAIMED, [PUMP, { ...CLAIMED[1], at: at(3) }]]],
    [
      'a claim under a lease that has ended',
      [OFFERED, CLAIMED, [PUMP, { ...CLAIMED[1], at: at(70), lease_until: at(80) }]],
    ],
    ['a lease beyond the window', [OFFERED, [PUMP, { ...CLAIMED[1], lease_until: at(3_601) }]]],
    ['a claim after a withdrawal', [OFFERED, withdrawn, [PUMP, { ...CLAIMED[1], at: at(3) }]]],
    ['a start without a claim', [OFFERED, STARTED]],
    ['a start under another lease', [OFFERED, CLAIMED, [PUMP, { ...STARTED[1], lease: 'b' }]]],
    ['a start after its lease', [OFFERED, CLAIMED, [PUMP, { ...STARTED[1], at: at(62) }]]],
    ['a second start', [OFFERED, CLAIMED, STARTED, [PUMP, { ...STARTED[1], at: at(4) }]]],
    ['a withdrawal by a device', [[PUMP, { event: 'withdrawn', at: at(1) }]]],
    ['a withdrawal after the start', [OFFERED, CLAIMED, STARTED, withdrawn]],
    ['silence before the end', [OFFERED, [ANN, { event: 'silent', at: at(3_599) }]]],
    [
      'unknown before a receipt is due',
      [OFFERED, CLAIMED, STARTED, [ANN, { event: 'unknown', at: at(3_659) }]],
    ],
    [
      'silence after a start',
      [OFFERED, CLAIMED, STARTED, [ANN, { event: 'silent', at: at(3_660) }]],
    ],
    ['a key that the device never had', [OFFERED, [PUMP, { ...CLAIMED[1], proof }]]],
    [
      'an answer without its receipt',
      [OFFERED, [PUMP, { event: 'answered', at: at(5), digest: digestDocument(1), proof }]],
    ],
  ])('refuses a step that does not follow: %s', (_what, steps) => {
    expect(breach(...steps)).toMatchObject({ seq: steps.length })
  })

  it('tell where the task is at a moment', () => {
    const phase = (seconds: number, ...steps: readonly Step[]) =>
      phaseAt(foldDispatch(facts(...steps)), task, START + seconds * 1_000)
    expect(phase(-1)).toBe('waiting')
    expect(phase(0)).toBe('due')
    expect(phase(2, OFFERED)).toBe('offered')
    expect(phase(61, OFFERED, CLAIMED)).toBe('claimed')
    expect(phase(62, OFFERED, CLAIMED)).toBe('offered')
    expect(phase(3_600, OFFERED, CLAIMED)).toBe('overdue')
    expect(phase(3_659, OFFERED, CLAIMED, STARTED)).toBe('started')
    expect(phase(3_660, OFFERED, CLAIMED, STARTED)).toBe('overdue')
    // What no human recorded withdraws nothing.
    expect(phase(2, OFFERED, [PUMP, { event: 'withdrawn', at: at(2) }])).toBe('offered')
    expect(dispatchView(facts(OFFERED, CLAIMED), START + 3_000)).toMatchObject({
      state: 'claimed',
      device: 'pump-1@farm',
      way: 'http',
      lease_until: at(62),
      late: false,
    })
  })
})
