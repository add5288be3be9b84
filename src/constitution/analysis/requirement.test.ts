/** Requirements that clash are a proof: the two formulas never hold together. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FULL, rulesets } from '../../../tests/arbitrary/constitution.ts'
import { type AdmittedRuleset, admitRuleset } from '../../contracts/index.ts'
import { CONFLICTS_MAX, Inquiry } from './inquiry.ts'
import { clash } from './requirement.ts'

it('clash only where nothing matches both', () => {
  let clashes = 0
  fc.assert(
    fc.property(rulesets(FULL, 8), (document) => {
      const ruleset = admitRuleset(document).ruleset as AdmittedRuleset
      const inquiry = new Inquiry([ruleset], [], [ruleset.actionCode], { conflicts: CONFLICTS_MAX })
      const matches = ruleset.rules.flatMap((rule) => {
        const match = inquiry.world.rule(rule)
        return [match, -match]
      })
      for (const one of matches)
        for (const two of matches) {
          const { requirements } = inquiry
          if (!clash(requirements.of(one), requirements.of(two))) continue
          expect(inquiry.model([one, two])).toBe(null)
          clashes++
        }
    }),
    { numRuns: 200 },
  )
  expect(clashes).toBeGreaterThan(1000)
})
