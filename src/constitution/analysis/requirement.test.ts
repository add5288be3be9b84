/** Requirements that clash are a proof: the two formulas never hold together. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FULL, rulesets } from '../../../tests/arbitrary/constitution.ts'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { type AdmittedRuleset, admitRuleset } from '../../contracts/index.ts'
import { Formulas } from './formula.ts'
import { CONFLICTS_MAX, Inquiry } from './inquiry.ts'
import { clash, RequirementBook } from './requirement.ts'

it('clash only where nothing matches both', () => {
  let clashes = 0
  fc.assert(
    fc.property(rulesets(FULL, 8), (document) => {
      const ruleset = admitRuleset(document).ruleset as AdmittedRuleset
      const inquiry = new Inquiry([ruleset], [], [ruleset.actionCode], { conflicts: CONFLICTS_MAX })
      const matches = ruleset.rules.flatMap((rule) => {
        const match = inquiry.world.rule(rule)
        return [match, -match]
      })
      for (const one of matches)
        for (const two of matches) {
          const { requirements } = inquiry
          if (!clash(requirements.of(one), requirements.of(two))) continue
          expect(inquiry.model([one, two])).toBe(null)
          clashes++
        }
    }),
    { numRuns: runs(200) },
  )
  expect(clashes).toBeGreaterThan(1000)
})

it('of several, any of which may hold, are what all of them require', () => {
  const formulas = new Formulas()
  const book = new RequirementBook(formulas)
  const group = formulas.exclusiveGroup()
  const [a, b, c, d] = [1, 2, 3, 4].map(() => formulas.variable()) as [
    number,
    number,
    number,
    number,
  ]
  const [x, y, z] = [1, 2, 3].map(() => formulas.variable(false, group)) as [number, number, number]
  const most = formulas.some([formulas.every([a, b]), formulas.every([a, c]), d])
  expect(clash(book.of(most), book.of(formulas.every([-a, d])))).toBe(false)
  const all = formulas.some([
    formulas.every([a, b]),
    formulas.every([a, c]),
    formulas.every([a, d]),
  ])
  expect(clash(book.of(all), book.of(-a))).toBe(true)
  expect(clash(book.of(formulas.some([x, y])), book.of(y))).toBe(false)
  expect(clash(book.of(formulas.some([x, y])), book.of(z))).toBe(true)
})
