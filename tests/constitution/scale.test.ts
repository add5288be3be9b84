/**
 * The analysis of many rules, and of rules made to be hard: seconds, or the budget is used up, and
 * never a hang. What it says about a thousand rules is held against the kernel.
 */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  BudgetSpent,
  CONFLICTS_MAX,
  difference,
  establish,
  type Inputs,
  prove,
  surveyRuleset,
  surveyRulesets,
} from '../../src/constitution/index.ts'
import {
  type AdmittedRuleset,
  admitRuleset,
  CONFIDENCES,
  ENVELOPE_UNCERTAINTY_SOURCES,
  type Guard,
  PROBLEM_TYPES,
  pathsRead,
  type ScalarPath,
  STATE_UNCERTAINTY_SOURCES,
} from '../../src/contracts/index.ts'
import { FULL, inputs, rulesets } from '../arbitrary/constitution.ts'
import { runs } from '../arbitrary/runs.ts'
import { naiveHolds } from '../oracle/naive-kernel.ts'

/** Work is what is bounded here; a busy machine may take its time. */
vi.setConfig({ testTimeout: 300_000 })

// biome-ignore lint/suspicious/noExplicitAny: documents of the generator
type Document = any

const TYPE = 'problem_state.problem_type'
const STATE = 'problem_state.uncertainty_sources[]'
const ENVELOPE = 'uncertainty_envelope.uncertainty_sources[]'

function rule(index: number, guard: Guard, verdict: string, scope?: Document): Document {
  const leaves = (key: string) =>
    Object.keys(scope?.[key] ?? {}).map((leaf) => `permission_set.${key}.${leaf}`)
  const scaled = scope?.scale === undefined ? [] : ['permission_set.scale']
  const scoped = [...leaves('subjectRef'), ...scaled, ...leaves('window')]
  return {
    rule_id: `r${index}`,
    rule_version: '1.0.0',
    rule_owner: 'Control Constitution',
    action_code: 'AO-APPLY',
    inputs_used: [...new Set([...pathsRead(guard), ...scoped])],
    ...(scope === undefined ? {} : { scope }),
    guard,
    verdict,
  }
}

function rulesetOf(rules: readonly Document[], action_code = 'AO-APPLY'): Document {
  return {
    type: 'ruleset_v0',
    schema_version: '0.1.0',
    ruleset_id: 'rs',
    action_code,
    combine_strategy: 'DENY_OVERRIDES',
    rules: rules.map((one) => ({ ...one, action_code })),
  }
}

function admitted(document: Document, context = {}): AdmittedRuleset {
  const { ruleset, violations } = admitRuleset(document, { context })
  expect(violations).toEqual([])
  return ruleset as AdmittedRuleset
}

const wordIn = (path: typeof STATE | typeof ENVELOPE, ...words: string[]): Guard => ({
  op: 'INTERSECTS',
  left: path,
  right: words,
})

/** Rules as farms write them: a type, and some of confidence, sources, evidence, window and place. */
const ordinary = fc
  .record({
    type: fc.constantFrom(...PROBLEM_TYPES),
    confidence: fc.option(
      fc.uniqueArray(fc.constantFrom(...CONFIDENCES), { minLength: 2, maxLength: 2 }),
    ),
    source: fc.option(fc.constantFrom(...STATE_UNCERTAINTY_SOURCES)),
    envelope: fc.option(fc.constantFrom(...ENVELOPE_UNCERTAINTY_SOURCES)),
    evidence: fc.option(fc.constant(true)),
    window: fc.option(fc.constant(true)),
    project: fc.option(fc.integer({ min: 0, max: 50 }), { freq: 4 }),
    verdict: fc.constantFrom('ALLOW', 'ALLOW', 'DENY', 'DENY', 'UNDETERMINED'),
  })
  .map(({ type, confidence, source, envelope, evidence, window, project, verdict }) => {
    const args: Guard[] = [{ op: 'EQ', field: TYPE, value: type }]
    if (confidence !== null)
      args.push({ op: 'IN', field: 'problem_state.confidence', set: confidence })
    if (source !== null) args.push(wordIn(STATE, source))
    if (envelope !== null) args.push({ op: 'NOT', arg: wordIn(ENVELOPE, envelope) })
    if (evidence !== null)
      args.push({ op: 'EXISTS', field: 'permission_set.supporting_evidence_refs[]' })
    if (window !== null) args.push({ op: 'WINDOW_MATCH' })
    const scope = project === null ? undefined : { subjectRef: { projectId: `farm-${project}` } }
    return { guard: { op: 'AND', args } as Guard, verdict, scope }
  })

