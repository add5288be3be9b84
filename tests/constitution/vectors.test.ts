/** Runs spec/vectors/constitution against the kernel and against the naive one. */
import { describe, expect, it } from 'vitest'
import { establish, type Inputs } from '../../src/constitution/index.ts'
import {
  type AdmittedRuleset,
  admitRulesets,
  type ControlVerdict,
  controlVerdict,
  GUARD_OPERATORS,
  GUARD_PATHS,
  type Guard,
  pathsRead,
  validate,
} from '../../src/contracts/index.ts'
import { naiveEvaluate } from '../oracle/naive-kernel.ts'
import {
  type EvaluationVector,
  loadEvaluationVectors,
  readEvaluationFile,
  type ShortVerdict,
} from '../vectors/evaluation-vector.ts'

const vectors = loadEvaluationVectors('spec/vectors/constitution')

/** Anything may stand where inputs are expected: the kernel refuses none. */
function evaluate({ rulesets, context, inputs, at }: EvaluationVector) {
  const constitution = establish(
    rulesets.map((document) => ({ document })),
    context,
  )
  return constitution.evaluate(inputs as Inputs, at)
}

function short({ action_code, verdict, rule_ref, ruleset_status }: ControlVerdict): ShortVerdict {
  return { action_code, verdict, rule_ref: rule_ref ?? null, ruleset_status }
}

/** The naive kernel reads trees and admissible rulesets only. */
function naiveDocument({ rulesetId, actionCode, combineStrategy, rules }: AdmittedRuleset) {
  return {
    ruleset_id: rulesetId,
    action_code: actionCode,
    combine_strategy: combineStrategy,
    rules: rules.map(({ ruleId, ruleVersion, inputsUsed, scope, guard, verdict }) => ({
      rule_id: ruleId,
      rule_version: ruleVersion,
      inputs_used: inputsUsed,
      ...(scope === null ? {} : { scope }),
      guard,
      verdict,
    })),
  }
}

function admitted({ rulesets, context }: EvaluationVector): readonly AdmittedRuleset[] {
  return admitRulesets(rulesets, { context }).rulesets.flatMap(({ ruleset }) =>
    ruleset === null ? [] : [ruleset],
  )
}

describe('evaluation vectors', () => {
  for (const vector of vectors) {
    it(`${vector.id}: ${vector.note}`, () => {
      const verdicts = evaluate(vector)
      expect(verdicts.map(short)).toEqual(vector.want)
      if (vector.documents !== null) expect(verdicts).toEqual(vector.documents)
      for (const verdict of verdicts)
        expect(validate(controlVerdict, verdict).violations).toEqual([])
      expect(JSON.stringify(evaluate(structuredClone(vector)))).toBe(JSON.stringify(verdicts))
      const naive = naiveEvaluate(admitted(vector).map(naiveDocument), vector.inputs)
      expect(
        naive.map(({ rule_ref, ...rest }) => ({ ...rest, rule_ref: rule_ref ?? null })),
      ).toEqual(vector.want.map(({ ruleset_status: _, ...rest }) => rest))
    })
  }
})

describe('the vectors themselves', () => {
  const guards = vectors.flatMap((vector) =>
    admitted(vector).flatMap(({ rules }) => rules.map(({ guard }) => guard)),
  )

  it('are there', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(100)
  })

  it('read every path and use every operator', () => {
    const read = new Set(guards.flatMap((guard) => [...pathsRead(guard)]))
    expect(GUARD_PATHS.filter((path) => !read.has(path))).toEqual([])
    const used = new Set(guards.flatMap(operatorsIn))
    expect(GUARD_OPERATORS.filter((operator) => !used.has(operator))).toEqual([])
  })

  it('give every verdict and every status', () => {
    const given = vectors.flatMap(({ want }) => want)
    expect([...new Set(given.map(({ verdict }) => verdict))].sort()).toEqual([
      'ALLOW',
      'DENY',
      'UNDETERMINED',
    ])
    expect([...new Set(given.map((one) => one.ruleset_status))].sort()).toEqual([
      'APPLIED',
      'INVALID',
      'MISSING',
    ])
  })

  const sound = { id: 'x', note: 'x', rulesets: [], inputs: {}, at: 0, want: [] }
  it.each([
    ['in a file', { cases: [], extra: 1 }],
    ['in the bases', { bases: { guards: {} }, cases: [] }],
    ['in a case', { cases: [{ ...sound, skip: true }] }],
    ['in a verdict', { cases: [{ ...sound, want: [{ reason: 'x' }] }] }],
  ])('refuse an unknown key %s', (_, file) => {
    expect(() => readEvaluationFile('x', { spec: 'constitution/1', ...file })).toThrow(
      'unknown key',
    )
  })

  it('refuse a name without a base, another format, and inputs given twice', () => {
    const read =
      (row: object, spec = 'constitution/1') =>
      () =>
        readEvaluationFile('x', { spec, cases: [{ ...sound, ...row }] })
    expect(read({ rulesets: ['nobody'] })).toThrow('no base')
    expect(read({ from: 'full' })).toThrow('either inputs or from')
    expect(read({}, 'constitution/2')).toThrow('unknown spec')
    expect(read({})).not.toThrow()
  })
})

function operatorsIn(guard: Guard): readonly string[] {
  if (guard.op === 'AND' || guard.op === 'OR') return [guard.op, ...guard.args.flatMap(operatorsIn)]
  return guard.op === 'NOT' ? [guard.op, ...operatorsIn(guard.arg)] : [guard.op]
}
