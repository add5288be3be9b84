/** A look at one model: what holds in it, with every conjunction worked out once. */
import type { Model } from './domain.ts'
import type { Formulas } from './formula.ts'
import type { SolverLiteral } from './solver.ts'

export class Look {
  readonly #formulas: Formulas
  readonly #isTrue: Model
  readonly #known = new Map<number, boolean>()
  #steps = 0

  constructor(formulas: Formulas, isTrue: Model) {
    this.#formulas = formulas
    this.#isTrue = isTrue
  }

  /** How many formulas were looked at since the beginning. */
  get steps(): number {
    return this.#steps
  }

  holds(literal: SolverLiteral): boolean {
    return this.#plain(Math.abs(literal)) === literal > 0
  }

  #plain(variable: number): boolean {
    this.#steps++
    const parts = this.#formulas.partsOf(variable)
    if (parts === null) return this.#isTrue(variable)
    const known = this.#known.get(variable)
    if (known !== undefined) return known
    const holds = parts.every((part) => this.holds(part))
    this.#known.set(variable, holds)
    return holds
  }
}
