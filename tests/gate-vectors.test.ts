/** Runs spec/vectors/gate against the gate room. */
import { describe, expect, it } from 'vitest'
import { type Change, compareEffects, compareSteps, displayOfRaw } from '../src/gate/index.ts'
import { loadComparisons } from './vectors/gate-vector.ts'

const comparisons = loadComparisons('spec/vectors/gate/comparison.json')

function paths(changes: readonly Change[]): readonly string[] {
  return changes.map(({ path }) => displayOfRaw(path))
}

describe('comparison vectors', () => {
  for (const { id, note, input, steps, want } of comparisons) {
    it(`${id}: ${note}`, () => {
      const found = steps === null ? compareEffects(input) : compareSteps(steps, input)
      const wanted = want['findings'] as readonly (readonly (string | undefined)[])[]
      expect(found.findings.map(({ code, path }) => [code, path])).toEqual(
        wanted.map(([code, path]) => [code, path]),
      )
      for (const [index, [, , detail]] of wanted.entries()) {
        if (detail !== undefined) expect(found.findings[index]?.detail).toBe(detail)
      }
      const answer: Record<string, unknown> = {
        promoted: paths(found.promoted),
        discarded: paths(found.discarded),
        deferred: paths(found.deferred),
        counts: found.counts,
        bytes: found.bytes,
        declared: found.effectsDeclared,
        in_scope: found.withinScope,
      }
      for (const [key, value] of Object.entries(want)) {
        if (key !== 'findings') expect(answer[key], key).toEqual(value)
      }
    })
  }

  it('are many', () => {
    expect(comparisons.length).toBeGreaterThanOrEqual(60)
  })
})
