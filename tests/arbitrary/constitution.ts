/** Random rulesets and inputs, small enough that everything collides. */
import fc from 'fast-check'
import {
  ACTION_CODES,
  GUARD_PATHS,
  type Guard,
  type GuardPath,
  pathRow,
  pathsRead,
  type ScalarPath,
  type SetPath,
  WINDOW_LEAVES,
} from '../../src/contracts/index.ts'

const byKind = (kind: string) => GUARD_PATHS.filter((path) => pathRow(path).kind === kind)

const SCALARS = byKind('scalar') as ScalarPath[]
const SETS = byKind('set') as SetPath[]

/** A few words a path, so that guards and inputs meet. */
export function wordsOf(path: GuardPath): readonly string[] {
  const { vocabulary } = pathRow(path)
  if (vocabulary === 'registry') return ['AO-ENTER', 'AO-APPLY', 'AO-SENSE']
  return vocabulary === null ? ['a', 'b'] : vocabulary.slice(0, 3)
}

const atom = ({ scalars, sets, any, wordsOf }: Required<Vocabulary>): fc.Arbitrary<Guard> => {
  const words = (path: GuardPath, limits: { minLength: number; maxLength: number }) =>
    fc.uniqueArray(fc.constantFrom(...wordsOf(path)), limits)
  return fc.oneof(
    fc
      .constantFrom(...scalars)
      .chain((field) =>
        fc.constantFrom(...wordsOf(field)).map((value): Guard => ({ op: 'EQ', field, value })),
      ),
    fc
      .constantFrom(...scalars)
      .chain((field) =>
        words(field, { minLength: 1, maxLength: 3 }).map(
          (set): Guard => ({ op: 'IN', field, set }),
        ),
      ),
    fc.constantFrom(...any).map((field): Guard => ({ op: 'EXISTS', field })),
    fc
      .constantFrom(...sets)
      .chain((left) =>
        words(left, { minLength: 1, maxLength: 2 }).map(
          (right): Guard => ({ op: 'INTERSECTS', left, right }),
        ),
      ),
    fc
      .constantFrom(...sets)
      .chain((right) =>
        words(right, { minLength: 1, maxLength: 2 }).map(
          (left): Guard => ({ op: 'INTERSECTS', left, right }),
        ),
      ),
    fc
      .tuple(fc.constantFrom(...sets), fc.constantFrom(...sets))
      .map(([left, right]): Guard => ({ op: 'INTERSECTS', left, right })),
    fc.constant<Guard>({ op: 'WINDOW_MATCH' }),
  )
}

export interface Vocabulary {
  readonly scalars: readonly ScalarPath[]
  readonly sets: readonly SetPath[]
  readonly any: readonly GuardPath[]
  /** The words of a path that guards speak of; a few, unless said. */
  readonly wordsOf?: (path: GuardPath) => readonly string[]
}

export const FULL: Vocabulary = { scalars: SCALARS, sets: SETS, any: GUARD_PATHS }

/** All the words that there are, and as many ids. */
export const LARGE: Vocabulary = {
  ...FULL,
  wordsOf: (path) => {
    const { vocabulary } = pathRow(path)
    if (vocabulary === 'registry') return ACTION_CODES
    return vocabulary ?? ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  },
}

export function guards(vocabulary: Vocabulary = FULL, depth = 3): fc.Arbitrary<Guard> {
  const leaf = atom({ wordsOf, ...vocabulary })
  if (depth === 0) return leaf
  const inner = guards(vocabulary, depth - 1)
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('AND', 'OR'), fc.array(inner, { minLength: 1, maxLength: 3 }))
        .map(([op, args]) => ({ op, args }) as Guard),
    },
    { weight: 1, arbitrary: inner.map((arg): Guard => ({ op: 'NOT', arg })) },
  )
}

const subjectArbitrary = fc.record(
  {
    projectId: fc.constantFrom('a', 'b'),
    groupId: fc.constantFrom('a', 'b'),
    plotId: fc.constantFrom('a', 'b'),
    blockId: fc.constantFrom('a', 'b'),
  },
  { requiredKeys: [] },
)

const scopes = fc
  .record(
    {
      subjectRef: subjectArbitrary.filter((subject) => Object.keys(subject).length > 0),
      scale: fc.constantFrom('a', 'b'),
      window: fc.constantFrom(
        { startTs: 1, endTs: 2 },
        { startTs: 1, endTs: 3 },
        { startTs: 2, endTs: 3 },
      ),
    },
    { requiredKeys: [] },
  )
  .filter((scope) => Object.keys(scope).length > 0)

interface ScopeShape {
  readonly subjectRef?: object
  readonly scale?: string
  readonly window?: object
}

