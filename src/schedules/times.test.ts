/** Times of schedules: zones, clock changes, what is missed, what is refused. */
import { describe, expect, it } from 'vitest'
import { faultCode } from '../base/index.ts'
import { checkTiming, dueSlot, nextTimes } from './times.ts'

const BERLIN = 'Europe/Berlin'
const at = (text: string): number => Date.parse(text)

function times(cron: string, zone: string, after: string, count: number): readonly string[] {
  return nextTimes({ cron, zone }, at(after), count).map((ms) =>
    new Date(ms).toISOString().slice(0, 16),
  )
}

describe('clock changes', () => {
  it('forward: a time that does not exist is the first moment after the gap, once', () => {
    expect(times('30 2 * * *', BERLIN, '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ])
    expect(times('15 * * * *', BERLIN, '2026-03-29T00:00Z', 3)).toEqual([
      '2026-03-29T00:15',
      '2026-03-29T01:15',
      '2026-03-29T02:15',
    ])
  })

  it('back: a fixed time comes once, a repeated one in both hours', () => {
    expect(times('30 2 * * *', BERLIN, '2026-10-24T00:00Z', 3)).toEqual([
      '2026-10-24T00:30',
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
    const halves = times('*/30 * * * *', BERLIN, '2026-10-24T23:50Z', 6)
    expect(halves).toEqual([0, 1, 2].flatMap((h) => [`2026-10-25T0${h}:00`, `2026-10-25T0${h}:30`]))
  })

  it('half an hour, on Lord Howe Island', () => {
    expect(times('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T00:00Z', 3)).toEqual([
      '2026-10-02T15:45',
      '2026-10-03T15:30',
      '2026-10-04T15:15',
    ])
  })

  it('the newest time that has come is found on both sides of a change', () => {
    for (const day of ['2026-03-29', '2026-10-25']) {
      for (const cron of ['30 2 * * *', '*/30 * * * *', '0 1-3 * * *']) {
        const since = at(`${day}T00:00Z`) - 86_400_000
        const all = nextTimes({ cron, zone: BERLIN }, since, 200)
        for (let now = since; now < since + 2 * 86_400_000; now += 97 * 60_000) {
          const past = all.filter((ms) => ms <= now)
          const due = dueSlot({ cron, zone: BERLIN }, since, now)
          expect(due?.slotMs ?? null).toBe(past.at(-1) ?? null)
          if (due !== null) expect(due.missed).toBe(past.length - 1)
        }
      }
    }
  })
})

describe('what is due', () => {
  it('after a year of a schedule of each minute: the newest, and a bounded count', () => {
    const now = at('2027-01-01T00:00:30Z')
    const due = dueSlot({ cron: '* * * * *', zone: 'UTC' }, at('2026-01-01T00:00Z'), now)
    expect(due).toEqual({ slotMs: at('2027-01-01T00:00Z'), missed: 1_000 })
  })

  it('a rare time far back', () => {
    const due = dueSlot({ cron: '0 0 29 2 *', zone: 'UTC' }, at('2020-01-01'), at('2026-01-01'))
    expect(due).toEqual({ slotMs: at('2024-02-29'), missed: 1 })
  })

  it('none before its time', () => {
    expect(
      dueSlot({ cron: '0 6 * * *', zone: 'UTC' }, at('2026-01-01T06:00Z'), at('2026-01-02T05:59Z')),
    ).toBe(null)
  })
})

describe('refused', () => {
  const codeOf = (cron: string, zone = 'UTC'): string | null => {
    try {
      checkTiming({ cron, zone }, at('2026-01-01'))
      return null
    } catch (error) {
      return faultCode(error)
    }
  }

  it.each([
    '',
    '* * * *',
    '0 0 0 * * *',
    '@daily',
    '61 * * * *',
    '? * * * *',
    '0 0 31 2 *',
    'x * * * *',
  ])('%s', (cron) => expect(codeOf(cron)).toBe('schedule.cron'))

  it('a zone that does not exist', () =>
    expect(codeOf('0 0 * * *', 'Mars/X')).toBe('schedule.zone'))

  it('not names of days and months', () => expect(codeOf('0 0 * JAN-MAR MON')).toBe(null))
})
