/** Rulesets beyond the vectors: hostile sizes, the budget of texts, and schemas told to others. */
import Ajv from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { guard, rulesetAround } from '../../../tests/arbitrary/guard.ts'
import { validate } from '../kernel/validate.ts'
import { controlRuleset } from './control-ruleset.ts'
import { type Guard, GuardSchema, pathsRead } from './guard.ts'
import { printGuard } from './guard-print.ts'
import { RulesetSchema, ruleset } from './ruleset.ts'

const TYPE = 'problem_state.problem_type'
const exists: Guard = { op: 'EXISTS', field: TYPE }

function codes(document: unknown): ReadonlySet<string> {
  return new Set(validate(ruleset, document).violations.map(({ code }) => code))
}

describe('the published schema', () => {
  // Foreign eyes: a standard validator reads the recursive schema as we do.
  const ajv = new Ajv.Ajv2020({ strict: false })
  const accepts = ajv.compile(JSON.parse(JSON.stringify(RulesetSchema)))
  const acceptsGuard = ajv.compile(JSON.parse(JSON.stringify(GuardSchema)))

  it('accepts every admissible guard in either form', () => {
    fc.assert(
      fc.property(guard, (made) => {
        expect(acceptsGuard(made)).toBe(true)
        expect(accepts(rulesetAround(made))).toBe(true)
        expect(accepts(rulesetAround(printGuard(made), [...pathsRead(made)]))).toBe(true)
      }),
    )
  })

  it.each([
    [{ op: 'AND', args: [] }],
    [{ op: 'NOT', arg: { op: 'COUNT', field: TYPE } }],
    [{ op: 'NOT', arg: { ...exists, weight: 1 } }],
    [{ op: 'OR', args: [exists, { op: 'EQ', field: TYPE, value: 3 }] }],
    [{ op: 'NOT', arg: 'EXISTS(x)' }],
  ])('refuses %j', (tree) => {
    expect(acceptsGuard(tree)).toBe(false)
    expect(
      accepts({
        ...rulesetAround(exists),
        rules: [{ ...rulesetAround(exists).rules[0], guard: tree }],
      }),
    ).toBe(false)
  })
})

describe('hostile sizes', () => {
  const rule = rulesetAround(exists).rules[0]

  it('judges a wide guard', () => {
    const wide = { op: 'AND', args: Array.from({ length: 30_000 }, () => exists) } as const
    expect(codes(rulesetAround(wide, [TYPE]))).toEqual(new Set())
    expect(codes(rulesetAround(printGuard(wide), [TYPE]))).toEqual(new Set())
    expect(codes(rulesetAround(wide, []))).toEqual(new Set(['ruleset.undeclared_input']))
  })

  it('judges many rules with one id', () => {
    const rules = Array.from({ length: 9_000 }, () => rule)
    expect(codes({ ...rulesetAround(exists), rules })).toEqual(new Set(['ruleset.duplicate_rule']))
  })

  it('judges many broken paths, in trees and in texts', () => {
    const args = Array.from({ length: 20_000 }, (_, index) => `problem_state.problem_typ${index}`)
    const tree = { op: 'OR', args: args.map((field) => ({ op: 'EXISTS', field })) }
    const text = args.map((field) => `EXISTS(${field})`).join(' OR ')
    const want = new Set(['ruleset.path', 'ruleset.undeclared_input'])
    for (const form of [tree, text]) {
      const rules = [{ ...rule, guard: form }]
      expect(codes({ ...rulesetAround(exists), rules })).toEqual(want)
    }
  })

  it('rations hints over the whole document, also where guards are texts', () => {
    const guard = 'EXISTS(problem_state.problem_typ)'
    const rules = Array.from({ length: 5_000 }, (_, index) => ({
      ...rule,
      rule_id: `r${index}`,
      guard,
    }))
    const { violations } = validate(ruleset, { ...rulesetAround(exists), rules })
    const unknown = violations.filter(({ code }) => code === 'ruleset.path')
    expect(unknown).toHaveLength(5_000)
    expect(unknown[0]?.hint).toContain('problem_state.problem_type')
    expect(unknown.filter(({ hint }) => hint !== undefined).length).toBeLessThan(1_000)
  })

  it('lets the texts of a document hold no more values than a document may', () => {
    const text = printGuard({ op: 'AND', args: Array.from({ length: 10_000 }, () => exists) })
    const of = (count: number) => ({
      ...rulesetAround(exists),
      rules: Array.from({ length: count }, (_, index) => ({
        ...rule,
        rule_id: `r${index}`,
        guard: text,
      })),
    })
    expect(codes(of(3))).toEqual(new Set())
    const { violations } = validate(ruleset, of(4))
    expect(violations.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'ruleset.shape /rules/3/guard',
    ])
    expect(violations[0]?.message).toContain('more values')
  })

  it('reads names of megabytes', () => {
    const long = 'x'.repeat(2_000_000)
    const found = codes({
      ...rulesetAround(exists),
      schema_version: '1'.repeat(1_000_000),
      ruleset_id: long,
      action_code: 'AO-SENSE',
      rules: [{ ...rule, rule_version: `${long}.0`, guard: `EQ(${TYPE}, "${long}")` }],
    })
    expect(found).toEqual(new Set(['ruleset.semver', 'ruleset.action_code']))
  })

  it('holds templates to a long list without walking it for each rule', () => {
    const allowed = Array.from({ length: 40_000 }, (_, index) => `T${index}`)
    const expr = { template_id: 'WINDOW_MATCH' }
    const { violations } = validate(controlRuleset, {
      type: 'control_ruleset_v0',
      allowed_template_ids: allowed,
      rules: Array.from({ length: 9_000 }, () => ({ template_id: 'WINDOW_MATCH', expr })),
    })
    expect(violations.some(({ code }) => code === 'ruleset.template_not_allowed')).toBe(true)
  })
})

describe('keys that every object has', () => {
  it.each(['__proto__', 'constructor', 'toString'])('%s is data', (key) => {
    const odd = JSON.parse(
      JSON.stringify(rulesetAround(exists)).replace('"rule_id"', `"${key}":1,"rule_id"`),
    )
    const { violations } = validate(ruleset, odd)
    expect(violations.map(({ code, path }) => [code, path])).toEqual([
      ['ruleset.extra_field', `/rules/0/${key}`],
    ])
  })

  it.each(['__proto__', 'constructor', 'toString'])('%s is no operator', (op) => {
    expect(
      codes({
        ...rulesetAround(exists),
        rules: [{ ...rulesetAround(exists).rules[0], guard: { op } }],
      }),
    ).toEqual(new Set(['ruleset.shape']))
  })
})
