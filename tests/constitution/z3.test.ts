/**
 * Every answer of the analysis against z3, over the whole language and vocabularies that brute force
 * cannot walk. `WRIT_Z3_RUNS` and `WRIT_Z3_SECONDS` make it longer.
 */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Bool, type Context, init, type Solver } from 'z3-solver'
import { CONFLICTS_MAX, difference, prove, surveyRuleset } from '../../src/constitution/index.ts'
import {
  type AdmittedRuleset,
  admitRuleset,
  GUARD_PATHS,
  type Guard,
  pathsRead,
  VERDICTS,
  type VerdictWord,
} from '../../src/contracts/index.ts'
import { guards, LARGE, rulesets } from '../arbitrary/constitution.ts'
import { naiveEvaluate, naiveHolds } from '../oracle/naive-kernel.ts'
import {
  EXISTENCE_ONLY,
  type Holdings,
  SCALARS,
  SETS,
  WINDOW_LEAVES,
  Words,
  Z3World,
} from '../oracle/z3-world.ts'

const RUNS = Number(process.env['WRIT_Z3_RUNS'] ?? 7)
const SECONDS = Number(process.env['WRIT_Z3_SECONDS'] ?? 60)
const RULES_MAX = 40

// biome-ignore lint/suspicious/noExplicitAny: documents of the generator
type Document = any
type Truth = Bool<'writ'>

let z: Context<'writ'>
let stopThreads: () => void

/** z3 answers "unknown" when its memory is used up, and from then on to everything. */
let isExhausted = false

class NoOpinion extends Error {
  override readonly name = 'NoOpinion'
}

/** Keeps nothing and calls nothing. */
class NoFinalization {
  register(): void {}
  unregister(): void {}
}

/**
 * A fresh z3 for each test, and one that never frees: its finalizers run whenever the collector does,
 * also while a check is under way in another thread, and then its memory is no longer sound.
 */
beforeEach(async () => {
  vi.stubGlobal('FinalizationRegistry', NoFinalization)
  const { Context, em } = await init()
  vi.unstubAllGlobals()
  z = Context('writ')
  isExhausted = false
  stopThreads = () => em.PThread.terminateAllThreads()
})

afterEach(() => stopThreads())

/** Runs the property until the time is up. A run under way is waited for: z3 takes one call at a time. */
async function assertForAWhile<T extends [unknown, ...unknown[]]>(
  arbitraries: { [K in keyof T]: fc.Arbitrary<T[K]> },
  property: (...values: T) => Promise<void>,
): Promise<void> {
  const started = performance.now()
  let runs = 0
  const timed = async (...values: T) => {
    if (isExhausted || performance.now() - started > SECONDS * 1000) return
    try {
      await property(...values)
      runs++
    } catch (thrown) {
      if (!(thrown instanceof NoOpinion)) throw thrown
    }
  }
  await fc.assert(fc.asyncProperty(...arbitraries, timed), { numRuns: RUNS, endOnFailure: true })
  expect(runs).toBeGreaterThan(3)
}

const patience = SECONDS * 1000 + 60_000

function admitted(document: unknown): AdmittedRuleset {
  const { ruleset, violations } = admitRuleset(document)
  expect(violations).toEqual([])
  return ruleset as AdmittedRuleset
}

const budget = () => ({ conflicts: CONFLICTS_MAX })

/** One set of bound inputs in z3, and what rules say about them. */
class Questions {
  readonly world: Z3World
  readonly held: Holdings
  readonly solver: Solver<'writ'>

  constructor(actionCode: string, ...parts: readonly unknown[]) {
    this.world = new Z3World(z, new Words(actionCode, ...parts), actionCode)
    this.held = this.world.holdings('inputs')
    this.solver = new z.Solver()
    this.world.assume(this.solver, this.held)
  }

  async isPossible(...formulas: readonly Truth[]): Promise<boolean> {
    return (await this.possible([z.And(...formulas)]))[0] === true
  }

  /** Which of the formulas can hold: one model tells of many, and one refutation of all the rest. */
  async possible(formulas: readonly Truth[]): Promise<readonly boolean[]> {
    const answers = formulas.map(() => false)
    for (;;) {
      const open = formulas.filter((_, index) => answers[index] === false)
      if (open.length === 0) return answers
      this.solver.push()
      this.solver.add(z.Or(...open))
      const answer = await this.solver.check()
      if (answer === 'sat') {
        const model = this.solver.model()
        formulas.forEach((formula, index) => {
          if (answers[index] === false && model.eval(formula, true).toString() === 'true')
            answers[index] = true
        })
      }
      this.solver.pop()
      if (answer === 'unsat') return answers
      if (answer === 'sat') continue
      isExhausted = true
      throw new NoOpinion(this.solver.reasonUnknown())
    }
  }

