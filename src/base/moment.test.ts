/** Moments: which texts are one, and which millisecond they mean. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isIsoMoment, parseIsoMomentMs } from './moment.ts'

describe('parseIsoMomentMs', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T00:00Z', 0],
    ['1970-01-01T00:00:00.001Z', 1],
    ['1970-01-01T00:00:00.570Z', 570],
    ['1970-01-01T00:00:00,5Z', 500],
    ['1970-01-01T00:00:00.999999999Z', 999],
    ['1970-01-01T01:00:00+01:00', 0],
    ['1970-01-01T01:30:00+0130', 0],
    ['1969-12-31T22:00:00-02', 0],
    ['2024-02-29T12:00:00Z', Date.UTC(2024, 1, 29, 12)],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['2016-12-31T23:59:60.000Z', Date.UTC(2017, 0, 1)],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000],
    ['0099-12-31T00:00:00Z', Date.parse('0099-12-31T00:00:00Z')],
  ])('%s is %d', (text, want) => {
    expect(parseIsoMomentMs(text)).toBe(want)
  })

  it.each([
    ['2023-02-29T00:00:00Z'],
    ['1900-02-29T00:00:00Z'],
    ['2024-00-01T00:00:00Z'],
    ['2024-13-01T00:00:00Z'],
    ['2024-04-31T00:00:00Z'],
    ['2024-01-00T00:00:00Z'],
    ['2024-01-01T24:00:00Z'],
    ['2024-01-01T24:00:00.000Z'],
    ['2023-02-29T00:00:00.000Z'],
    ['2024-04-31T00:00:00.000Z'],
    ['2024-13-01T00:00:00.000Z'],
    ['2024-01-00T00:00:00.000Z'],
    ['2024-01-01T00:60:00Z'],
    ['2024-01-01T00:00:61Z'],
    ['2024-01-01T00:00:00'],
    ['2024-01-01'],
    ['2024-01-01 00:00:00Z'],
    ['2024-01-01T00:00:00z'],
    ['2024-01-01T00:00:00.Z'],
    ['2024-01-01T00:00:00.1234567890Z'],
    ['2024-01-01T00:00:00+24:00'],
    ['2024-01-01T00:00:00+01:60'],
    ['24-01-01T00:00:00Z'],
    ['2024-01-01T00:00:00Z\n'],
    [''],
  ])('%j is none', (text) => {
    expect(isIsoMoment(text)).toBe(false)
  })

  it('reads back what the platform writes', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(date, (moment) => {
        expect(parseIsoMomentMs(moment.toISOString())).toBe(moment.getTime())
      }),
    )
  })
})
