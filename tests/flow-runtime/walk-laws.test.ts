/**
 * Laws of walks, over random flows that come far: what a run that is done has reached, what a stop says, which
 * nodes lead on in a later round, what is promoted and undone, and when a way back without a guard goes.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkFlow } from '../../src/flow/index.ts'
import { callingFlow, walkableFlow } from '../arbitrary/flows.ts'
import { runs } from '../arbitrary/runs.ts'
import { Host } from './host.ts'
import { dice, judge } from './walk-laws.ts'

it('hold in every round', { timeout: 180_000 }, () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(walkableFlow, fc.nat(6), fc.nat(6), (parts, failing, low) => {
      const host = new Host(parts, dice(failing, low)).start().run()
      const walk = judge(host)
      seen.set(host.status, (seen.get(host.status) ?? 0) + 1)
      if (walk.returns > 0) seen.set('again', (seen.get('again') ?? 0) + 1)
    }),
    { numRuns: runs(300) },
  )
  // The dice reached all of them.
  for (const word of ['DONE', 'BLOCKED', 'WAITING', 'again'])
    expect([word, seen.get(word) ?? 0]).not.toEqual([word, 0])
})

it('hold with calls and maps', { timeout: 180_000 }, () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(callingFlow, fc.nat(6), fc.nat(6), (parts, failing, low) => {
      const { violations } = checkFlow(parts)
      fc.pre(!violations.some(({ code }) => code === 'flow.map' || code === 'flow.call'))
      const host = new Host(parts, dice(failing, low)).start().run()
      judge(host)
      const isMapped = parts.nodes.some(({ map }) => map !== undefined)
      for (const word of [host.status, ...(isMapped ? ['mapped'] : [])])
        seen.set(word, (seen.get(word) ?? 0) + 1)
    }),
    { numRuns: runs(300) },
  )
  for (const word of ['DONE', 'BLOCKED', 'WAITING', 'mapped'])
    expect([word, seen.get(word) ?? 0]).not.toEqual([word, 0])
})
