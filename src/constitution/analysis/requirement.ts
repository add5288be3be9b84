/**
 * Computes conditions that must hold wherever a formula holds, as far as they are cheap to find.
 * Two formulas whose requirements clash can never hold together, which settles most pairs of rules
 * without the solver.
 */
import { type Formulas, FREE } from './formula.ts'
import type { SolverLiteral } from './solver.ts'

export interface Requirements {
  readonly literals: ReadonlySet<SolverLiteral>
  /** By exclusive group: the variables of which one must be true. */
  readonly choices: ReadonlyMap<number, ReadonlySet<SolverLiteral>>
}

/** Computes requirements, once for each formula. */
export class RequirementBook {
  readonly #formulas: Formulas
  readonly #known = new Map<SolverLiteral, Requirements>()

  constructor(formulas: Formulas) {
    this.#formulas = formulas
  }

  of(literal: SolverLiteral): Requirements {
    const known = this.#known.get(literal)
    if (known !== undefined) return known
    const parts = this.#formulas.partsOf(literal)
    if (parts === null) return this.#ofVariable(literal)
    const requirements =
      literal > 0
        ? together(parts.map((part) => this.of(part)))
        : common(parts.map((part) => this.of(-part)))
    this.#known.set(literal, requirements)
    return requirements
  }

  #ofVariable(literal: SolverLiteral): Requirements {
    const group = literal > 0 ? this.#formulas.groupOf(literal) : FREE
    const literals = new Set([literal])
    return { literals, choices: group === FREE ? new Map() : new Map([[group, literals]]) }
  }
}

/** Joins the requirements of a conjunction: all of them hold. */
function together(all: readonly Requirements[]): Requirements {
  const literals = new Set<SolverLiteral>()
  const choices = new Map<number, ReadonlySet<SolverLiteral>>()
  for (const one of all) {
    for (const literal of one.literals) literals.add(literal)
    for (const [group, members] of one.choices) {
      const others = choices.get(group)
      choices.set(group, others === undefined ? members : intersection(others, members))
    }
  }
  return { literals, choices }
}

/** Joins the requirements of a disjunction: only those that all parts have in common. */
function common(all: readonly Requirements[]): Requirements {
  const [first, ...rest] = all
  if (first === undefined) return { literals: new Set(), choices: new Map() }
  const literals = new Set(
    [...first.literals].filter((literal) => rest.every((one) => one.literals.has(literal))),
  )
  const choices = new Map<number, ReadonlySet<SolverLiteral>>()
  for (const group of first.choices.keys()) {
    if (!rest.every((one) => one.choices.has(group))) continue
    choices.set(group, new Set(all.flatMap((one) => [...(one.choices.get(group) ?? [])])))
  }
  return { literals, choices }
}

/** Returns true only if the two can never hold together. */
export function clash(left: Requirements, right: Requirements): boolean {
  const [few, many] = left.literals.size < right.literals.size ? [left, right] : [right, left]
  for (const literal of few.literals) if (many.literals.has(-literal)) return true
  for (const [group, members] of few.choices) {
    const others = many.choices.get(group)
    if (others !== undefined && !meets(members, others)) return true
  }
  return false
}

function meets(left: ReadonlySet<SolverLiteral>, right: ReadonlySet<SolverLiteral>): boolean {
  const [few, many] = left.size < right.size ? [left, right] : [right, left]
  for (const literal of few) if (many.has(literal)) return true
  return false
}

function intersection(
  left: ReadonlySet<SolverLiteral>,
  right: ReadonlySet<SolverLiteral>,
): ReadonlySet<SolverLiteral> {
  return new Set([...left].filter((literal) => right.has(literal)))
}
