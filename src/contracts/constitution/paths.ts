/**
 * The 28 paths of guards (K-1a), written in full: no prefixes, no indices, and no way to add one.
 *
 * A path has a kind, and the kind says which operators fit it: EQ and IN read scalars, INTERSECTS
 * reads sets, WINDOW_MATCH reads the window leaves, and EXISTS may ask for any path. A path that is
 * for existence only is never read by anything but EXISTS.
 */
import {
  CONFIDENCES,
  ENVELOPE_UNCERTAINTY_SOURCES,
  PROBLEM_SCOPES,
  PROBLEM_TYPES,
  RATE_CLASS_HINTS,
  STATE_LAYER_HINTS,
  STATE_UNCERTAINTY_SOURCES,
} from './vocabulary.ts'

export type PathKind = 'scalar' | 'set' | 'window' | 'object' | 'existence'

export interface PathRow {
  readonly kind: PathKind
  /** The words it may hold; `registry` means the action codes in force, null any text. */
  readonly vocabulary: readonly string[] | 'registry' | null
}

const row = <const K extends PathKind>(kind: K, vocabulary: PathRow['vocabulary'] = null) => ({
  kind,
  vocabulary,
})

export const PATHS = {
  'problem_state.subjectRef': row('object'),
  'problem_state.subjectRef.projectId': row('scalar'),
  'problem_state.subjectRef.groupId': row('scalar'),
  'problem_state.subjectRef.plotId': row('scalar'),
  'problem_state.subjectRef.blockId': row('scalar'),
  'problem_state.window.startTs': row('window'),
  'problem_state.window.endTs': row('window'),
  'problem_state.problem_type': row('scalar', PROBLEM_TYPES),
  'problem_state.confidence': row('scalar', CONFIDENCES),
  'problem_state.problem_scope': row('scalar', PROBLEM_SCOPES),
  'problem_state.state_layer_hint': row('scalar', STATE_LAYER_HINTS),
  'problem_state.rate_class_hint': row('scalar', RATE_CLASS_HINTS),
  'problem_state.uncertainty_sources[]': row('set', STATE_UNCERTAINTY_SOURCES),
  'problem_state.supporting_evidence_refs[]': row('existence'),
  'uncertainty_envelope.problem_state_ref': row('scalar'),
  'uncertainty_envelope.uncertainty_sources[]': row('set', ENVELOPE_UNCERTAINTY_SOURCES),
  'uncertainty_envelope.supporting_evidence_refs[]': row('existence'),
  'permission_set.subjectRef': row('object'),
  'permission_set.subjectRef.projectId': row('scalar'),
  'permission_set.subjectRef.groupId': row('scalar'),
  'permission_set.subjectRef.plotId': row('scalar'),
  'permission_set.subjectRef.blockId': row('scalar'),
  'permission_set.window.startTs': row('window'),
  'permission_set.window.endTs': row('window'),
  'permission_set.scale': row('scalar'),
  'permission_set.action_taxonomy_ref': row('existence'),
  'permission_set.candidate_actions[].action_code': row('set', 'registry'),
  'permission_set.supporting_evidence_refs[]': row('existence'),
} as const satisfies Record<string, PathRow>

export type GuardPath = keyof typeof PATHS

type PathOf<K extends PathKind> = {
  [P in GuardPath]: (typeof PATHS)[P]['kind'] extends K ? P : never
}[GuardPath]

/** What EQ and IN may read. */
export type ScalarPath = PathOf<'scalar'>

/** What INTERSECTS may read. */
export type SetPath = PathOf<'set'>

export const GUARD_PATHS = Object.keys(PATHS) as readonly GuardPath[] // the literal's own keys

/** What WINDOW_MATCH reads. */
export const WINDOW_LEAVES = [
  'problem_state.window.startTs',
  'problem_state.window.endTs',
  'permission_set.window.startTs',
  'permission_set.window.endTs',
] as const satisfies readonly GuardPath[]

export function isGuardPath(path: unknown): path is GuardPath {
  return typeof path === 'string' && Object.hasOwn(PATHS, path)
}

/** The row of a path, seen without its literal type. */
export function pathRow(path: GuardPath): PathRow {
  return PATHS[path]
}
