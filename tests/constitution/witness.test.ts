/** The witness of an ALLOW that rests on a missing field: some value at that place ends the ALLOW. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CONFLICTS_MAX, type Inputs, surveyRuleset } from '../../src/constitution/index.ts'
import { type AdmittedRuleset, admitRuleset } from '../../src/contracts/index.ts'
import { FULL, LARGE, rulesets } from '../arbitrary/constitution.ts'
import { naiveEvaluate } from '../oracle/naive-kernel.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents of the generator
type Document = any

/** Every word in a value. */
function wordsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(wordsIn) : []
}

/** Values that rules could tell apart at this path; of sets, all with up to two words. */
function valuesFor(path: string, document: Document, witness: Document): readonly unknown[] {
  const scopes = document.rules.map(({ guard, scope }: Document) => [guard, scope ?? null])
  const words = [...new Set([...wordsIn(scopes), ...wordsIn(witness), 'zzz'])]
  if (path.endsWith('supporting_evidence_refs[]')) return [[]]
  if (path.endsWith('[]'))
    return [[], words, ...words.flatMap((one) => words.map((two) => [one, two]))]
  if (!path.includes('.window.')) return words
  const windows = [witness.problem_state.window, witness.permission_set.window]
  const scoped = document.rules.map(({ scope }: Document) => scope?.window ?? {})
  return [...windows, ...scoped].flatMap((window) => Object.values(window)).concat([-5, 999_999])
}

function withValue(witness: Document, path: string, value: unknown): Inputs {
  const filled = structuredClone(witness)
  const [document = '', ...keys] = path.replace('[]', '').split('.')
  const last = keys.pop() ?? ''
  const places = keys[0] === 'subjectRef' ? ['problem_state', 'permission_set'] : [document]
  for (const place of places) {
    let parent = filled[place]
    for (const key of keys) parent = parent[key]
    parent[last] = value
  }
  return filled
}

it('ends with some value at the place that is missing', () => {
  let seen = 0
  fc.assert(
    fc.property(fc.oneof(rulesets(LARGE, 8), rulesets(FULL, 6)), (document: Document) => {
      const ruleset = admitRuleset(document).ruleset as AdmittedRuleset
      const say = (inputs: Inputs) =>
        naiveEvaluate([document], inputs).find((one) => one.action_code === document.action_code)
          ?.verdict
      for (const { path, witness } of surveyRuleset(ruleset, { conflicts: CONFLICTS_MAX })
        .missing_allows) {
        expect(say(witness)).toBe('ALLOW')
        const other = valuesFor(path, document, witness).some(
          (value) => say(withValue(witness, path, value)) !== 'ALLOW',
        )
        expect(other).toBe(true)
        seen++
      }
    }),
    { numRuns: 200, endOnFailure: true },
  )
  expect(seen).toBeGreaterThan(50)
})
