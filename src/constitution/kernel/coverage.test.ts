/** What a suite of cases leaves open: rules that give no verdict, and branches seen one way only. */
import { describe, expect, it } from 'vitest'
import { type AdmittedRuleset, admitRuleset } from '../../contracts/index.ts'
import { uncovered } from './coverage.ts'
import type { Inputs } from './projection.ts'

const TYPE = 'problem_state.problem_type'
const CONFIDENCE = 'problem_state.confidence'

const STALE = `EQ(${TYPE}, "EVIDENCE_STALE")`
const HIGH = `EQ(${CONFIDENCE}, "HIGH")`

const ruleset = admitRuleset({
  type: 'ruleset_v0',
  schema_version: '0.1.0',
  ruleset_id: 'rs',
  action_code: 'AO-APPLY',
  combine_strategy: 'FIRST_MATCH',
  rules: [
    {
      rule_id: 'one',
      rule_version: '1.0.0',
      rule_owner: 'Control Constitution',
      action_code: 'AO-APPLY',
      inputs_used: [TYPE, CONFIDENCE],
      guard: `${STALE} OR NOT ${HIGH} AND ${STALE}`,
      verdict: 'DENY',
    },
  ],
}).ruleset as AdmittedRuleset

const inputs = (problem_type: string, confidence: string, ref = 'p'): Inputs => ({
  problem_state: { problem_state_id: 'p', subjectRef: {}, problem_type, confidence },
  uncertainty_envelope: { problem_state_ref: ref },
  permission_set: { subjectRef: {}, candidate_actions: ['AO-APPLY'] },
})

const place = { action_code: 'AO-APPLY', rule_id: 'one' }
const branch = (guard: string, value: boolean) => ({ ...place, branch: { guard, value } })
const given = new Set(['rs/one@1.0.0'])

describe('coverage', () => {
  it('names the rule, and each branch once for each value, when there is no case', () => {
    expect(uncovered([ruleset], [], new Set())).toEqual([
      place,
      branch(STALE, true),
      branch(STALE, false),
      branch(HIGH, true),
      branch(HIGH, false),
    ])
  })

  it('is complete when every branch was seen both ways and the rule gave a verdict', () => {
    const cases = [inputs('EVIDENCE_STALE', 'HIGH'), inputs('MARKER_PRESENT', 'LOW')]
    expect(uncovered([ruleset], cases, given)).toEqual([])
    expect(uncovered([ruleset], cases, new Set(['rs/one@1.0.1']))).toEqual([place])
  })

  it('counts the two values of a branch apart', () => {
    const cases = [inputs('EVIDENCE_STALE', 'HIGH'), inputs('EVIDENCE_STALE', 'LOW')]
    expect(uncovered([ruleset], cases, given)).toEqual([branch(STALE, false)])
  })

  it('takes nothing from inputs that are not bound: no rule was asked there', () => {
    const cases = [inputs('EVIDENCE_STALE', 'HIGH'), inputs('MARKER_PRESENT', 'LOW', 'other')]
    expect(uncovered([ruleset], cases, given)).toEqual([branch(STALE, false), branch(HIGH, false)])
  })
})
