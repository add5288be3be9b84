/** Replay: three answers, and what each does to the whole. */
import { describe, expect, it } from 'vitest'
import { compareReplay, ReplayReport } from './replay.ts'

const at = (seq: number) => ({ stream: 'main', seq })

describe('replay', () => {
  it('compares by value, not by the order of keys', () => {
    expect(compareReplay({ a: 1, b: [2] }, { b: [2], a: 1 })).toEqual({ kind: 'equal' })
    expect(compareReplay([1], [2])).toEqual({ kind: 'different', recorded: [1], computed: [2] })
  })

  it('is ok only without differences; what was not replayed is neither', () => {
    const report = new ReplayReport()
    report.add(at(0), { kind: 'equal' })
    report.add(at(1), { kind: 'unreplayable', reason: 'gone' })
    report.add(at(2), { kind: 'engine_changed', recorded: 'k/0', known: 'k/1' })
    expect(report.finish()).toEqual({
      ok: true,
      checked: 1,
      differences: [],
      missing: [],
      not_replayed: [
        { ...at(1), code: 'replay.unreplayable', message: 'gone' },
        { ...at(2), code: 'replay.engine_changed', message: 'recorded by k/0, this is k/1' },
      ],
    })
    report.add(at(3), { kind: 'different', recorded: 'ALLOW', computed: 'DENY' })
    expect(report.finish()).toMatchObject({
      ok: false,
      checked: 2,
      differences: [{ seq: 3, recorded: 'ALLOW', computed: 'DENY' }],
    })
  })
})
