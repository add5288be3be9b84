/**
 * Formulas over the solver: each connective becomes a literal that is true exactly when the formula
 * is (Tseitin). Equal formulas share a literal.
 */
import { type Literal, type Solution, Solver } from './solver.ts'

export class Formulas {
  readonly #solver = new Solver()
  readonly #gates = new Map<string, Literal>()
  readonly yes: Literal

  constructor() {
    this.yes = this.#solver.newVariable()
    this.#solver.add([this.yes])
  }

  get no(): Literal {
    return -this.yes
  }

  variable(): Literal {
    return this.#solver.newVariable()
  }

  /** States that at least one of the literals holds. */
  state(...literals: readonly Literal[]): void {
    this.#solver.add(literals)
  }

  every(literals: readonly Literal[]): Literal {
    const inner = [...new Set(literals)].filter((literal) => literal !== this.yes).sort(ascending)
    const set = new Set(inner)
    if (inner.some((literal) => literal === this.no || set.has(-literal))) return this.no
    const [only] = inner
    if (only === undefined) return this.yes
    return inner.length === 1 ? only : this.#gate(inner)
  }

  some(literals: readonly Literal[]): Literal {
    return -this.every(literals.map((literal) => -literal))
  }

  /** At most one of the literals holds, with a chain of helpers instead of all pairs. */
  stateAtMostOne(literals: readonly Literal[]): void {
    let before: Literal | null = null
    for (const literal of literals) {
      if (before !== null) this.state(-before, -literal)
      before = before === null ? literal : this.some([before, literal])
    }
  }

  solve(assumptions: readonly Literal[], conflictsMax: number): Solution {
    return this.#solver.solve(assumptions, conflictsMax)
  }

  #gate(inner: readonly Literal[]): Literal {
    const key = inner.join(',')
    const known = this.#gates.get(key)
    if (known !== undefined) return known
    const gate = this.#solver.newVariable()
    for (const literal of inner) this.#solver.add([-gate, literal])
    this.#solver.add([gate, ...inner.map((literal) => -literal)])
    this.#gates.set(key, gate)
    return gate
  }
}

function ascending(left: number, right: number): number {
  return left - right
}
