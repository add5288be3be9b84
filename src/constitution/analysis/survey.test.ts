/** Which rules beat a shadowed one: as few as do it, also where the solver first names more. */
import { expect, it } from 'vitest'
import { type AdmittedRuleset, admitRuleset } from '../../contracts/index.ts'
import { CONFLICTS_MAX } from './inquiry.ts'
import { surveyRuleset } from './survey.ts'

const SET = 'problem_state.uncertainty_sources[]'
const holds = (word: string) => `INTERSECTS(${SET}, ["${word}"])`
const [F, G, K] = [holds('f'), holds('g'), holds('k')]

function shadowsIn(guards: Readonly<Record<string, string>>): readonly unknown[] {
  const { ruleset } = admitRuleset({
    type: 'ruleset_v0',
    schema_version: '0.1.0',
    ruleset_id: 'rs',
    action_code: 'AO-APPLY',
    combine_strategy: 'FIRST_MATCH',
    rules: Object.entries(guards).map(([rule_id, guard]) => ({
      rule_id,
      rule_version: '1.0.0',
      rule_owner: 'Control Constitution',
      action_code: 'AO-APPLY',
      inputs_used: [SET, 'problem_state.subjectRef'],
      guard,
      verdict: 'DENY',
    })),
  })
  const budget = { conflicts: CONFLICTS_MAX }
  return surveyRuleset(ruleset as AdmittedRuleset, budget).shadowed.map(({ rule_id, by }) => [
    rule_id,
    ...by,
  ])
}

it('leaves out a rule that the others can do without', () => {
  expect(
    shadowsIn({
      spare: `NOT ${F}`,
      lacking: `NOT ${F} OR NOT ${G}`,
      holding: `${F} AND ${G} AND ${K} OR ${F} AND ${G} AND NOT ${K}`,
      beaten: 'EXISTS(problem_state.subjectRef)',
    }),
  ).toEqual([['beaten', 'lacking', 'holding']])
})

it('names the first of equal rules', () => {
  expect(shadowsIn({ first: F, second: F, third: F })).toEqual([
    ['second', 'first'],
    ['third', 'first'],
  ])
})