function ordinaryRules(count: number, seed: number): readonly Document[] {
  return fc
    .sample(ordinary, { numRuns: count, seed })
    .map(({ guard, verdict, scope }, index) => rule(index, guard, verdict, scope))
}

describe('a thousand rules', () => {
  it('in one ruleset are surveyed in seconds, and the answers hold', () => {
    const never: Guard = {
      op: 'AND',
      args: [
        { op: 'EQ', field: TYPE, value: 'EVIDENCE_STALE' },
        { op: 'NOT', arg: { op: 'EXISTS', field: TYPE } },
      ],
    }
    const document = rulesetOf([
      ...ordinaryRules(998, 7),
      rule(998, never, 'ALLOW'),
      rule(999, { op: 'EXISTS', field: TYPE }, 'UNDETERMINED'),
    ])
    const ruleset = admitted(document)
    const told: number[] = []
    const budget = { conflicts: CONFLICTS_MAX }
    const survey = surveyRuleset(ruleset, budget, (done) => told.push(done))
    expect(CONFLICTS_MAX - budget.conflicts).toBeLessThan(CONFLICTS_MAX / 5)
    expect(told).toEqual([...told].sort((left, right) => left - right))
    expect(told.at(-1)).toBe(1000)
    expect(survey.unreachable.map(({ rule_id }) => rule_id)).toEqual(['r998'])

    const constitution = establish([{ document }])
    const ruleOf = (one: Inputs) =>
      constitution.decide(one, 'AO-APPLY').ruleRef?.replace(/^rs\/(.*)@.*$/, '$1') ?? null
    const guardOf = (id: string) => document.rules[Number(id.slice(1))].guard
    for (const { witness } of survey.gaps) expect(ruleOf(witness)).toBe(null)
    for (const { rule_id, witness } of survey.missing_allows) expect(ruleOf(witness)).toBe(rule_id)
    for (const { allow, denies, witness } of survey.overlaps) {
      expect(naiveHolds(guardOf(allow), witness)).toBe(true)
      expect(naiveHolds(guardOf(denies[0] ?? ''), witness)).toBe(true)
    }
    const beaten = new Set(survey.shadowed.map(({ rule_id }) => rule_id))
    for (const one of fc.sample(inputs, { numRuns: runs(500), seed: 1 }))
      expect(beaten).not.toContain(ruleOf(one))
  })

  it('over a hundred rulesets are surveyed in a second or two', () => {
    const codes = Array.from({ length: 100 }, (_, index) => `ACT-${index}`)
    const rulesets = codes.map((code, index) =>
      admitted(rulesetOf(ordinaryRules(10, index), code), { action_codes: codes }),
    )
    const budget = { conflicts: CONFLICTS_MAX }
    expect(surveyRulesets(rulesets, budget).gaps.length).toBe(100)
    expect(CONFLICTS_MAX - budget.conflicts).toBeLessThan(CONFLICTS_MAX / 50)
  })

  it('are compared and proved about', () => {
    const rules = ordinaryRules(1000, 11)
    const before = admitted(rulesetOf(rules))
    const after = admitted(
      rulesetOf(rules.map((one, index) => (index === 500 ? { ...one, verdict: 'DENY' } : one))),
    )
    const budget = () => ({ conflicts: CONFLICTS_MAX / 4 })
    expect(difference([before], [before], budget())).toEqual([])
    for (const { from, to } of difference([before], [after], budget())) {
      expect(from).not.toBe('DENY')
      expect(to).toBe('DENY')
    }
    const silent: Guard = { op: 'NOT', arg: { op: 'EXISTS', field: TYPE } }
    expect(
      prove([before], { kind: 'always', verdict: 'UNDETERMINED', when: silent }, budget()),
    ).toEqual({ proved: true, isVacuous: false })
    expect(prove([before], { kind: 'never', verdict: 'ALLOW', when: null }, budget()).proved).toBe(
      false,
    )
  })
})

/**
 * Shapes that once took minutes. What is counted is work and not time: a million conflicts' worth is
 * about a quarter of a minute.
 */
