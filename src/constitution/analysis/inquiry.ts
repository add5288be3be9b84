/**
 * One inquiry: a plan of what is mentioned, a world with all its variables, and questions to it under
 * a budget that all questions share. An answer is a witness, or null for a proof that there is none.
 */
import {
  ACTION_CODES,
  type AdmittedRuleset,
  type Guard,
  type GuardPath,
  type ScalarPath,
  type SetPath,
} from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import { type CountedSolution, SolverQuery } from './cone.ts'
import { Look, Mentions, type Model } from './domain.ts'
import { Formulas } from './formula.ts'
import { RequirementBook } from './requirement.ts'
import type { SolverLiteral } from './solver.ts'
import { vocabularyOf, witnessInputs } from './witness.ts'
import { CANDIDATES, type EncodedRuleset, encodeRuleset, World, type WorldPlan } from './world.ts'

const SOURCES = 'problem_state.uncertainty_sources[]'
const SETS: readonly SetPath[] = [SOURCES, 'uncertainty_envelope.uncertainty_sources[]']
const ID_CHARACTERS_MIN = 8

/** Carries "the budget is used up" from a question to the door of the room, which answers with it. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

/**
 * What an analysis may spend, in conflicts of the solver; all other work is counted in the same coin,
 * by the step. The same question costs the same on every machine.
 */
export interface Budget {
  conflicts: number
}

/** About half a minute of work. */
export const CONFLICTS_MAX = 2_000_000
/** A step is a clause looked at, some tens of nanoseconds. */
const STEPS_PER_CONFLICT = 500
/** What it costs to compare the requirements of two rules. */
export const STEPS_OF_CLASH = 4

export class Inquiry {
  readonly formulas = new Formulas()
  readonly requirements = new RequirementBook(this.formulas)
  readonly world: World
  readonly #plan: WorldPlan
  readonly #budget: Budget
  readonly #plausible: SolverLiteral

