/** The two ways to ask for an ALLOW that rests on a missing field: they must say the same. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FULL, rulesets } from '../../../tests/arbitrary/constitution.ts'
import { runs } from '../../../tests/arbitrary/runs.ts'
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
    { numRuns: runs(60) },
  )
  expect(Math.min(answers.yes, answers.no)).toBeGreaterThan(100)
})

it('is none where a later rule allows all the same', () => {
  const rule = (rule_id: string, guard: string) => ({
    rule_id,
    rule_version: '1.0.0',
    rule_owner: 'Control Constitution',
    action_code: 'AO-APPLY',
    inputs_used: ['problem_state.problem_type', 'problem_state.confidence'],
    guard,
    verdict: 'ALLOW',
  })
  const ruleset = admitRuleset({
    type: 'ruleset_v0',
    schema_version: '0.1.0',
    ruleset_id: 'rs',
    action_code: 'AO-APPLY',
    combine_strategy: 'FIRST_MATCH',
    rules: [
      rule('silent', 'NOT EXISTS(problem_state.problem_type) AND EXISTS(problem_state.confidence)'),
      rule('later', 'EXISTS(problem_state.confidence)'),
    ],
  }).ruleset as AdmittedRuleset
  const inquiry = new Inquiry([ruleset], [], [ruleset.actionCode], { conflicts: CONFLICTS_MAX })
  const table = ruleTable(inquiry, ruleset)
  const variation = variationOf(inquiry, table, 'problem_state.problem_type')
  const [row] = table.rows
  if (row === undefined) throw new Error('the first rule can match')
  expect(amongFew(inquiry, row, table.neighboursOf(row), variation)).toBe(null)
  expect(amongAll(inquiry, table, variation)(row)).toBe(null)
})
