/** The law of keeping: what was kept and the rest of the facts give the same as all facts at once. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { answersOf, standingFacts } from '../../../tests/arbitrary/standing.ts'
import { digestDocument } from '../../base/index.ts'
import type { KeptMemory } from './memory-table.ts'
import { StandingFold } from './standing.ts'
import type { StandingFact } from './standing-fact.ts'
import { STANDING_VERSION } from './standing-fact.ts'

const OPTIONS = { confirmationMs: 15 * 60_000, cooldownMs: 15 * 60_000 }

function folded(facts: readonly StandingFact[], kept?: KeptMemory): StandingFold {
  const fold = new StandingFold(OPTIONS, kept)
  for (const fact of facts) fold.take(fact)
  return fold
}

/** Through text, as a file would hold it. */
function throughText(fold: StandingFold): KeptMemory {
  const parts = Object.entries(fold.parts())
  const briefs = new Map(parts.map(([name, part]) => [name, JSON.stringify(part.brief())]))
  const tables = new Map(
    parts.flatMap(([, part]) =>
      Object.entries(part.tables).map(([name, table]) => {
        const rows = [...table.entries()].map(
          ([key, value]) => [key, JSON.stringify(value)] as const,
        )
        return [name, new Map(rows)] as const
      }),
    ),
  )
  return {
    brief: (name) => parsed(briefs.get(name)),
    table: (name) => ({
      get: (key) => parsed(tables.get(name)?.get(key)),
      under: (prefix) =>
        [...(tables.get(name) ?? [])].flatMap(([key]) => (key.startsWith(prefix) ? [key] : [])),
      entries: () =>
        [...(tables.get(name) ?? [])].map(([key, text]) => [key, parsed(text)] as const),
    }),
  }
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text)
}

/** What a fold would keep, as one comparable value. */
function memoryOf(fold: StandingFold): unknown {
  return Object.entries(fold.parts()).map(([name, part]) => [
    name,
    part.brief(),
    Object.entries(part.tables).map(([table, rows]) => [table, Object.fromEntries(rows.entries())]),
  ])
}

describe('what is kept', () => {
  it('and the rest of the facts give what all facts give, wherever it is cut', () => {
    fc.assert(
      fc.property(standingFacts(), fc.array(fc.nat(60), { maxLength: 3 }), (facts, cuts) => {
        const whole = folded(facts)
        const places = [...cuts].sort((one, other) => one - other)
        let kept: KeptMemory | undefined
        let from = 0
        for (const place of places) {
          kept = throughText(folded(facts.slice(from, place), kept))
          from = Math.max(from, Math.min(place, facts.length))
        }
        const resumed = folded(facts.slice(from), kept)
        expect(answersOf(resumed)).toEqual(answersOf(whole))
        expect(memoryOf(resumed)).toEqual(memoryOf(whole))
      }),
      { numRuns: runs(300) },
    )
  })

  it('does not depend on the settings of the day', () => {
    fc.assert(
      fc.property(standingFacts(), (facts) => {
        const kept = throughText(folded(facts))
        const other = { confirmationMs: 1, cooldownMs: 2 }
        const fresh = new StandingFold(other)
        for (const fact of facts) fresh.take(fact)
        expect(answersOf(new StandingFold(other, kept))).toEqual(answersOf(fresh))
      }),
    )
  })

  /**
   * Red when the same facts are remembered otherwise than before. Then raise STANDING_VERSION, so that
   * what was kept under the old one is not read, and pin the new digest with it.
   */
  it('is of the version that it says', () => {
    const { facts } = JSON.parse(readFileSync('tests/gate/standing-history.json', 'utf8'))
    const digest = digestDocument(memoryOf(folded(facts)))
    expect([STANDING_VERSION, digest]).toEqual([
      6,
      'sha256:0accc22ca5db9352eb8e9522500b0c05b8588d41ab0601cba28d7bc3a5dc2ae3',
    ])
  })

  it('reads promotions from the newest backwards', () => {
    fc.assert(
      fc.property(standingFacts(), (facts) => {
        const fold = folded(facts)
        expect([...fold.promotedNewestFirst()].reverse()).toEqual(fold.promoted())
      }),
    )
  })
})