function scopePaths(scope: ScopeShape | null, whole: boolean): readonly string[] {
  const subject =
    scope?.subjectRef === undefined
      ? []
      : whole
        ? ['permission_set.subjectRef']
        : Object.keys(scope.subjectRef).map((leaf) => `permission_set.subjectRef.${leaf}`)
  return [
    ...subject,
    ...(scope?.scale === undefined ? [] : ['permission_set.scale']),
    ...(scope?.window === undefined
      ? []
      : ['permission_set.window.startTs', 'permission_set.window.endTs']),
  ]
}

/** Admissible rulesets with guards as trees. */
export function rulesets(
  vocabulary: Vocabulary = FULL,
  maxRules = 5,
  scoped = true,
): fc.Arbitrary<Record<string, unknown>> {
  const rule = fc.record({
    guard: guards(vocabulary),
    verdict: fc.constantFrom('ALLOW', 'DENY', 'UNDETERMINED'),
    scope: scoped ? fc.option(scopes, { freq: 2, nil: null }) : fc.constant(null),
    whole: fc.boolean(),
  })
  return fc
    .record({
      action_code: fc.constantFrom('AO-ENTER', 'AO-APPLY'),
      combine_strategy: fc.constantFrom('FIRST_MATCH', 'DENY_OVERRIDES'),
      rules: fc.array(rule, { minLength: 1, maxLength: maxRules, size: 'max' }),
    })
    .map(({ action_code, combine_strategy, rules }) => ({
      type: 'ruleset_v0',
      schema_version: '0.1.0',
      ruleset_id: `rs-${action_code}`,
      action_code,
      combine_strategy,
      rules: rules.map(({ guard, verdict, scope, whole }, index) => ({
        rule_id: `r${index}`,
        rule_version: '1.0.0',
        rule_owner: 'Control Constitution',
        action_code,
        inputs_used: [
          ...new Set([
            ...pathsRead(guard),
            ...scopePaths(scope, whole),
            ...(hasWindowMatch(guard) ? WINDOW_LEAVES : []),
          ]),
        ],
        ...(scope === null ? {} : { scope }),
        guard,
        verdict,
      })),
    }))
}

function hasWindowMatch(guard: Guard): boolean {
  if (guard.op === 'AND' || guard.op === 'OR') return guard.args.some(hasWindowMatch)
  return guard.op === 'NOT' ? hasWindowMatch(guard.arg) : guard.op === 'WINDOW_MATCH'
}

/** Present, missing, null, or of the wrong JSON type. */
const odd = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 8, arbitrary: usual as fc.Arbitrary<unknown> },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        undefined,
        null,
        7,
        true,
        '',
        'zzz',
        [],
        {},
        [3],
        ['zzz'],
        { a: 1 },
      ),
    },
  )

const scalar = (path: ScalarPath) => odd(fc.constantFrom(...wordsOf(path), 'zzz'))
const set = (path: SetPath) =>
  odd(fc.array(fc.constantFrom<unknown>(...wordsOf(path), 'zzz', 3), { maxLength: 3 }))
const moment = odd(fc.constantFrom(1, 2, 3, 9))
const window = odd(fc.record({ startTs: moment, endTs: moment }))
const evidence = odd(fc.constantFrom<unknown>([], [{ kind: 'ledger_slice', ref_id: 'x' }]))

export const inputs: fc.Arbitrary<Record<string, unknown>> = fc
  .record({
    subject: odd(subjectArbitrary),
    otherSubject: odd(subjectArbitrary),
    bound: fc.integer({ min: 0, max: 9 }),
    state: fc.record({
      window,
      problem_type: scalar('problem_state.problem_type'),
      confidence: scalar('problem_state.confidence'),
      problem_scope: scalar('problem_state.problem_scope'),
      state_layer_hint: scalar('problem_state.state_layer_hint'),
      rate_class_hint: scalar('problem_state.rate_class_hint'),
      uncertainty_sources: set('problem_state.uncertainty_sources[]'),
      supporting_evidence_refs: evidence,
    }),
    ref: fc.constantFrom('a', 'b', 'c'),
    envelope: fc.record({
      uncertainty_sources: set('uncertainty_envelope.uncertainty_sources[]'),
      supporting_evidence_refs: evidence,
    }),
    permission: fc.record({
      window,
      scale: scalar('permission_set.scale'),
      action_taxonomy_ref: odd(fc.constant('t')),
      supporting_evidence_refs: evidence,
      candidate_actions: odd(
        fc.array(
          fc.oneof(
            fc.constantFrom('AO-ENTER', 'AO-APPLY', 'AO-SENSE', 'XX'),
            fc.constantFrom('AO-ENTER', 'AO-APPLY').map((action_code) => ({ action_code })),
          ),
          { maxLength: 4 },
        ),
      ),
    }),
  })
  .map(({ subject, otherSubject, bound, state, ref, envelope, permission }) => ({
    problem_state: { problem_state_id: ref, subjectRef: subject, ...state },
    uncertainty_envelope: { problem_state_ref: bound === 0 ? 'other' : ref, ...envelope },
    permission_set: { subjectRef: bound === 1 ? otherSubject : subject, ...permission },
  }))
