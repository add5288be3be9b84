/**
 * The laws of `spec-laws.ts`, over random flows with everything at once, whose commands are answered in any
 * order, whose participants fail, reject and are blocked, and in which people let stopped nodes go on.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkFlow } from '../../src/flow/index.ts'
import { runs } from '../arbitrary/runs.ts'
import { wideFlow } from '../arbitrary/wide-flows.ts'
import { Host } from './host.ts'
import { attemptBy, diceOf, help, play } from './players.ts'
import { judgeRest } from './spec-laws.ts'

it('hold in flows with everything at once', { timeout: 180_000 }, () => {
  const seen = new Map<string, number>()
  const count = (word: string): void => void seen.set(word, (seen.get(word) ?? 0) + 1)
  fc.assert(
    fc.property(wideFlow, fc.nat(), fc.integer({ min: 2, max: 8 }), (flow, seed, odds) => {
      fc.pre(checkFlow(flow).violations.length === 0)
      const dice = diceOf(seed)
      const host = new Host(flow, () => attemptBy(dice, odds)).start()
      play(host, dice, odds)
      judgeRest(host)
      count(host.status)
      for (let helps = 0; helps < 4 && help(host, dice); helps++) {
        play(host, dice, odds)
        judgeRest(host)
        count('helped')
      }
      for (const part of ['/begin', '/1'])
        if (host.entered.some((id) => id.endsWith(part))) count(part)
      if (host.facts.some(({ payload }) => 'kind' in payload && payload.kind === 'called'))
        count('called')
    }),
    { numRuns: runs(120), maxSkipsPerRun: 1000 },
  )
  // The dice reached all of them.
  for (const word of ['DONE', 'BLOCKED', 'WAITING', 'helped', '/begin', '/1', 'called'])
    expect([word, seen.get(word) ?? 0]).not.toEqual([word, 0])
})
