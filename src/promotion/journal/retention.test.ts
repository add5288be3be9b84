/** Which pre-images may go: by age, then by room, the newest never for room. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { droppable, type Kept } from './retention.ts'

const RULE = { periodMs: 1000, quotaBytes: 100 }

function kept(...rows: readonly (readonly [id: string, at: number, bytes: number])[]): Kept[] {
  return rows.map(([actionId, promotedAtMs, bytes]) => ({ actionId, promotedAtMs, bytes }))
}

describe('droppable', () => {
  it.each([
    ['nothing', kept(), 0, []],
    ['what fits and is young stays', kept(['a', 0, 50], ['b', 1, 50]), 10, []],
    ['what is old goes', kept(['a', 0, 1], ['b', 500, 1]), 1000, ['a period']],
    ['the oldest goes for room', kept(['a', 0, 60], ['b', 1, 60]), 10, ['a quota']],
    ['the newest stays, however large', kept(['a', 0, 5000]), 10, []],
    ['what is old goes, also when it is the newest', kept(['a', 0, 1]), 1000, ['a period']],
    [
      'a small one behind a large one stays when it fits',
      kept(['a', 0, 10], ['b', 1, 95], ['c', 2, 80]),
      10,
      ['b quota'],
    ],
  ] as const)('%s', (_, list, nowMs, want) => {
    const found = droppable(list, RULE, nowMs)
    expect(found.map(({ actionId, because }) => `${actionId} ${because}`)).toEqual(want)
  })

  it('leaves what no human approved to its time, and lets it take no room of others', () => {
    const person = { actionId: 'person', promotedAtMs: 0, bytes: 90 }
    const agent = { actionId: 'agent', promotedAtMs: 1, bytes: 5000, isUnapproved: true }
    const newest = { actionId: 'newest', promotedAtMs: 2, bytes: 10 }
    expect(droppable([person, agent, newest], RULE, 10)).toEqual([])
    expect(droppable([agent], RULE, 1001)).toMatchObject([{ actionId: 'agent', because: 'period' }])
  })

  it('leaves no more than the quota, but for the newest', () => {
    const row = fc.record({
      actionId: fc.uuid(),
      promotedAtMs: fc.nat(2000),
      bytes: fc.nat(150),
    })
    fc.assert(
      fc.property(fc.array(row), (list) => {
        const dropped = new Set(droppable(list, RULE, 2000).map(({ actionId }) => actionId))
        const stay = list.filter(({ actionId }) => !dropped.has(actionId))
        const newest = Math.max(...stay.map(({ promotedAtMs }) => promotedAtMs))
        const others = stay.filter(({ promotedAtMs }) => promotedAtMs < newest)
        const bytes = others.reduce((sum, each) => sum + each.bytes, 0)
        expect(bytes).toBeLessThanOrEqual(RULE.quotaBytes)
        expect(stay.every(({ promotedAtMs }) => 2000 - promotedAtMs < RULE.periodMs)).toBe(true)
      }),
    )
  })
})
