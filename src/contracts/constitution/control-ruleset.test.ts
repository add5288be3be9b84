/** Tests of the template form and of its translation. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { templateExpr } from '../../../tests/arbitrary/guard.ts'
import { validate } from '../kernel/validate.ts'
import { admitRuleset } from './admission.ts'
import { importTemplate } from './control-ruleset.ts'
import { GUARD_PATHS } from './paths.ts'
import { ruleset } from './ruleset.ts'
import { guardOfTemplate, pointerInTemplate, TEMPLATE_IDS, type TemplateExpr } from './template.ts'

function file(exprs: readonly TemplateExpr[], inputs: readonly string[] = GUARD_PATHS) {
  return {
    type: 'control_ruleset_v0',
    schema_version: '0.2.0',
    ruleset_id: 'rs_enter',
    action_code: 'AO-ENTER',
    combine_strategy: 'FIRST_MATCH',
    default_verdict: 'UNDETERMINED',
    inputs_used: inputs,
    allowed_template_ids: [...TEMPLATE_IDS],
    rules: exprs.map((expr, index) => ({
      rule_id: `r${index}`,
      rule_version: '0.1.0',
      template_id: expr.template_id,
      expr,
      verdict: 'ALLOW',
    })),
  }
}

describe('the guard of a template', () => {
  const eq = { template_id: 'FIELD_EQ', field_path: 'p', value: 'v' }
  it.each([
    [eq, { op: 'EQ', field: 'p', value: 'v' }],
    [
      { template_id: 'FIELD_IN', field_path: 'p', values: ['v'] },
      { op: 'IN', field: 'p', set: ['v'] },
    ],
    [
      { template_id: 'FIELD_EXISTS', field_path: 'p' },
      { op: 'EXISTS', field: 'p' },
    ],
    [
      { template_id: 'SET_INTERSECTS', field_path: 'p', values: ['v'] },
      { op: 'INTERSECTS', left: 'p', right: ['v'] },
    ],
    [{ template_id: 'WINDOW_MATCH' }, { op: 'WINDOW_MATCH' }],
    [
      { template_id: 'LOGICAL_AND', children: [eq] },
      { op: 'AND', args: [{ op: 'EQ', field: 'p', value: 'v' }] },
    ],
    [
      { template_id: 'LOGICAL_OR_NOT', op: 'OR', children: [eq] },
      { op: 'OR', args: [{ op: 'EQ', field: 'p', value: 'v' }] },
    ],
    [
      { template_id: 'LOGICAL_OR_NOT', op: 'NOT', child: eq },
      { op: 'NOT', arg: { op: 'EQ', field: 'p', value: 'v' } },
    ],
    [{ template_id: 'toString' }, null],
    [null, null],
  ])('%j', (expr, want) => {
    expect(guardOfTemplate(expr)).toEqual(want)
  })

  it('has its places back in the expression', () => {
    expect(pointerInTemplate('/args/0/arg/field')).toBe('/children/0/child/field_path')
    expect(pointerInTemplate('/left')).toBe('/field_path')
    expect(pointerInTemplate('/right/2')).toBe('/values/2')
    expect(pointerInTemplate('/set/1')).toBe('/values/1')
    expect(pointerInTemplate('/value')).toBe('/value')
    expect(pointerInTemplate('')).toBe('')
  })
})

describe('importing', () => {
  it('writes the ruleset that the file represents', () => {
    const inputs = [
      'permission_set.window.endTs',
      'permission_set.scale',
      'problem_state.problem_type',
      'problem_state.window.startTs',
      'problem_state.window.endTs',
      'permission_set.window.startTs',
      'problem_state.problem_type',
    ]
    const imported = importTemplate(
      file(
        [
          {
            template_id: 'LOGICAL_AND',
            children: [
              { template_id: 'FIELD_EQ', field_path: 'problem_state.problem_type', value: 'X' },
              { template_id: 'FIELD_EXISTS', field_path: 'permission_set.scale' },
            ],
          },
          { template_id: 'LOGICAL_OR_NOT', op: 'NOT', child: { template_id: 'WINDOW_MATCH' } },
        ],
        inputs,
      ),
    )
    const whole = {
      rule_version: '0.1.0',
      rule_owner: 'Control Constitution',
      action_code: 'AO-ENTER',
    }
    expect(imported).toEqual({
      ok: true,
      ruleset: {
        type: 'ruleset_v0',
        schema_version: '0.2.0',
        ruleset_id: 'rs_enter',
        action_code: 'AO-ENTER',
        combine_strategy: 'FIRST_MATCH',
        rules: [
          {
            rule_id: 'r0',
            ...whole,
            inputs_used: ['permission_set.scale', 'problem_state.problem_type'],
            guard: {
              op: 'AND',
              args: [
                { op: 'EQ', field: 'problem_state.problem_type', value: 'X' },
                { op: 'EXISTS', field: 'permission_set.scale' },
              ],
            },
            verdict: 'ALLOW',
          },
          {
            rule_id: 'r1',
            ...whole,
            inputs_used: [
              'permission_set.window.endTs',
              'problem_state.window.startTs',
              'problem_state.window.endTs',
              'permission_set.window.startTs',
            ],
            guard: { op: 'NOT', arg: { op: 'WINDOW_MATCH' } },
            verdict: 'ALLOW',
          },
        ],
      },
    })
  })

  it('refuses what admission refuses', () => {
    const bad = file([{ template_id: 'WINDOW_MATCH' }], [])
    expect(importTemplate(bad)).toMatchObject({
      ok: false,
      violations: [{ code: 'ruleset.undeclared_input', path: '/rules/0/expr' }],
    })
    expect(importTemplate(null)).toMatchObject({
      ok: false,
      violations: [{ code: 'ruleset.shape' }],
    })
  })

  it('reads the registry of its context', () => {
    const foreign = { ...file([{ template_id: 'WINDOW_MATCH' }]), action_code: 'AO-MOVE' }
    expect(importTemplate(foreign).ok).toBe(false)
    expect(importTemplate(foreign, { action_codes: ['AO-MOVE'] }).ok).toBe(true)
  })

  it('gives an admissible ruleset with the same rules, and leaves the file alone', () => {
    fc.assert(
      fc.property(fc.array(templateExpr, { minLength: 1, maxLength: 3 }), (exprs) => {
        const document = file(exprs)
        const before = JSON.stringify(document)
        const imported = importTemplate(document)
        expect(imported.ok).toBe(true)
        if (!imported.ok) return
        expect(JSON.stringify(document)).toBe(before)
        expect(validate(ruleset, imported.ruleset).violations).toEqual([])
        const ofFile = admitRuleset(document).ruleset
        const ofImport = admitRuleset(imported.ruleset).ruleset
        expect(ofImport?.rules).toEqual(ofFile?.rules)
        expect(ofImport?.rules.map(({ guard }) => guard)).toEqual(exprs.map(guardOfTemplate))
      }),
    )
  })
})
