/**
 * Formulas as a shared graph: a literal is a variable, a conjunction, or the negation of one. Equal
 * formulas are one literal. `cone.ts` makes clauses only for a question, so a question costs as
 * much as the formulas that it names, not as much as all formulas.
 *
 * The only built-in constraint: at most one variable of an exclusive group is true.
 */
import { invariant } from '../../base/index.ts'
import type { SolverLiteral } from './solver.ts'

/** No group. */
export const FREE = 0

export class Formulas {
  readonly yes: SolverLiteral = 1
  /** By variable: the parts of a conjunction, null for a plain variable. */
  readonly #parts: (readonly SolverLiteral[] | null)[] = [null, null]
  readonly #keys: string[] = ['', '']
  readonly #groups: number[] = [FREE, FREE]
  readonly #prefers: boolean[] = [false, true]
  readonly #known = new Map<string, SolverLiteral>()
  #groupCount = FREE
  #isPassing = false

  get no(): SolverLiteral {
    return -this.yes
  }

  /** How many variables and conjunctions there are. */
  get size(): number {
    return this.#parts.length
  }

  /** Creates a variable. `prefers` is its value in a solution that leaves the choice. */
  variable(prefers = false, group: number = FREE): SolverLiteral {
    invariant(!this.#isPassing, 'a variable outlives the question that needed it')
    return this.#push(null, '', prefers, group)
  }

  exclusiveGroup(): number {
    return ++this.#groupCount
  }

  every(literals: readonly SolverLiteral[]): SolverLiteral {
    const distinct = new Set(literals)
    distinct.delete(this.yes)
    for (const literal of distinct)
      if (literal === this.no || distinct.has(-literal)) return this.no
    const parts = [...distinct].sort(ascending)
    const [only] = parts
    if (only === undefined) return this.yes
    return parts.length === 1 ? only : this.#conjunction(parts)
  }

  some(literals: readonly SolverLiteral[]): SolverLiteral {
    return -this.every(literals.map((literal) => -literal))
  }

  /** The parts of a conjunction; null for a variable. */
  partsOf(literal: SolverLiteral): readonly SolverLiteral[] | null {
    return this.#parts[Math.abs(literal)] ?? null
  }

  groupOf(variable: number): number {
    return this.#groups[variable] ?? FREE
  }

  preferenceOf(variable: number): boolean {
    return this.#prefers[variable] ?? false
  }

  /** Runs `work` and forgets every conjunction that it makes. For single questions; does not nest. */
  passing<T>(work: () => T): T {
    const size = this.size
    this.#isPassing = true
    try {
      return work()
    } finally {
      this.#isPassing = false
      for (const key of this.#keys.slice(size)) this.#known.delete(key)
      for (const list of [this.#parts, this.#keys, this.#groups, this.#prefers]) list.length = size
    }
  }

  #conjunction(parts: readonly SolverLiteral[]): SolverLiteral {
    const key = parts.join(',')
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const literal = this.#push(parts, key, false, FREE)
    this.#known.set(key, literal)
    return literal
  }

  #push(
    parts: readonly SolverLiteral[] | null,
    key: string,
    prefers: boolean,
    group: number,
  ): SolverLiteral {
    this.#keys.push(key)
    this.#groups.push(group)
    this.#prefers.push(prefers)
    return this.#parts.push(parts) - 1
  }
}

function ascending(left: number, right: number): number {
  return left - right
}