  rules({ combine_strategy, rules }: Document, held: Holdings = this.held) {
    const matches = rules.map((rule: Document) => this.world.rule(rule, held)) as Truth[]
    const gives = matches.map((match, index) =>
      z.And(
        match,
        ...matches
          .filter((_, other) => beats(combine_strategy, rules, other, index))
          .map((one) => z.Not(one)),
      ),
    )
    const says = (word: string) =>
      z.Or(...gives.filter((_, index) => rules[index].verdict === word), z.Bool.val(false))
    const [allow, deny] = [says('ALLOW'), says('DENY')]
    const verdict: Record<string, Truth> = {
      ALLOW: allow,
      DENY: deny,
      UNDETERMINED: z.And(z.Not(allow), z.Not(deny)),
    }
    return { matches, gives, verdict }
  }
}

/** Whether the rule at `other`, when both match, is named instead of the one at `index` (K-3). */
function beats(strategy: string, rules: Document[], other: number, index: number): boolean {
  if (strategy === 'FIRST_MATCH') return other < index
  const rank = (one: number) => ['DENY', 'ALLOW', 'UNDETERMINED'].indexOf(rules[one].verdict)
  return rank(other) < rank(index) || (rank(other) === rank(index) && other < index)
}

const guardsAndScopes = ({ rules }: Document) =>
  rules.map(({ guard, scope }: Document) => [guard, scope ?? null])

/** Both subjects are one in bound inputs. */
const unified = (path: string) =>
  path.replace(/^(problem_state|permission_set)\.subjectRef/, 'subjectRef')

const large = rulesets(LARGE, RULES_MAX)

describe('z3 and the analysis', () => {
  it('speak of the same 28 paths', () => {
    expect([...SCALARS, ...SETS, ...WINDOW_LEAVES, ...EXISTENCE_ONLY].sort()).toEqual(
      GUARD_PATHS.filter((path) => !path.endsWith('.subjectRef')).sort(),
    )
  })

  it(
    'agree on rules that never match, are shadowed or overlap, and on gaps (A-1)',
    async () => {
      await assertForAWhile<[Document]>([large], async (document) => {
        const questions = new Questions(document.action_code, guardsAndScopes(document))
        const { matches, gives } = questions.rules(document)
        const survey = surveyRuleset(admitted(document), budget())
        const ids = document.rules.map(({ rule_id }: Document) => rule_id) as string[]
        const matching = await questions.possible(matches)
        const giving = await questions.possible(gives)
        expect(survey.unreachable.map(({ rule_id }) => rule_id)).toEqual(
          ids.filter((_, index) => !matching[index]),
        )
        expect(survey.shadowed.map(({ rule_id }) => rule_id)).toEqual(
          ids.filter((_, index) => matching[index] && !giving[index]),
        )
        expect(survey.gaps.length === 1).toBe(
          await questions.isPossible(...matches.map((match) => z.Not(match))),
        )
        await agreeOnShadows(questions, document, survey.shadowed, matches)
        await agreeOnOverlaps(questions, document, survey.overlaps, matches)
        questions.solver.release()
      })
    },
    patience,
  )

  it(
    'agree on every ALLOW that is reached because a field is missing (A-1)',
    async () => {
      await assertForAWhile<[Document]>([rulesets(LARGE, 10)], async (document) => {
        const survey = surveyRuleset(admitted(document), budget())
        const questions = new Questions(document.action_code, guardsAndScopes(document))
        const { gives } = questions.rules(document)
        const wanted: string[] = []
        for (const path of pathsAskedFor(document)) {
          const changed = path.startsWith('subjectRef.')
            ? [`problem_state.${path}`, `permission_set.${path}`]
            : [path]
          const there = questions.world.holdings(`with ${path}`, questions.held, changed)
          questions.world.assume(questions.solver, there)
          const without = questions.rules(document, there).verdict['ALLOW'] as Truth
          const [first = path] = changed
          const because = z.And(
            z.Not(questions.held.present.get(first) as Truth),
            there.present.get(first) as Truth,
            z.Not(without),
          )
          const allows = document.rules.flatMap(({ verdict }: Document, index: number) =>
            verdict === 'ALLOW' ? [index] : [],
          ) as number[]
          const possible = await questions.possible(
            allows.map((index) => z.And(gives[index] as Truth, because)),
          )
          allows.forEach((index, place) => {
            if (possible[place]) wanted.push(`${document.rules[index].rule_id} ${path}`)
          })
        }
        expect(
          survey.missing_allows.map(({ rule_id, path }) => `${rule_id} ${unified(path)}`).sort(),
        ).toEqual(wanted.sort())
        questions.solver.release()
      })
    },
    patience,
  )

  it(
    'prove and refute the same claims (A-2)',
    async () => {
      await assertForAWhile<[Document, Guard, VerdictWord, 'never' | 'always']>(
        [large, guards(LARGE, 3), fc.constantFrom(...VERDICTS), fc.constantFrom('never', 'always')],
        async (document, when, word, kind) => {
          const questions = new Questions(document.action_code, guardsAndScopes(document), when)
          const said = questions.rules(document).verdict[word] as Truth
          const breaks = kind === 'never' ? said : z.Not(said)
          const proof = prove([admitted(document)], { kind, verdict: word, when }, budget())
          expect(proof.proved).toBe(
            !(await questions.isPossible(breaks, questions.world.guard(when, questions.held))),
          )
          questions.solver.release()
          if (proof.proved) return
          expect(naiveHolds(when, proof.counterexample)).toBe(true)
          const [found] = naiveEvaluate([document], proof.counterexample)
          expect(found?.verdict === word).toBe(kind === 'never')
        },
      )
    },
    patience,
  )

  it(
    'see the same changes between two versions (A-3)',
    async () => {
      const edits = fc.array(fc.tuple(fc.nat(), guards(LARGE, 2)), { maxLength: 4 })
      await assertForAWhile<[Document, [number, Guard][], boolean]>(
        [large, edits, fc.boolean()],
        async (before, changes, turned) => {
          const after = edited(before, changes, turned)
          const parts = [before, after].flatMap(guardsAndScopes)
          const questions = new Questions(before.action_code, parts)
          const [old, fresh] = [before, after].map((one) => questions.rules(one).verdict)
          const pairs = VERDICTS.flatMap((from) =>
            VERDICTS.filter((to) => to !== from).map((to) => [from, to] as const),
          )
          const possible = await questions.possible(
            pairs.map(([from, to]) => z.And(old?.[from] as Truth, fresh?.[to] as Truth)),
          )
          const found = difference([admitted(before)], [admitted(after)], budget())
          expect(found.map(({ from, to }) => `${from} ${to}`)).toEqual(
            pairs.filter((_, index) => possible[index]).map((pair) => pair.join(' ')),
          )
          questions.solver.release()
        },
      )
    },
    patience,
  )
})

