/** What the first process reports, and what of it is believed. */
import { describe, expect, it } from 'vitest'
import { isMalformed, lastReport } from './command-end.ts'

describe('a report of the first process', () => {
  it('says how the command ended and whether it is alone', () => {
    expect(lastReport('X0 1')).toEqual({ status: 0, isAlone: true })
    expect(lastReport('X143')).toEqual({ status: 143, isAlone: false })
    expect(lastReport('0m0.1s 0m0.2s')).toBeNull()
  })

  it.each(['Xabc', 'X-1 1', 'X256', 'X0 0', 'X0 12', 'X', 'signal 999999', 'signal'])(
    'is not believed as %j',
    (line) => expect(isMalformed(line)).toBe(true),
  )

  it.each(['X0 1', 'X255', 'signal 9', 'C', 'R', '0m0.1s 0m0.2s'])('may be %j', (line) =>
    expect(isMalformed(line)).toBe(false),
  )
})