  constructor(
    rulesets: readonly AdmittedRuleset[],
    guards: readonly Guard[],
    actionCodes: readonly string[],
    budget: Budget,
  ) {
    const mentions = new Mentions()
    for (const { rules } of rulesets) for (const rule of rules) mentions.addRule(rule)
    for (const guard of guards) mentions.addGuard(guard)
    mentions.addCandidates(actionCodes)
    mentions.close()
    this.#plan = { mentions, actionCodes }
    this.#budget = budget
    this.world = new World(this.formulas, this.#plan)
    this.#plausible = plausible(this.formulas, this.world, this.#plan)
  }

  encode(ruleset: AdmittedRuleset): EncodedRuleset {
    const encoded = encodeRuleset(this.formulas, this.world, ruleset)
    this.spend(this.formulas.size)
    return encoded
  }

  /** A world that is the first one but for this path. */
  variation(path: GuardPath): World {
    return new World(this.formulas, this.#plan, this.world, path)
  }

  /** A model in which all of these hold, or null when there is none. */
  model(literals: readonly SolverLiteral[]): Model | null {
    const answer = this.#ask(new SolverQuery(this.formulas, literals), [])
    return answer.kind === 'satisfiable' ? answer.isTrue : null
  }

  /**
   * Asks again and again: some of what is assumed that cannot hold all together with `asserted`, or
   * null when it can. Only what is `assumable` may be assumed.
   */
  refusals(
    asserted: readonly SolverLiteral[],
    assumable: readonly SolverLiteral[],
  ): (assumed: readonly SolverLiteral[]) => readonly SolverLiteral[] | null {
    const question = new SolverQuery(this.formulas, asserted, assumable)
    return (assumed) => {
      const answer = this.#ask(question, assumed)
      return answer.kind === 'unsatisfiable' ? answer.core : null
    }
  }

  /** Inputs on which all of these hold, or null when there are none. Valid documents if there are. */
  find(literals: readonly SolverLiteral[], beside: World = this.world): Inputs | null {
    return this.finder(literals, [], beside)([])
  }

  /** The same again and again: what is assumed holds as well as what is asserted. */
  finder(
    asserted: readonly SolverLiteral[],
    assumable: readonly SolverLiteral[],
    beside: World = this.world,
  ): (assumed: readonly SolverLiteral[]) => Inputs | null {
    const question = new SolverQuery(this.formulas, asserted, [...assumable, this.#plausible])
    return (assumed) => {
      const any = this.#ask(question, assumed)
      if (any.kind === 'unsatisfiable') return null
      const valid = this.#ask(question, [...assumed, this.#plausible])
      const { isTrue } = valid.kind === 'satisfiable' ? valid : any
      const look = new Look(this.formulas, isTrue)
      const inputs = witnessInputs(this.world, beside, look, this.#plan)
      this.spend(look.steps)
      return inputs
    }
  }

  spend(steps: number): void {
    this.#budget.conflicts -= steps / STEPS_PER_CONFLICT
    if (this.#budget.conflicts < 0) throw new BudgetSpent('the budget of the analysis is used up')
  }

  #ask(
    question: SolverQuery,
    assumed: readonly SolverLiteral[],
  ): Exclude<CountedSolution, { kind: 'budget' }> {
    const answer = question.ask(assumed, this.#budget.conflicts * STEPS_PER_CONFLICT)
    this.spend(answer.steps)
    if (answer.kind === 'budget') throw new BudgetSpent('the budget of the analysis is used up')
    return answer
  }
}

const WORDS: readonly ScalarPath[] = [
  'problem_state.problem_type',
  'problem_state.confidence',
  'problem_state.problem_scope',
  'problem_state.state_layer_hint',
  'problem_state.rate_class_hint',
]

const PRESENT = [
  'permission_set.subjectRef.projectId',
  'permission_set.scale',
  'problem_state.window.startTs',
  'problem_state.window.endTs',
  'permission_set.window.startTs',
  'permission_set.window.endTs',
] as const

/**
 * Describes the worlds whose documents keep their contracts. Proofs cover all inputs, because the
 * kernel refuses none. A witness is easier to read as a valid document, so the search tries these
 * worlds first.
 */
function plausible(formulas: Formulas, world: World, plan: WorldPlan): SolverLiteral {
  const { pairs } = plan.mentions
  const compared = new Set(pairs.flat())
  return formulas.every([
    ...PRESENT.map((path) => world.present(path)),
    ...idIsLong(world),
    ...WORDS.flatMap((path) => wordIsLegal(formulas, world, path)),
    ...SETS.flatMap((path) => setIsLegal(world, path, new Set(vocabularyOf(path)))),
    ...setIsLegal(world, CANDIDATES, new Set([...ACTION_CODES, ...plan.actionCodes])),
    // No word is in two vocabularies, so compared sets share no word that the rules do not mention.
    ...pairs.filter(([left, right]) => left !== right).map((pair) => -world.shared(...pair)),
    ...(compared.has(CANDIDATES) ? [-world.shared(CANDIDATES, CANDIDATES)] : []),
    namesASource(formulas, world, compared.has(SOURCES)),
  ])
}

/** Excludes ids of the problem state that are shorter than the contract allows. */
function idIsLong(world: World): readonly SolverLiteral[] {
  const domain = world.scalar('uncertainty_envelope.problem_state_ref')
  const short = domain.values.filter((value) => [...value].length < ID_CHARACTERS_MIN)
  return short.map((value) => -domain.equal(value))
}

function wordIsLegal(formulas: Formulas, world: World, path: ScalarPath): readonly SolverLiteral[] {
  const domain = world.scalar(path)
  const legal = new Set(vocabularyOf(path))
  const foreign = domain.values
    .filter((value) => !legal.has(value))
    .map((value) => -domain.equal(value))
  const named = domain.values.filter((value) => legal.has(value))
  const spare = named.length < legal.size
  const chosen = spare ? [] : [formulas.some(named.map((value) => domain.equal(value)))]
  return [domain.present, ...foreign, ...chosen]
}

function setIsLegal(
  world: World,
  path: SetPath,
  legal: ReadonlySet<string>,
): readonly SolverLiteral[] {
  const domain = world.set(path)
  return [
    domain.present,
    ...domain.words.filter((word) => !legal.has(word)).map((word) => -domain.has(word)),
  ]
}

/** Requires a source: a mentioned one, or another word of the vocabulary if there is one. */
function namesASource(formulas: Formulas, world: World, isCompared: boolean): SolverLiteral {
  const domain = world.set(SOURCES)
  const named = domain.words.map((word) => domain.has(word))
  if (vocabularyOf(SOURCES).every((word) => domain.words.includes(word)))
    return formulas.every([
      formulas.some(named),
      ...(isCompared ? [-world.shared(SOURCES, SOURCES)] : []),
    ])
  return isCompared ? formulas.some([...named, world.shared(SOURCES, SOURCES)]) : formulas.yes
}