async function agreeOnShadows(
  questions: Questions,
  { rules }: Document,
  shadowed: readonly { rule_id: string; by: readonly string[] }[],
  matches: readonly Truth[],
): Promise<void> {
  const matchOf = (id: string) =>
    matches[rules.findIndex((rule: Document) => rule.rule_id === id)] as Truth
  const escapes = (id: string, by: readonly string[]) =>
    z.And(matchOf(id), ...by.map((one) => z.Not(matchOf(one))))
  const whole = shadowed.map(({ rule_id, by }) => escapes(rule_id, by))
  expect(await questions.possible(whole)).toEqual(whole.map(() => false))
  const lessOne = shadowed.flatMap(({ rule_id, by }) =>
    by.map((one) =>
      escapes(
        rule_id,
        by.filter((other) => other !== one),
      ),
    ),
  )
  expect(await questions.possible(lessOne)).toEqual(lessOne.map(() => true))
}

async function agreeOnOverlaps(
  questions: Questions,
  { rules }: Document,
  overlaps: readonly { allow: string; denies: readonly string[] }[],
  matches: readonly Truth[],
): Promise<void> {
  const placesOf = (word: string) =>
    rules.flatMap(({ verdict }: Document, index: number) => (verdict === word ? [index] : []))
  const pairs = placesOf('ALLOW').flatMap((allow: number) =>
    placesOf('DENY').map((deny: number) => [allow, deny]),
  ) as [number, number][]
  const possible = await questions.possible(
    pairs.map(([allow, deny]) => z.And(matches[allow] as Truth, matches[deny] as Truth)),
  )
  const found = overlaps.flatMap(({ allow, denies }) => denies.map((deny) => `${allow} ${deny}`))
  expect(found).toEqual(
    pairs
      .filter((_, index) => possible[index])
      .map(([allow, deny]) => `${rules[allow].rule_id} ${rules[deny].rule_id}`),
  )
}

function pathsAskedFor({ rules }: Document): readonly string[] {
  const paths = rules.flatMap(({ guard, scope }: Document) => {
    const leaves = ['projectId', 'groupId', 'plotId', 'blockId'].filter(
      (leaf) => scope?.subjectRef !== undefined && scope.subjectRef[leaf] !== undefined,
    )
    return [
      ...pathsRead(guard),
      ...leaves.map((leaf) => `permission_set.subjectRef.${leaf}`),
      ...(scope?.scale === undefined ? [] : ['permission_set.scale']),
      ...Object.keys(scope?.window ?? {}).map((leaf) => `permission_set.window.${leaf}`),
    ]
  })
  return [...new Set<string>(paths.map(unified))].filter((path) => path !== 'subjectRef')
}

/** The same rules with some guards replaced, and perhaps the other way of combining. */
function edited(
  document: Document,
  edits: readonly (readonly [number, Guard])[],
  turned: boolean,
): Document {
  const rules = document.rules.map((rule: Document) => ({ ...rule }))
  for (const [place, guard] of edits) {
    const rule = rules[place % rules.length]
    rule.guard = guard
    rule.inputs_used = [...new Set([...rule.inputs_used, ...pathsRead(guard)])]
  }
  const strategy = document.combine_strategy === 'FIRST_MATCH' ? 'DENY_OVERRIDES' : 'FIRST_MATCH'
  return { ...document, rules, combine_strategy: turned ? strategy : document.combine_strategy }
}
