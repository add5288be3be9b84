/** Every answer of the analysis against brute force over a small vocabulary. */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  CONFLICTS_MAX,
  difference,
  establish,
  type Inputs,
  prove,
  surveyRuleset,
} from '../../src/constitution/index.ts'
import {
  type AdmittedRuleset,
  admitRuleset,
  type GuardPath,
  VERDICTS,
} from '../../src/contracts/index.ts'
import { guards, rulesets, type Vocabulary } from '../arbitrary/constitution.ts'
import { naiveEvaluate, naiveHolds } from '../oracle/naive-kernel.ts'

/** Brute force walks thousands of worlds; a busy machine may take its time. */
vi.setConfig({ testTimeout: 3_600_000 })

const RUNS = Number(process.env['WRIT_ANALYSIS_RUNS'] ?? 20)

const STATE_SET = 'problem_state.uncertainty_sources[]'
const ENVELOPE_SET = 'uncertainty_envelope.uncertainty_sources[]'
const EVIDENCE = 'permission_set.supporting_evidence_refs[]'
const TYPE = 'problem_state.problem_type'

const SMALL: Vocabulary = {
  scalars: [TYPE],
  sets: [STATE_SET, ENVELOPE_SET],
  any: [TYPE, STATE_SET, EVIDENCE],
}

/** One world by its choices; `undefined` is missing. */
interface Choice {
  readonly type: string | undefined
  readonly state: readonly string[] | undefined
  readonly envelope: readonly string[] | undefined
  readonly evidence: boolean
  readonly windows: 'equal' | 'different' | 'missing'
}

/** Every world that a guard over SMALL can tell apart: `zzz` is the word that no guard mentions. */
function worlds(): readonly { choice: Choice; inputs: Inputs }[] {
  const types = [undefined, 'INSUFFICIENT_EVIDENCE', 'TIME_COVERAGE_GAPPY', 'EVIDENCE_STALE', 'zzz']
  const states = [
    undefined,
    ...subsets(['SPARSE_SAMPLING', 'MISSING_KEY_METRIC', 'TIME_GAPS', 'zzz']),
  ]
  const envelopes = [
    undefined,
    ...subsets(['EVIDENCE_SPARSE', 'EVIDENCE_STALE', 'EVIDENCE_CONFLICT', 'zzz']),
  ]
  const found: { choice: Choice; inputs: Inputs }[] = []
  for (const type of types)
    for (const state of states)
      for (const envelope of envelopes)
        for (const evidence of [true, false])
          for (const windows of ['equal', 'different', 'missing'] as const) {
            const choice = { type, state, envelope, evidence, windows }
            found.push({ choice, inputs: inputsOf(choice) })
          }
  return found
}

function subsets(words: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: 1 << words.length }, (_, bits) =>
    words.filter((_word, index) => (bits >> index) & 1),
  )
}

function inputsOf({ type, state, envelope, evidence, windows }: Choice): Inputs {
  const window = { startTs: 1, endTs: 2 }
  return {
    problem_state: {
      problem_state_id: 'p',
      subjectRef: { projectId: 'x' },
      problem_type: type,
      uncertainty_sources: state,
      ...(windows === 'missing'
        ? {}
        : { window: windows === 'equal' ? window : { startTs: 5, endTs: 6 } }),
    },
    uncertainty_envelope: { problem_state_ref: 'p', uncertainty_sources: envelope },
    permission_set: {
      subjectRef: { projectId: 'x' },
      window,
      candidate_actions: ['AO-ENTER', 'AO-APPLY'],
      ...(evidence ? { supporting_evidence_refs: [] } : {}),
    },
  }
}

const WORLDS = worlds()

function admitted(document: unknown): AdmittedRuleset {
  const { ruleset, violations } = admitRuleset(document)
  expect(violations).toEqual([])
  return ruleset as AdmittedRuleset
}

// biome-ignore lint/suspicious/noExplicitAny: documents of the generator
type Document = any

/** The naive verdict of one ruleset in one world. */
function say(document: Document, inputs: Inputs): { verdict: string; rule: string | undefined } {
  const [found] = naiveEvaluate([document], inputs).filter(
    ({ action_code }) => action_code === document.action_code,
  )
  return {
    verdict: found?.verdict ?? 'none',
    rule: found?.rule_ref?.replace(/^.*\/(.*)@.*$/, '$1'),
  }
}

const budget = () => ({ conflicts: CONFLICTS_MAX })

