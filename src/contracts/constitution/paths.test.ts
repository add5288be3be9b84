/** The 28 paths, as a literal list that never follows the code. */
import { describe, expect, it } from 'vitest'
import { GUARD_PATHS, isGuardPath, type PathKind, pathRow, WINDOW_LEAVES } from './paths.ts'

const LITERAL: readonly (readonly [string, PathKind])[] = [
  ['problem_state.subjectRef', 'object'],
  ['problem_state.subjectRef.projectId', 'scalar'],
  ['problem_state.subjectRef.groupId', 'scalar'],
  ['problem_state.subjectRef.plotId', 'scalar'],
  ['problem_state.subjectRef.blockId', 'scalar'],
  ['problem_state.window.startTs', 'window'],
  ['problem_state.window.endTs', 'window'],
  ['problem_state.problem_type', 'scalar'],
  ['problem_state.confidence', 'scalar'],
  ['problem_state.problem_scope', 'scalar'],
  ['problem_state.state_layer_hint', 'scalar'],
  ['problem_state.rate_class_hint', 'scalar'],
  ['problem_state.uncertainty_sources[]', 'set'],
  ['problem_state.supporting_evidence_refs[]', 'existence'],
  ['uncertainty_envelope.problem_state_ref', 'scalar'],
  ['uncertainty_envelope.uncertainty_sources[]', 'set'],
  ['uncertainty_envelope.supporting_evidence_refs[]', 'existence'],
  ['permission_set.subjectRef', 'object'],
  ['permission_set.subjectRef.projectId', 'scalar'],
  ['permission_set.subjectRef.groupId', 'scalar'],
  ['permission_set.subjectRef.plotId', 'scalar'],
  ['permission_set.subjectRef.blockId', 'scalar'],
  ['permission_set.window.startTs', 'window'],
  ['permission_set.window.endTs', 'window'],
  ['permission_set.scale', 'scalar'],
  ['permission_set.action_taxonomy_ref', 'existence'],
  ['permission_set.candidate_actions[].action_code', 'set'],
  ['permission_set.supporting_evidence_refs[]', 'existence'],
]

describe('the paths', () => {
  it('are exactly these 28, each of its kind', () => {
    expect(LITERAL).toHaveLength(28)
    expect(GUARD_PATHS.map((path) => [path, pathRow(path).kind])).toEqual(LITERAL)
  })

  it('have a vocabulary where the field has one', () => {
    const withWords = GUARD_PATHS.filter((path) => pathRow(path).vocabulary !== null)
    expect(withWords).toEqual([
      'problem_state.problem_type',
      'problem_state.confidence',
      'problem_state.problem_scope',
      'problem_state.state_layer_hint',
      'problem_state.rate_class_hint',
      'problem_state.uncertainty_sources[]',
      'uncertainty_envelope.uncertainty_sources[]',
      'permission_set.candidate_actions[].action_code',
    ])
  })

  it('are own names only', () => {
    for (const name of ['__proto__', 'constructor', 'toString', '', null, 3]) {
      expect(isGuardPath(name)).toBe(false)
    }
  })

  it('has four window leaves', () => {
    expect([...WINDOW_LEAVES].sort()).toEqual(
      GUARD_PATHS.filter((path) => pathRow(path).kind === 'window').sort(),
    )
  })
})
