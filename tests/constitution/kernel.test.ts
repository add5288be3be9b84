/** The kernel against the naive one, and its laws. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { establish } from '../../src/constitution/index.ts'
import { controlVerdict, validate } from '../../src/contracts/index.ts'
import { inputs, rulesets } from '../arbitrary/constitution.ts'
import { naiveEvaluate } from '../oracle/naive-kernel.ts'

const RUNS = Number(process.env['WRIT_ORACLE_RUNS'] ?? 3000)

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
      { numRuns: 300 },
    )
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
      { numRuns: 500 },
    )
  })
})
