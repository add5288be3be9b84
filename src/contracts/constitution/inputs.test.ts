/** The three inputs and the verdict beyond the vectors: hostile texts, detection, the registry. */
import { describe, expect, it } from 'vitest'
import { checkDocument } from '../check.ts'
import { validate } from '../kernel/validate.ts'
import { CONTRACTS } from '../registry.ts'
import { controlVerdict } from './control-verdict.ts'
import { permissionSet } from './permission-set.ts'
import { problemState } from './problem-state.ts'

const FAMILY = [
  'problem_state_v1',
  'uncertainty_envelope_v0',
  'permission_set_v0',
  'ruleset_v0',
  'control_ruleset_v0',
  'control_verdict_v0',
]

describe('the family', () => {
  it('is registered, detected by type, and never a record by itself', () => {
    for (const name of FAMILY) {
      expect(CONTRACTS.find((contract) => contract.name === name)?.isRecord).toBe(false)
      expect(checkDocument({ type: name })).toMatchObject({ valid: false, contract: name })
    }
  })

  it.each(FAMILY)('%s answers every JSON value', (name) => {
    for (const value of [null, true, 3, 'x', [], {}, [[[]]]]) {
      expect(checkDocument(value, { as: name }).violations.length).toBeGreaterThan(0)
    }
  })
})

describe('texts of megabytes', () => {
  const long = 'ab '.repeat(700_000)

  it('are judged at once', () => {
    const state = validate(problemState, { problem_state_id: long, summary: long, scale: long })
    const told = state.violations.map(({ code, path }) => `${code} ${path}`)
    expect(told).toContain('problem_state.length /summary')
    expect(told).not.toContain('problem_state.length /problem_state_id')
    validate(permissionSet, { notes: long, permission_set_id: long })
    for (const ref of [long, '/'.repeat(3_000_000), `${'/@'.repeat(1_500_000)}1.0`]) {
      const { violations } = validate(controlVerdict, { rule_ref: ref })
      expect(violations.map(({ code }) => code)).toContain('verdict.rule_ref')
    }
  })
})

describe('many candidates', () => {
  it('are compared in linear time', () => {
    const candidate_actions = Array.from({ length: 40_000 }, (_, index) => `AO-${index % 30_000}`)
    const { violations } = validate(permissionSet, { candidate_actions })
    const count = (code: string) => violations.filter((violation) => violation.code === code).length
    expect(count('permission_set.duplicate')).toBe(10_000)
    expect(count('permission_set.action_code')).toBe(40_000)
  })
})
