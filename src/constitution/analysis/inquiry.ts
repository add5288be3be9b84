/**
 * One inquiry: a plan of what is mentioned, a world with all its variables, and questions to it under
 * a budget that all questions share. An answer is a witness, or null for a proof that there is none.
 */
import type { AdmittedRuleset, Guard, GuardPath } from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import { type CountedSolution, SolverQuery } from './cone.ts'
import type { Model } from './domain.ts'
import { type EncodedRuleset, encodeRuleset } from './encoded-ruleset.ts'
import { Formulas } from './formula.ts'
import { Look } from './look.ts'
import { Mentions } from './mention.ts'
import { plausible } from './plausible.ts'
import { RequirementBook } from './requirement.ts'
import type { SolverLiteral } from './solver.ts'
import { witnessInputs } from './witness.ts'
import { World, type WorldPlan } from './world.ts'

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