describe('many rules of one shape', () => {
  const STRATEGIES = ['FIRST_MATCH', 'DENY_OVERRIDES'] as const
  const verdictAt = (index: number) => ['ALLOW', 'DENY', 'UNDETERMINED'][index % 3] ?? ''
  const equal = (field: ScalarPath, value: string): Guard => ({ op: 'EQ', field, value })
  const not = (arg: Guard): Guard => ({ op: 'NOT', arg })
  const both = (...args: Guard[]): Guard => ({ op: 'AND', args })
  const HIGH = equal('problem_state.confidence', 'HIGH')

  interface Shape {
    readonly count: number
    readonly guard: (index: number) => Guard
    readonly scope?: (index: number) => Document
    readonly verdict?: (index: number) => string
    /** The most work it may take, in conflicts. */
    readonly work: number
    /** Rules that never match, are beaten, overlap, leave gaps, allow because something is missing. */
    readonly found: Readonly<Partial<Record<(typeof STRATEGIES)[number], readonly number[]>>>
  }

  /** Where the two ways to combine ask the solver the same, one of them is looked at. */
  const either = (...found: readonly number[]): Shape['found'] => ({ FIRST_MATCH: found })

  const same = (...found: readonly number[]): Shape['found'] => ({
    FIRST_MATCH: found,
    DENY_OVERRIDES: found,
  })

  const SHAPES: Readonly<Record<string, Shape>> = {
    'a window of its own for each': {
      count: 800,
      guard: () => both(HIGH, { op: 'WINDOW_MATCH' }),
      scope: (index) => ({ window: { startTs: index * 10, endTs: index * 10 + 15 } }),
      work: 12_000,
      found: either(0, 0, 0, 1, 0),
    },
    'a place of its own for each': {
      count: 800,
      guard: () => equal(TYPE, 'EVIDENCE_STALE'),
      scope: (index) => ({
        subjectRef: { projectId: `p${index % 50}`, groupId: `g${index % 7}`, plotId: `x${index}` },
        scale: `s${index % 3}`,
      }),
      work: 12_000,
      found: either(0, 0, 0, 1, 0),
    },
    'places that cross': {
      count: 1000,
      guard: () => not(equal(TYPE, 'EVIDENCE_STALE')),
      scope: (index) => ({
        subjectRef:
          index % 2 === 0 ? { plotId: `x${index % 100}` } : { projectId: `p${index % 50}` },
      }),
      work: 100_000,
      found: {
        FIRST_MATCH: [0, 925, 334, 1, 49],
        DENY_OVERRIDES: [0, 925, 334, 1, 0],
      },
    },
    'two hundred words for each': {
      count: 120,
      guard: (index) => ({
        op: 'IN',
        field: TYPE,
        set: Array.from({ length: 200 }, (_, place) => `w${(place * 7 + index * 13) % 2500}`),
      }),
      work: 60_000,
      found: {
        FIRST_MATCH: [0, 23, 40, 1, 0],
        DENY_OVERRIDES: [0, 83, 40, 1, 0],
      },
    },
    'all pairs overlap': {
      count: 600,
      guard: (index) => wordIn(STATE, `w${index}`),
      work: 70_000,
      found: same(0, 0, 200, 1, 0),
    },
    'all pairs overlap, and each rests on something missing': {
      count: 400,
      guard: (index) => both(wordIn(STATE, `w${index}`), not(wordIn(ENVELOPE, `w${index}`))),
      verdict: (index) => (index % 2 === 0 ? 'ALLOW' : 'DENY'),
      work: 100_000,
      found: same(0, 0, 200, 1, 200),
    },
    'each is beaten by a hundred': {
      count: 299,
      guard: (index) =>
        index < 149
          ? equal(TYPE, `w${index}`)
          : {
              op: 'IN',
              field: TYPE,
              set: Array.from({ length: 100 }, (_, place) => `w${(index + place) % 149}`),
            },
      verdict: (index) => (index < 149 ? 'DENY' : 'ALLOW'),
      work: 60_000,
      found: either(0, 150, 150, 1, 0),
    },
  }

  describe.each(STRATEGIES)('%s', (combine_strategy) => {
    const names = Object.keys(SHAPES).filter((name) => SHAPES[name]?.found[combine_strategy])

    it.each(names)('%s: surveyed within bounds', (name) => {
      const { count, guard, scope, verdict = verdictAt, work, found } = SHAPES[name] as Shape
      const rules = Array.from({ length: count }, (_, index) =>
        rule(index, guard(index), verdict(index), scope?.(index)),
      )
      const ruleset = admitted({ ...rulesetOf(rules), combine_strategy })
      const budget = { conflicts: CONFLICTS_MAX }
      const survey = surveyRuleset(ruleset, budget)
      expect(Object.values(survey).map((list) => list.length)).toEqual(found[combine_strategy])
      expect(CONFLICTS_MAX - budget.conflicts).toBeLessThan(work)
    })

    it('nested ANDs, ORs and NOTs: surveyed within bounds', () => {
      const sampled = fc.sample(rulesets({ ...FULL, any: [TYPE, STATE] }, 1, false), {
        numRuns: 500,
        seed: 5,
      })
      const rules = sampled.map(({ rules: [one] }: Document, index) =>
        rule(index, one.guard, one.verdict),
      )
      const ruleset = admitted({ ...rulesetOf(rules), combine_strategy })
      const budget = { conflicts: CONFLICTS_MAX }
      expect(surveyRuleset(ruleset, budget).shadowed.length).toBeGreaterThan(400)
      expect(CONFLICTS_MAX - budget.conflicts).toBeLessThan(60_000)
    })
  })
})

