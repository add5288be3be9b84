/**
 * What witnesses promise: that of an ALLOW which rests on a missing field ends with some value at that
 * place, and a witness is made of valid documents where there are such.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CONFLICTS_MAX, type Inputs, prove, surveyRuleset } from '../../src/constitution/index.ts'
import {
  type AdmittedRuleset,
  admitRuleset,
  CONFIDENCES,
  ENVELOPE_UNCERTAINTY_SOURCES,
  PROBLEM_SCOPES,
  PROBLEM_TYPES,
  permissionSet,
  problemState,
  RATE_CLASS_HINTS,
  STATE_LAYER_HINTS,
  STATE_UNCERTAINTY_SOURCES,
  uncertaintyEnvelope,
  VERDICTS,
  validate,
} from '../../src/contracts/index.ts'
import { FULL, LARGE, rulesets } from '../arbitrary/constitution.ts'
import { runs } from '../arbitrary/runs.ts'
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
    { numRuns: runs(200), endOnFailure: true },
  )
  expect(seen).toBeGreaterThan(50)
})

const plausibleInputs = fc
  .record({
    words: fc.record({
      problem_type: fc.constantFrom(...PROBLEM_TYPES),
      confidence: fc.constantFrom(...CONFIDENCES),
      problem_scope: fc.constantFrom(...PROBLEM_SCOPES),
      state_layer_hint: fc.constantFrom(...STATE_LAYER_HINTS),
      rate_class_hint: fc.constantFrom(...RATE_CLASS_HINTS),
    }),
    state: fc.subarray([...STATE_UNCERTAINTY_SOURCES], { minLength: 1, maxLength: 3 }),
    envelope: fc.subarray([...ENVELOPE_UNCERTAINTY_SOURCES], { maxLength: 3 }),
    subject: fc.record(
      { projectId: fc.constantFrom('a', 'b'), blockId: fc.constantFrom('a', 'b') },
      { requiredKeys: ['projectId'] },
    ),
    scale: fc.constantFrom('a', 'b', 'plot'),
    starts: fc.tuple(fc.constantFrom(1, 2), fc.constantFrom(1, 2)),
  })
  .map(({ words, state, envelope, subject, scale, starts: [one, two] }) => ({
    problem_state: {
      type: 'problem_state_v1',
      schema_version: '1.0.0',
      problem_state_id: 'ps-00001',
      created_at_ts: 1,
      scale: 'plot',
      subjectRef: subject,
      window: { startTs: one, endTs: 3 },
      uncertainty_sources: state,
      ...words,
    },
    uncertainty_envelope: {
      type: 'uncertainty_envelope_v0',
      schema_version: '0.1.0',
      problem_state_ref: 'ps-00001',
      uncertainty_sources: envelope,
    },
    permission_set: {
      type: 'permission_set_v0',
      schema_version: '0.1.0',
      permission_set_id: 'perm-001',
      created_at_ts: 1,
      subjectRef: subject,
      scale,
      window: { startTs: two, endTs: 3 },
      candidate_actions: [{ action_code: 'AO-ENTER' }, { action_code: 'AO-APPLY' }],
    },
  }))

const CONTRACTS = {
  problem_state: problemState,
  uncertainty_envelope: uncertaintyEnvelope,
  permission_set: permissionSet,
} as const

function violationsOf(documents: Inputs): readonly unknown[] {
  return (['problem_state', 'uncertainty_envelope', 'permission_set'] as const).flatMap(
    (key) => validate(CONTRACTS[key], documents[key]).violations,
  )
}

it('is made of valid documents where valid documents show the same', () => {
  fc.assert(
    fc.property(
      fc.oneof(rulesets(FULL, 4), rulesets(LARGE, 6)),
      plausibleInputs,
      (document: Document, shown) => {
        expect(violationsOf(shown)).toEqual([])
        const ruleset = admitRuleset(document).ruleset as AdmittedRuleset
        const [said] = naiveEvaluate([document], shown).filter(
          ({ action_code }) => action_code === document.action_code,
        )
        const verdict = VERDICTS.find((word) => word === said?.verdict) ?? 'UNDETERMINED'
        const budget = { conflicts: CONFLICTS_MAX }
        const proof = prove([ruleset], { kind: 'never', verdict, when: null }, budget)
        expect(proof.proved).toBe(false)
        if (!proof.proved) expect(violationsOf(proof.counterexample)).toEqual([])
      },
    ),
    { numRuns: runs(500), endOnFailure: true },
  )
})
