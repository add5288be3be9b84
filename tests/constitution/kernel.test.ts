/** The kernel against the naive one, and its laws. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestDocument } from '../../src/base/index.ts'
import {
  type Constitution,
  establish,
  type Inputs,
  type KernelVersion,
} from '../../src/constitution/index.ts'
import { controlVerdict, GUARD_PATHS, validate } from '../../src/contracts/index.ts'
import { inputs, rulesets } from '../arbitrary/constitution.ts'
import { runs } from '../arbitrary/runs.ts'
import { naiveEvaluate } from '../oracle/naive-kernel.ts'

const RUNS = Number(process.env['WRIT_ORACLE_RUNS'] ?? 1500)

const words = (constitution: Constitution, input: Inputs) =>
  constitution
    .evaluate(input, 5)
    .map(({ action_code, verdict, rule_ref }) => [action_code, verdict, rule_ref])

describe('the kernel', () => {
  it(`agrees with the naive kernel on ${RUNS} rulesets, six inputs each`, () => {
    fc.assert(
      fc.property(
        rulesets(),
        rulesets(),
        fc.array(inputs, { minLength: 6, maxLength: 6 }),
        (one, two, cases) => {
          const files = one['action_code'] === two['action_code'] ? [one] : [one, two]
          const constitution = establish(files.map((document) => ({ document })))
          for (const input of cases) {
            const verdicts = constitution.evaluate(input, 5)
            expect(
              verdicts.map(({ action_code, verdict, rule_ref }) => ({
                action_code,
                verdict,
                rule_ref,
              })),
            ).toEqual(naiveEvaluate(files, input))
            for (const verdict of verdicts)
              expect(validate(controlVerdict, verdict).violations).toEqual([])
          }
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('gives the same bytes twice, and the time takes no part in the id', () => {
    fc.assert(
      fc.property(rulesets(), inputs, (document, input) => {
        const [one, two] = [
          establish([{ document }]),
          establish([{ document: structuredClone(document) }]),
        ]
        expect(JSON.stringify(one.evaluate(input, 5))).toBe(
          JSON.stringify(two.evaluate(structuredClone(input), 5)),
        )
        expect(one.evaluate(input, 6).map(({ verdict_id }) => verdict_id)).toEqual(
          one.evaluate(input, 5).map(({ verdict_id }) => verdict_id),
        )
      }),
      { numRuns: runs(300) },
    )
  })

  it('gives the same verdicts when inputs_used lists more (seed 002 §6)', () => {
    const every = fc.constantFrom<readonly string[]>(GUARD_PATHS, ['permission_set.subjectRef'])
    fc.assert(
      fc.property(
        rulesets(),
        every,
        fc.array(inputs, { minLength: 6 }),
        (document, more, cases) => {
          const rules = document['rules'] as readonly { readonly inputs_used: readonly string[] }[]
          const wider = {
            ...document,
            rules: rules.map((rule) => ({
              ...rule,
              inputs_used: [...new Set([...rule.inputs_used, ...more])],
            })),
          }
          const [one, two] = [establish([{ document }]), establish([{ document: wider }])]
          for (const input of cases) expect(words(two, input)).toEqual(words(one, input))
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  it('computes a record of version 1 by the rules of its time', () => {
    const rule = {
      rule_id: 'whole',
      rule_version: '1.0.0',
      rule_owner: 'Control Constitution',
      action_code: 'AO-APPLY',
      inputs_used: ['permission_set.subjectRef'],
      scope: { subjectRef: { projectId: 'farm' } },
      guard: { op: 'EXISTS', field: 'permission_set.subjectRef' },
      verdict: 'DENY',
    }
    const document = {
      type: 'ruleset_v0',
      schema_version: '0.1.0',
      ruleset_id: 'rs',
      action_code: 'AO-APPLY',
      combine_strategy: 'FIRST_MATCH',
      rules: [rule],
    }
    const of = (subjectRef: object): Inputs => ({
      problem_state: { problem_state_id: 'state-01', subjectRef },
      uncertainty_envelope: { problem_state_ref: 'state-01' },
      permission_set: { subjectRef, candidate_actions: ['AO-APPLY'] },
    })
    const finer = of({ projectId: 'farm', plotId: 'p7' })
    const wordOf = (version: KernelVersion, input: Inputs) =>
      establish([{ document }], {}, version).decide(input, 'AO-APPLY').verdict
    expect([wordOf('1', finer), wordOf('2', finer)]).toEqual(['UNDETERMINED', 'DENY'])
    expect(wordOf('1', of({ projectId: 'farm' }))).toBe('DENY')
  })

  it('says the same word alone as in a verdict', () => {
    fc.assert(
      fc.property(rulesets(), inputs, (document, input) => {
        const constitution = establish([{ document }])
        for (const { action_code, verdict, rule_ref } of constitution.evaluate(input, 0)) {
          const decision = constitution.decide(input, action_code)
          expect([decision.verdict, decision.ruleRef]).toEqual([verdict, rule_ref ?? null])
        }
      }),
      { numRuns: runs(500) },
    )
  })

  it('decides nothing about an action that is no candidate', () => {
    const rule = {
      rule_id: 'always',
      rule_version: '1.0.0',
      rule_owner: 'Control Constitution',
      action_code: 'AO-APPLY',
      inputs_used: ['permission_set.subjectRef'],
      guard: { op: 'EXISTS', field: 'permission_set.subjectRef' },
      verdict: 'ALLOW',
    }
    const constitution = establish([
      {
        document: {
          type: 'ruleset_v0',
          schema_version: '0.1.0',
          ruleset_id: 'rs',
          action_code: 'AO-APPLY',
          combine_strategy: 'FIRST_MATCH',
          rules: [rule],
        },
      },
    ])
    const wordFor = (candidate_actions: readonly string[]) =>
      constitution.decide(
        {
          problem_state: { problem_state_id: 'p', subjectRef: {} },
          uncertainty_envelope: { problem_state_ref: 'p' },
          permission_set: { subjectRef: {}, candidate_actions },
        },
        'AO-APPLY',
      ).verdict
    expect(wordFor(['AO-SENSE', 'AO-APPLY'])).toBe('ALLOW')
    expect(wordFor(['AO-SENSE'])).toBe('UNDETERMINED')
    expect(wordFor([])).toBe('UNDETERMINED')
  })

  it('names the digest of the file where one is handed in', () => {
    const document = { type: 'ruleset_v0', action_code: 'AO-APPLY' }
    const input = { permission_set: { candidate_actions: ['AO-APPLY'] } }
    const refs = (ref: string) =>
      establish([{ document, ref }])
        .evaluate(input, 0)
        .map(({ ruleset_ref }) => ruleset_ref)
    const digest = `sha256:${'a'.repeat(64)}`
    expect(refs(digest)).toEqual([digest])
    expect(refs('rules.yaml')).toEqual([digestDocument(document)])
  })

  it('never throws, and gives nothing but valid verdicts, on any value', () => {
    const claiming = fc
      .tuple(fc.dictionary(fc.string(), fc.anything()), fc.constantFrom('AO-APPLY', 'AO-SENSE'))
      .map(([rest, action_code]) => ({ ...rest, action_code }))
    const asking = fc.record({
      permission_set: fc.record({
        candidate_actions: fc.array(
          fc.oneof(
            fc.constantFrom('AO-APPLY', 'AO-SENSE'),
            fc.string({ unit: 'binary' }),
            fc.anything(),
          ),
        ),
        subjectRef: fc.anything(),
        window: fc.record({ startTs: fc.double(), endTs: fc.anything() }),
      }),
    })
    fc.assert(
      fc.property(
        fc.array(fc.oneof(claiming, fc.anything()), { maxLength: 3 }),
        fc.oneof(asking, fc.anything()),
        (documents, input) => {
          const constitution = establish(documents.map((document) => ({ document })))
          for (const verdict of constitution.evaluate(input as Inputs, 7)) {
            expect(validate(controlVerdict, verdict).violations).toEqual([])
            expect(verdict.verdict).toBe('UNDETERMINED')
          }
          constitution.decide(input as Inputs, 'AO-APPLY')
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  it('says nothing about a ruleset that has no canonical form but that it is invalid', () => {
    const loop: Record<string, unknown> = { action_code: 'AO-APPLY' }
    loop['self'] = loop
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)
    for (const rest of [{ x: '\ud800' }, { x: Number.NaN }, { x: deep }, loop]) {
      const [verdict] = establish([{ document: { action_code: 'AO-APPLY', ...rest } }]).evaluate(
        { permission_set: { candidate_actions: ['AO-APPLY'] } },
        0,
      )
      expect(verdict).toMatchObject({ ruleset_status: 'INVALID', ruleset_ref: 'MISSING' })
    }
  })
})