function sameBut(choice: Choice, path: GuardPath): (other: Choice) => boolean {
  const key =
    path === TYPE
      ? 'type'
      : path === STATE_SET
        ? 'state'
        : path === ENVELOPE_SET
          ? 'envelope'
          : 'evidence'
  const rest = (one: Choice) => JSON.stringify({ ...one, [key]: null })
  const wanted = rest(choice)
  return (other) => rest(other) === wanted
}

describe('the survey of a ruleset (A-1)', () => {
  it('finds exactly what brute force finds', () => {
    fc.assert(
      fc.property(rulesets(SMALL, 4, false), (document) => {
        const survey = surveyRuleset(admitted(document), budget())
        const { rules, action_code } = document as Document
        const matching = rules.map((rule: Document) =>
          WORLDS.filter(({ inputs }) => naiveHolds(rule.guard, inputs)),
        )
        const giving = WORLDS.map(({ inputs }) => say(document, inputs).rule)
        const idsWhere = (test: (index: number) => boolean) =>
          rules.flatMap((rule: Document, index: number) => (test(index) ? [rule.rule_id] : []))
        const never = idsWhere((index) => matching[index].length === 0)
        expect(survey.unreachable.map(({ rule_id }) => rule_id)).toEqual(never)
        expect(survey.shadowed.map(({ rule_id }) => rule_id)).toEqual(
          idsWhere((index) => matching[index].length > 0 && !giving.includes(rules[index].rule_id)),
        )
        expect(survey.gaps.length > 0).toBe(giving.includes(undefined))
        const overlaps = survey.overlaps.flatMap(({ allow, denies }) =>
          denies.map((deny) => `${allow} ${deny}`),
        )
        expect(overlaps.sort()).toEqual(
          rules
            .flatMap((one: Document, left: number) =>
              rules.flatMap((two: Document, right: number) =>
                one.verdict === 'ALLOW' &&
                two.verdict === 'DENY' &&
                matching[left].some((world: unknown) => matching[right].includes(world))
                  ? [`${one.rule_id} ${two.rule_id}`]
                  : [],
              ),
            )
            .sort(),
        )
        for (const { allow, denies, witness } of survey.overlaps) {
          for (const id of [allow, denies[0]]) {
            expect(
              naiveHolds(rules.find((rule: Document) => rule.rule_id === id).guard, witness),
            ).toBe(true)
          }
        }
        for (const { witness } of survey.gaps)
          expect(say(document, witness)).toEqual({ verdict: 'UNDETERMINED', rule: undefined })
        expect(survey.gaps.every((gap) => gap.action_code === action_code)).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  it('names rules that together beat a shadowed one, and none in vain', () => {
    fc.assert(
      fc.property(rulesets(SMALL, 5, false), (document) => {
        const { rules } = document as Document
        for (const { rule_id, by } of surveyRuleset(admitted(document), budget()).shadowed) {
          const guardOf = (id: string) => rules.find((rule: Document) => rule.rule_id === id).guard
          const own = WORLDS.filter(({ inputs }) => naiveHolds(guardOf(rule_id), inputs))
          const beaten = (ids: readonly string[]) =>
            own.every(({ inputs }) => ids.some((id) => naiveHolds(guardOf(id), inputs)))
          expect(beaten(by)).toBe(true)
          for (const id of by) expect(beaten(by.filter((one) => one !== id))).toBe(false)
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('finds every ALLOW that is reached because a field is missing', () => {
    fc.assert(
      fc.property(rulesets({ ...SMALL, sets: [STATE_SET] }, 3, false), (document) => {
        const survey = surveyRuleset(admitted(document), budget())
        const few = WORLDS.filter(
          ({ choice }) => choice.envelope === undefined && choice.windows !== 'missing',
        )
        const said = few.map(({ choice, inputs }) => ({ choice, ...say(document, inputs) }))
        const wanted = (
          [
            [TYPE, 'type'],
            [STATE_SET, 'state'],
            [EVIDENCE, 'evidence'],
          ] as const
        ).flatMap(([path, key]) => {
          const ids = said
            .filter(({ choice, verdict }) => verdict === 'ALLOW' && !choice[key])
            .filter(({ choice }) =>
              said.some(
                (other) =>
                  sameBut(choice, path)(other.choice) &&
                  other.choice[key] &&
                  other.verdict !== 'ALLOW',
              ),
            )
            .map(({ rule }) => `${rule} ${path}`)
          return [...new Set(ids)]
        })
        const windows = survey.missing_allows.filter(({ path }) => !path.includes('.window.'))
        expect(windows.map(({ rule_id, path }) => `${rule_id} ${path}`).sort()).toEqual(
          wanted.sort(),
        )
        for (const { rule_id, witness } of survey.missing_allows)
          expect(say(document, witness)).toEqual({ verdict: 'ALLOW', rule: rule_id })
      }),
      { numRuns: RUNS },
    )
  })
})

describe('proofs (A-2)', () => {
  it('prove exactly what holds in every world, and break the rest with a real one', () => {
    fc.assert(
      fc.property(
        rulesets(SMALL, 4, false),
        guards(SMALL, 2),
        fc.constantFrom(...VERDICTS),
        fc.constantFrom('never', 'always'),
        (document, when, verdict, kind) => {
          const proof = prove([admitted(document)], { kind, verdict, when }, budget())
          const breaks = (inputs: Inputs) =>
            naiveHolds(when, inputs) &&
            (say(document, inputs).verdict === verdict) === (kind === 'never')
          expect(proof.proved).toBe(!WORLDS.some(({ inputs }) => breaks(inputs)))
          if (!proof.proved) expect(breaks(proof.counterexample)).toBe(true)
        },
      ),
      { numRuns: RUNS },
    )
  })
})

describe('the difference of rules (A-3)', () => {
  it('is exactly the kinds of change that brute force sees', () => {
    fc.assert(
      fc.property(rulesets(SMALL, 3, false), rulesets(SMALL, 3, false), (before, other) => {
        const after = {
          ...other,
          action_code: before['action_code'],
          rules: (other['rules'] as Document[]).map((rule) => ({
            ...rule,
            action_code: before['action_code'],
          })),
        }
        const changes = difference([admitted(before)], [admitted(after)], budget())
        const seen = WORLDS.map(
          ({ inputs }) => `${say(before, inputs).verdict} ${say(after, inputs).verdict}`,
        ).filter((pair) => new Set(pair.split(' ')).size === 2)
        expect(changes.map(({ from, to }) => `${from} ${to}`).sort()).toEqual(
          [...new Set(seen)].sort(),
        )
        for (const { from, to, witness } of changes)
          expect([say(before, witness).verdict, say(after, witness).verdict]).toEqual([from, to])
      }),
      { numRuns: RUNS },
    )
  })

  it('of rules and none is what they say at all', () => {
    fc.assert(
      fc.property(rulesets(SMALL, 3, false), (document) => {
        const said = new Set(WORLDS.map(({ inputs }) => say(document, inputs).verdict))
        const words = VERDICTS.filter((word) => word !== 'UNDETERMINED' && said.has(word))
        const added = difference([], [admitted(document)], budget())
        expect(added.map(({ from, to }) => [from, to])).toEqual(
          words.map((word) => ['UNDETERMINED', word]),
        )
        const removed = difference([admitted(document)], [], budget())
        expect(removed.map(({ from, to }) => [from, to])).toEqual(
          words.map((word) => [word, 'UNDETERMINED']),
        )
      }),
      { numRuns: 10 },
    )
  })

  it('of a ruleset and itself is a proof of equality', () => {
    fc.assert(
      fc.property(rulesets(), (document) => {
        expect(difference([admitted(document)], [admitted(document)], budget())).toEqual([])
      }),
      { numRuns: 50 },
    )
  })
})

describe('witnesses over the whole language', () => {
  it('evaluate as the analysis says, scopes and windows included', () => {
    fc.assert(
      fc.property(rulesets(), guards(), fc.constantFrom(...VERDICTS), (document, when, verdict) => {
        const ruleset = admitted(document)
        const constitution = establish([{ document }])
        const wordOf = (inputs: Inputs) => constitution.decide(inputs, ruleset.actionCode)
        const survey = surveyRuleset(ruleset, budget())
        for (const { witness } of survey.gaps) expect(wordOf(witness).ruleRef).toBe(null)
        for (const { rule_id, witness } of survey.missing_allows)
          expect(wordOf(witness).ruleRef).toContain(`/${rule_id}@`)
        const proof = prove([ruleset], { kind: 'never', verdict, when }, budget())
        if (!proof.proved) {
          expect(wordOf(proof.counterexample).verdict).toBe(verdict)
          expect(naiveHolds(when, proof.counterexample)).toBe(true)
        }
      }),
      { numRuns: RUNS * 3 },
    )
  })
})
