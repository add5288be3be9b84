/** Admission: warnings, strictness, several rulesets at once, and what an admitted ruleset carries. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyJson } from '../../../tests/arbitrary/from-schema.ts'
import { guard, rulesetAround } from '../../../tests/arbitrary/guard.ts'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { digestDocument } from '../../base/index.ts'
import {
  type AdmissionOptions,
  admitGuardText,
  admitRuleset,
  admitRulesets,
  rulesetWarnings,
} from './admission.ts'
import { pathsRead } from './guard.ts'
import { printGuard } from './guard-print.ts'
import type { GuardPath } from './paths.ts'

const TYPE = 'problem_state.problem_type'

function told(violations: readonly { code: string; path: string }[]): readonly string[] {
  return violations.map(({ code, path }) => `${code} ${path}`)
}

function warned(source: string, inputs: readonly GuardPath[], options: AdmissionOptions = {}) {
  return admitRuleset(rulesetAround(source, inputs), options)
}

const template = {
  type: 'control_ruleset_v0',
  schema_version: '0.1.0',
  ruleset_id: 'rs_sense',
  action_code: 'AO-SENSE',
  combine_strategy: 'DENY_OVERRIDES',
  default_verdict: 'UNDETERMINED',
  inputs_used: ['permission_set.scale', TYPE],
  allowed_template_ids: ['FIELD_EQ'],
  rules: [
    {
      rule_id: 'r1',
      rule_version: '0.1.0',
      template_id: 'FIELD_EQ',
      expr: { template_id: 'FIELD_EQ', field_path: TYPE, value: 'EVIDENCE_STALE' },
      verdict: 'DENY',
    },
  ],
}

describe('warnings', () => {
  it('tells a word outside the vocabulary, with the nearest one', () => {
    const { accepted, violations, warnings } = warned(`EQ(${TYPE}, "EVIDENCE_CONFLCT")`, [TYPE])
    expect([accepted, violations]).toEqual([true, []])
    expect(warnings).toEqual([
      {
        code: 'ruleset.vocabulary',
        path: '/rules/0/guard',
        message:
          '`EVIDENCE_CONFLCT` is not in the vocabulary of `problem_state.problem_type` (line 1, column 32)',
        hint: 'did you mean `EVIDENCE_CONFLICT`?',
      },
    ])
  })

  it.each([
    [
      'in a set',
      { op: 'IN', field: 'problem_state.confidence', set: ['LOW', 'low', 'SURE'] },
      ['/set/1', '/set/2'],
    ],
    [
      'on the left',
      { op: 'INTERSECTS', left: ['EVIDENCE_SPARSE'], right: 'problem_state.uncertainty_sources[]' },
      ['/left/0'],
    ],
    [
      'on the right',
      {
        op: 'INTERSECTS',
        left: 'uncertainty_envelope.uncertainty_sources[]',
        right: ['EVIDENCE_SPARSE', 'TIME_GAPS'],
      },
      ['/right/1'],
    ],
    [
      'of the registry',
      {
        op: 'INTERSECTS',
        left: 'permission_set.candidate_actions[].action_code',
        right: ['AO-APPLY', 'AO-FLY'],
      },
      ['/right/1'],
    ],
    ['a path for a value', { op: 'EQ', field: TYPE, value: TYPE }, ['/value']],
    ['not where any text is legal', { op: 'EQ', field: 'permission_set.scale', value: 'x' }, []],
    [
      'not between two paths',
      {
        op: 'INTERSECTS',
        left: 'problem_state.uncertainty_sources[]',
        right: 'uncertainty_envelope.uncertainty_sources[]',
      },
      [],
    ],
  ] as const)('of the vocabulary: %s', (_, tree, places) => {
    const { warnings } = admitRuleset(rulesetAround(tree))
    expect(told(warnings)).toEqual(
      places.map((place) => `ruleset.vocabulary /rules/0/guard${place}`),
    )
  })

  it('asks the registry that was handed in', () => {
    const source = 'INTERSECTS(permission_set.candidate_actions[].action_code, ["AO-MOVE"])'
    const context = { action_codes: ['AO-APPLY', 'AO-MOVE'] }
    const inputs = ['permission_set.candidate_actions[].action_code'] as const
    expect(told(warned(source, inputs).warnings)).toEqual(['ruleset.vocabulary /rules/0/guard'])
    expect(warned(source, inputs, { context }).warnings).toEqual([])
  })

  it('tells a declared path that nothing reads', () => {
    const inputs = [TYPE, 'permission_set.scale', 'problem_state.subjectRef'] as const
    const document = rulesetAround(`EXISTS(${TYPE})`, inputs)
    expect(told(rulesetWarnings(document))).toEqual([
      'ruleset.unused_input /rules/0/inputs_used/1',
      'ruleset.unused_input /rules/0/inputs_used/2',
    ])
  })

  it('counts the window leaves and the scope as read', () => {
    const windows = [
      'problem_state.window.startTs',
      'problem_state.window.endTs',
      'permission_set.window.startTs',
      'permission_set.window.endTs',
    ] as const
    expect(warned('WINDOW_MATCH()', windows).warnings).toEqual([])
    const document = rulesetAround(`EXISTS(${TYPE})`, [
      TYPE,
      'permission_set.scale',
      'permission_set.subjectRef',
      'permission_set.subjectRef.plotId',
      'permission_set.subjectRef.blockId',
    ])
    const scope = { scale: 'plot', subjectRef: { projectId: 'P', plotId: 'p' } }
    const scoped = { ...document, rules: [{ ...document.rules[0], scope }] }
    expect(told(rulesetWarnings(scoped))).toEqual(['ruleset.unused_input /rules/0/inputs_used/4'])
  })

  it('speaks of a template file where it declares', () => {
    const [rule] = template.rules
    const expr = { ...rule?.expr, value: 'STALE' }
    const strange = { ...template, rules: [{ ...rule, expr }] }
    expect(told(rulesetWarnings(strange))).toEqual([
      'ruleset.unused_input /inputs_used/0',
      'ruleset.vocabulary /rules/0/expr/value',
    ])
  })

  it('are violations when strict', () => {
    const lax = warned(`EQ(${TYPE}, "X")`, [TYPE, 'permission_set.scale'])
    expect([lax.accepted, lax.warnings.length]).toEqual([true, 2])
    const strict = warned(`EQ(${TYPE}, "X")`, [TYPE, 'permission_set.scale'], { strict: true })
    expect([strict.accepted, strict.ruleset, strict.warnings]).toEqual([false, null, []])
    expect(told(strict.violations)).toEqual(told(lax.warnings))
  })

  it('come with violations, not instead of them', () => {
    const { violations, warnings } = warned(`EQ(${TYPE}, "X") AND EXISTS(permission_set.scale)`, [
      TYPE,
    ])
    expect(told(violations)).toEqual(['ruleset.undeclared_input /rules/0/guard'])
    expect(told(warnings)).toEqual(['ruleset.vocabulary /rules/0/guard'])
  })
})

describe('findings inside a text', () => {
  it('are one violation per code that tells of several places', () => {
    const source = `EXISTS(a.b) AND\nEXISTS(c) AND EXISTS(d) AND EXISTS(e) AND EQ(${TYPE}, 3)`
    const { violations } = warned(source, [TYPE])
    expect(told(violations)).toEqual([
      'ruleset.path /rules/0/guard',
      'ruleset.undeclared_input /rules/0/guard',
      'ruleset.value /rules/0/guard',
    ])
    expect(violations[0]?.message).toContain('`"a.b"` (line 1, column 8)')
    expect(violations[0]?.message).toContain('`"c"` (line 2, column 8)')
    expect(violations[0]?.message).toMatch(/; and 1 more$/)
    expect(violations[2]?.message).toContain('line 2, column 74')
  })

  it('carries the nearest path', () => {
    const { violations } = warned('EXISTS(problem_state.uncertainty_sources)', [])
    expect(violations[0]?.hint).toBe('did you mean `problem_state.uncertainty_sources[]`?')
  })
})

describe('several rulesets', () => {
  const apply = rulesetAround(`EXISTS(${TYPE})`, [TYPE])
  const sense = { ...template, inputs_used: [TYPE] }

  it('are admitted together, in either form', () => {
    const admission = admitRulesets([apply, sense])
    expect([admission.accepted, admission.violations, admission.warnings]).toEqual([true, [], []])
    expect(admission.rulesets.map(({ ruleset }) => ruleset?.actionCode)).toEqual([
      'AO-APPLY',
      'AO-SENSE',
    ])
  })

  it('cannot claim one action code twice, no matter their form', () => {
    const other = { ...sense, action_code: 'AO-APPLY' }
    const admission = admitRulesets([apply, sense, other])
    expect(admission.accepted).toBe(false)
    expect(told(admission.violations)).toEqual(['ruleset.duplicate_ruleset /2/action_code'])
    expect(admission.rulesets.map(({ accepted }) => accepted)).toEqual([false, true, false])
    expect(admission.rulesets.map(({ ruleset }) => ruleset === null)).toEqual([true, false, true])
  })

  it('are distinguished by their index, a lone one is not', () => {
    const bad = { ...apply, combine_strategy: 'VOTE', action_code: 'AO-ENTER' }
    expect(told(admitRulesets([sense, bad]).violations)).toEqual([
      'ruleset.combine /1/combine_strategy',
      'ruleset.action_code /1/rules/0/action_code',
    ])
    expect(told(admitRulesets([bad]).violations)).toEqual([
      'ruleset.combine /combine_strategy',
      'ruleset.action_code /rules/0/action_code',
    ])
    expect(told(admitRulesets([{ ...template }, bad]).warnings)).toEqual([
      'ruleset.unused_input /0/inputs_used/0',
    ])
  })

  it('may be none', () => {
    expect(admitRulesets([])).toEqual({
      accepted: true,
      violations: [],
      warnings: [],
      rulesets: [],
    })
  })

  it('contest nothing without a code', () => {
    const { violations } = admitRulesets([{ action_code: 5 }, { action_code: 5 }, null])
    expect(violations.map(({ code }) => code)).not.toContain('ruleset.duplicate_ruleset')
  })
})

describe('an admitted ruleset', () => {
  it('carries guards that were read, whichever form they had', () => {
    const document = rulesetAround(`NOT EXISTS(${TYPE})`, [TYPE])
    const scope = { scale: 'plot' }
    const inputs_used = [TYPE, 'permission_set.scale']
    const scoped = { ...document, rules: [{ ...document.rules[0], scope, inputs_used }] }
    const { ruleset } = admitRuleset(scoped)
    expect(ruleset).toEqual({
      form: 'ruleset_v0',
      rulesetId: 'rs_apply',
      schemaVersion: '0.1.0',
      actionCode: 'AO-APPLY',
      combineStrategy: 'FIRST_MATCH',
      rules: [
        {
          ruleId: 'r1',
          ruleVersion: '1.0.0',
          inputsUsed: inputs_used,
          scope,
          guard: { op: 'NOT', arg: { op: 'EXISTS', field: TYPE } },
          verdict: 'DENY',
        },
      ],
      document: scoped,
    })
    expect(digestDocument(ruleset?.document)).toBe(digestDocument(scoped))
  })

  it('is the ruleset that a template file represents, under the digest of the file', () => {
    const { ruleset } = admitRuleset(template)
    expect(ruleset?.form).toBe('control_ruleset_v0')
    expect(ruleset?.document).toBe(template)
    expect(ruleset?.rules).toEqual([
      {
        ruleId: 'r1',
        ruleVersion: '0.1.0',
        inputsUsed: [TYPE],
        scope: null,
        guard: { op: 'EQ', field: TYPE, value: 'EVIDENCE_STALE' },
        verdict: 'DENY',
      },
    ])
  })

  it('has the same guard from a tree and from its text', () => {
    fc.assert(
      fc.property(guard, (made) => {
        const inputs = [...pathsRead(made)]
        const fromTree = admitRuleset(rulesetAround(made, inputs))
        const fromText = admitRuleset(rulesetAround(printGuard(made), inputs))
        expect(fromTree.violations).toEqual([])
        expect(fromText.violations).toEqual([])
        expect(fromText.ruleset?.rules).toEqual(fromTree.ruleset?.rules)
        const codes = (of: typeof fromTree) => new Set(of.warnings.map(({ code }) => code))
        expect(codes(fromText)).toEqual(codes(fromTree))
      }),
      { numRuns: runs(300) },
    )
  })

  it('needs every path that its guard reads', () => {
    fc.assert(
      fc.property(guard, fc.nat(), (made, pick) => {
        const inputs = [...pathsRead(made)]
        const missing = inputs[pick % inputs.length]
        const fewer = inputs.filter((path) => path !== missing)
        for (const form of [made, printGuard(made)]) {
          const { violations } = admitRuleset(rulesetAround(form, fewer))
          expect(new Set(violations.map(({ code }) => code))).toEqual(
            new Set(['ruleset.undeclared_input']),
          )
        }
      }),
    )
  })
})

describe('a guard by itself', () => {
  it('may read every path and declares none', () => {
    const { guard: read, violations, warnings } = admitGuardText(`EQ(${TYPE}, "EVIDENCE_CONFLCT")`)
    expect(read).toEqual({ op: 'EQ', field: TYPE, value: 'EVIDENCE_CONFLCT' })
    expect(violations).toEqual([])
    expect(told(warnings)).toEqual(['ruleset.vocabulary '])
  })

  it.each([
    ['EXISTS(', 'ruleset.shape '],
    ['', 'ruleset.shape '],
    ['EQ(problem_state.subjectRef, "x")', 'ruleset.type_mismatch '],
    ['EXISTS(x)', 'ruleset.path '],
    ['AND()', 'ruleset.empty '],
  ])('is refused all the same: %s', (source, want) => {
    const { guard: read, violations } = admitGuardText(source)
    expect(read).toBeNull()
    expect(told(violations)).toEqual([want])
  })
})

describe('any document', () => {
  it('is answered, never thrown at, and left as it was', () => {
    fc.assert(
      fc.property(fc.array(anyJson, { maxLength: 3 }), fc.boolean(), (documents, strict) => {
        const before = JSON.stringify(documents)
        const { accepted, rulesets } = admitRulesets(documents, { strict })
        expect(accepted).toBe(documents.length === 0)
        expect(rulesets).toHaveLength(documents.length)
        expect(JSON.stringify(documents)).toBe(before)
      }),
    )
  })

  it('is refused before anything else when it is no JSON document', () => {
    const cycle: Record<string, unknown> = { type: 'ruleset_v0' }
    cycle['rules'] = [cycle]
    expect(told(admitRuleset(cycle).violations)[0]).toMatch(/^document.too_deep/)
    expect(told(admitRuleset(() => 1).violations)).toEqual(['document.not_json '])
  })
})