describe('rules made to be hard', () => {
  const word = (index: number) => `w${index}`
  const verdictAt = (index: number) => ['ALLOW', 'DENY', 'UNDETERMINED'][index % 3] ?? ''
  const many = (
    count: number,
    guard: (index: number) => Guard,
    scope?: (index: number) => Document,
  ) =>
    rulesetOf(
      Array.from({ length: count }, (_, index) =>
        rule(index, guard(index), verdictAt(index), scope?.(index)),
      ),
    )
  const longList = (index: number) =>
    Array.from({ length: 1000 }, (_, place) => word((place * 7 + index * 13) % 2500))

  /** Twelve pigeons in eleven holes: true nowhere, and no short proof of it exists. */
  function pigeons(): Guard {
    const at = (pigeon: number, hole: number) => wordIn(STATE, `p${pigeon}h${hole}`)
    const birds = Array.from({ length: 12 }, (_, pigeon) => pigeon)
    const holes = birds.slice(1)
    const housed = birds.map(
      (bird): Guard => ({ op: 'OR', args: holes.map((hole) => at(bird, hole)) }),
    )
    const apart = holes.flatMap((hole) =>
      birds.flatMap((one) =>
        birds.slice(0, one).map(
          (two): Guard => ({
            op: 'OR',
            args: [one, two].map((bird): Guard => ({ op: 'NOT', arg: at(bird, hole) })),
          }),
        ),
      ),
    )
    return { op: 'AND', args: [...housed, ...apart] }
  }

  function nested(levels: number): Guard {
    let guard: Guard = wordIn(STATE, word(0))
    for (let level = 1; level < levels; level++) {
      guard = {
        op: level % 2 === 0 ? 'AND' : 'OR',
        args: [wordIn(STATE, word(level)), { op: 'NOT', arg: guard }],
      }
    }
    return guard
  }

  const HARD: Readonly<Record<string, () => Document>> = {
    'long lists of words': () =>
      many(40, (index) => ({ op: 'IN', field: TYPE, set: longList(index) })),
    'long lists that are excluded': () =>
      many(40, (index) => ({ op: 'NOT', arg: { op: 'IN', field: TYPE, set: longList(index) } })),
    'long sets, and sets next to sets': () =>
      many(20, (index) => ({
        op: 'AND',
        args: [
          wordIn(STATE, ...longList(index)),
          { op: 'INTERSECTS', left: STATE, right: ENVELOPE },
        ],
      })),
    'sets next to sets in every rule': () =>
      many(800, (index) => ({
        op: 'AND',
        args: [
          { op: 'INTERSECTS', left: STATE, right: ENVELOPE },
          wordIn(index % 2 === 0 ? STATE : ENVELOPE, word(index)),
        ],
      })),
    'thousands of places': () =>
      many(
        2000,
        () => ({ op: 'EQ', field: TYPE, value: 'EVIDENCE_STALE' }),
        (index) => ({ subjectRef: { projectId: word(index) } }),
      ),
    'thousands of windows': () =>
      many(
        1500,
        () => ({ op: 'WINDOW_MATCH' }),
        (index) => ({ window: { startTs: index, endTs: index + 5 } }),
      ),
    'everything overlaps': () => many(1000, (index) => wordIn(STATE, word(index))),
    'nested as deep as a document may': () =>
      rulesetOf([rule(0, nested(18), 'ALLOW'), rule(1, { op: 'NOT', arg: nested(18) }, 'DENY')]),
    pigeons: () => rulesetOf([rule(0, pigeons(), 'ALLOW')]),
  }

  it.each(Object.keys(HARD))('%s: an answer, or the budget is used up, and no hang', (name) => {
    const ruleset = admitted(HARD[name]?.())
    try {
      surveyRuleset(ruleset, { conflicts: CONFLICTS_MAX / 100 })
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(BudgetSpent)
    }
  })

  it('the budget is shared: once it is used up, every further question says so', () => {
    const ruleset = admitted(rulesetOf([rule(0, pigeons(), 'ALLOW')]))
    const budget = { conflicts: 1000 }
    expect(() => surveyRuleset(ruleset, budget)).toThrow(BudgetSpent)
    expect(() => prove([ruleset], { kind: 'never', verdict: 'ALLOW', when: null }, budget)).toThrow(
      BudgetSpent,
    )
    expect(() => difference([ruleset], [], budget)).toThrow(BudgetSpent)
  })
})
