/** Runs spec/vectors/gate against the gate room. */
import { describe, expect, it } from 'vitest'
import {
  decisionContract,
  evaluationContract,
  proposalContract,
  sandboxResult,
  validate,
} from '../src/contracts/index.ts'
import {
  type Change,
  compareEffects,
  compareSteps,
  decide,
  decideEarly,
  displayOfRaw,
} from '../src/gate/index.ts'
import { loadComparisons, loadDecisions } from './vectors/gate-vector.ts'

const comparisons = loadComparisons('spec/vectors/gate/comparison.json')

const decisions = loadDecisions('spec/vectors/gate/decision.json')

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

describe('decision vectors', () => {
  for (const { id, note, judgement, want } of decisions) {
    it(`${id}: ${note}`, () => {
      const { proposal, evaluation, result } = judgement
      if (proposal !== null) expect(validate(proposalContract, proposal).violations).toEqual([])
      expect(validate(evaluationContract, evaluation).violations).toEqual([])
      if (result !== null) expect(validate(sandboxResult, result).violations).toEqual([])
      const decided = decide(judgement)
      expect(validate(decisionContract, decided).violations).toEqual([])
      const { decision, code, codes, permanent, tier, law_refs, approvals } = decided
      const wanted = { law_refs: [], ...want }
      expect({
        decision,
        code,
        codes,
        permanent,
        ...(tier === undefined ? {} : { tier }),
        law_refs: [...law_refs].sort(),
        ...(approvals === undefined ? {} : { approvals }),
      }).toEqual(wanted)
      // What can be known before a rehearsal is decided before it, and the same.
      const early = decideEarly({ ...judgement, result: null })
      if (early !== null) expect(early.code).toBe(code)
      else if (result !== null) expect(decideEarly(judgement)).toBe(null)
    })
  }

  it('are many', () => {
    expect(decisions.length).toBeGreaterThanOrEqual(80)
  })
})
