/**
 * One inquiry: a plan of what is mentioned, a world with all its variables, and questions to it under
 * a budget of conflicts that all questions share. An answer is a witness, or null for a proof that
 * there is none.
 */
import {
  type AdmittedRuleset,
  GUARD_PATHS,
  type Guard,
  type GuardPath,
} from '../../contracts/index.ts'
import type { Inputs } from '../projection.ts'
import { type EncodedRuleset, encodeRuleset } from './encoded-ruleset.ts'
import { Formulas } from './formula.ts'
import { Mentions } from './mention.ts'
import { plausible } from './plausible.ts'
import type { Literal } from './solver.ts'
import { witnessInputs } from './witness.ts'
import { World, type WorldPlan } from './world.ts'

/** Carries "the budget is used up" from a question to the door of the room, which answers with it. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

export interface Budget {
  conflicts: number
}

export const CONFLICTS_MAX = 2_000_000

export class Inquiry {
  readonly formulas = new Formulas()
  readonly world: World
  readonly #plan: WorldPlan
  readonly #budget: Budget
  readonly #plausible: Literal

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
    this.world = this.#worldBeside(null, [])
    this.#plausible = plausible(this.formulas, this.world)
  }

  encode(ruleset: AdmittedRuleset, world: World = this.world): EncodedRuleset {
    return encodeRuleset(this.formulas, world, ruleset)
  }

  /** A world that is the first one but for these paths. */
  variation(paths: readonly GuardPath[]): World {
    return this.#worldBeside(this.world, paths)
  }

  /** Variables must exist before they are asked about, so every path is touched once. */
  #worldBeside(base: World | null, fresh: readonly GuardPath[]): World {
    const world = new World(this.formulas, this.#plan, base, fresh)
    for (const path of GUARD_PATHS) world.present(path)
    world.windowsMatch()
    for (const [left, right] of this.#plan.mentions.pairs) world.shared(left, right)
    return world
  }

  /** Can all of these hold at once? */
  isPossible(literals: readonly Literal[]): boolean {
    return this.#solve(literals) !== null
  }

  /** Inputs on which all of these hold, or null when there are none. Valid documents first. */
  find(literals: readonly Literal[], world: World = this.world): Inputs | null {
    const isTrue = this.#solve([this.#plausible, ...literals]) ?? this.#solve(literals)
    return isTrue === null ? null : witnessInputs(world, isTrue, this.#plan)
  }

  #solve(literals: readonly Literal[]) {
    const solution = this.formulas.solve(literals, this.#budget.conflicts)
    if (solution.kind === 'budget') throw new BudgetSpent('the budget of the analysis is used up')
    return solution.kind === 'satisfiable' ? solution.isTrue : null
  }
}
