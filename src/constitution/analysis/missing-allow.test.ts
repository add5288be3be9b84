/** The two ways to ask for an ALLOW that rests on a missing field: they must say the same. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FULL, rulesets } from '../../../tests/arbitrary/constitution.ts'
import { type AdmittedRuleset, admitRuleset } from '../../contracts/index.ts'
import { CONFLICTS_MAX, Inquiry } from './inquiry.ts'
import { amongAll, amongFew, variationOf } from './missing-allow.ts'
import { ruleTable } from './rule-table.ts'

it('is the same among a few rules as among all', () => {
  const answers = { yes: 0, no: 0 }
  fc.assert(
    fc.property(rulesets(FULL, 7), (document) => {
      const ruleset = admitRuleset(document).ruleset as AdmittedRuleset
      const inquiry = new Inquiry([ruleset], [], [ruleset.actionCode], { conflicts: CONFLICTS_MAX })
      const table = ruleTable(inquiry, ruleset)
      for (const path of table.paths) {
        const variation = variationOf(inquiry, table, path)
        const ask = amongAll(inquiry, table, variation)
        for (const row of table.rows.filter(({ verdict }) => verdict === 'ALLOW')) {
          const few = amongFew(inquiry, row, table.neighboursOf(row), variation)
          expect(ask(row) === null).toBe(few === null)
          answers[few === null ? 'no' : 'yes']++
        }
      }
    }),
    { numRuns: 150 },
  )
  expect(Math.min(answers.yes, answers.no)).toBeGreaterThan(100)
})
