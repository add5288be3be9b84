/**
 * Guards, template expressions and whole rulesets for property tests: every one admissible, with
 * words inside and outside the vocabularies, chains of one, and strings that need escapes.
 */
import fc from 'fast-check'
import {
  GUARD_PATHS,
  type Guard,
  type GuardPath,
  pathRow,
  pathsRead,
  type ScalarPath,
  type SetPath,
  type TemplateExpr,
} from '../../src/contracts/index.ts'

const ofKind = (kind: string) => GUARD_PATHS.filter((path) => pathRow(path).kind === kind)

export const scalarPath = fc.constantFrom(...(ofKind('scalar') as ScalarPath[]))
export const setPath = fc.constantFrom(...(ofKind('set') as SetPath[]))
export const anyPath = fc.constantFrom(...GUARD_PATHS)

const ODD_WORDS = ['"', '\\', '\n', 'a"b', '😀', '\u2028', 'AND', ')', 'LOW', 'TIME_GAPS', '播种']

/** A value that says something; strings are well formed, as documents are. */
export const word: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_WORDS),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).filter((text) => text.isWellFormed()),
)

const words = fc.array(word, { minLength: 1, maxLength: 4 })

/** Guards of every shape, small enough to nest inside a document. */
export const guard: fc.Arbitrary<Guard> = fc.letrec<{ guard: Guard }>((tie) => {
  const args = fc.array(tie('guard'), { minLength: 1, maxLength: 3 })
  return {
    guard: fc.oneof(
      { maxDepth: 8, depthSize: 'large', withCrossShrink: true },
      fc.record({ op: fc.constant('EXISTS' as const), field: anyPath }),
      fc.constant({ op: 'WINDOW_MATCH' } as const),
      fc.record({ op: fc.constant('EQ' as const), field: scalarPath, value: word }),
      fc.record({ op: fc.constant('IN' as const), field: scalarPath, set: words }),
      fc.oneof(
        fc.record({ op: fc.constant('INTERSECTS' as const), left: setPath, right: setPath }),
        fc.record({ op: fc.constant('INTERSECTS' as const), left: setPath, right: words }),
        fc.record({ op: fc.constant('INTERSECTS' as const), left: words, right: setPath }),
      ),
      fc.record({ op: fc.constantFrom('AND' as const, 'OR' as const), args }),
      fc.record({ op: fc.constant('NOT' as const), arg: tie('guard') }),
    ),
  }
}).guard

export const templateExpr: fc.Arbitrary<TemplateExpr> = fc.letrec<{ expr: TemplateExpr }>((tie) => {
  const children = fc.array(tie('expr'), { minLength: 1, maxLength: 3 })
  const id = <const T extends string>(name: T) => fc.constant(name)
  return {
    expr: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.record({ template_id: id('FIELD_EXISTS'), field_path: anyPath }),
      fc.record({ template_id: id('WINDOW_MATCH') }),
      fc.record({ template_id: id('FIELD_EQ'), field_path: scalarPath, value: word }),
      fc.record({ template_id: id('FIELD_IN'), field_path: scalarPath, values: words }),
      fc.record({ template_id: id('SET_INTERSECTS'), field_path: setPath, values: words }),
      fc.record({ template_id: id('LOGICAL_AND'), children }),
      fc.record({ template_id: id('LOGICAL_OR_NOT'), op: id('OR'), children }),
      fc.record({ template_id: id('LOGICAL_OR_NOT'), op: id('NOT'), child: tie('expr') }),
    ),
  }
}).expr

/** A ruleset around one guard, in text or tree form, that declares what the guard reads. */
export function rulesetAround(
  inner: Guard | string,
  inputs: readonly GuardPath[] = typeof inner === 'string' ? [] : [...pathsRead(inner)],
) {
  return {
    type: 'ruleset_v0',
    schema_version: '0.1.0',
    ruleset_id: 'rs_apply',
    action_code: 'AO-APPLY',
    combine_strategy: 'FIRST_MATCH',
    rules: [
      {
        rule_id: 'r1',
        rule_version: '1.0.0',
        rule_owner: 'Control Constitution',
        action_code: 'AO-APPLY',
        inputs_used: [...inputs],
        guard: inner,
        verdict: 'DENY',
      },
    ],
  } as const
}
