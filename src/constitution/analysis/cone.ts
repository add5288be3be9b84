/**
 * Turns a question about formulas into clauses for the solver: only the formulas that the question
 * names, and of each conjunction only the direction that the question needs. A model then gives the
 * plain variables; the values of conjunctions follow from them.
 */
import type { Model } from './domain.ts'
import { type Formulas, FREE } from './formula.ts'
import { type Solution, Solver, type SolverLiteral } from './solver.ts'

export type CountedSolution = Solution & { readonly steps: number }

/** Asks whether all of `asserted` can hold. Builds the clauses once, for many sets of assumptions. */
export class SolverQuery {
  readonly #cone: Cone
  readonly #solver: Solver
  /** Steps that no answer has counted yet. */
  #untold: number

  constructor(
    formulas: Formulas,
    asserted: readonly SolverLiteral[],
    assumable: readonly SolverLiteral[] = [],
  ) {
    const cone = new Cone(formulas)
    const { units, clauses } = flatten(formulas, asserted)
    for (const unit of units) cone.demand(unit)
    for (const clause of clauses) for (const literal of clause) cone.demand(literal)
    for (const literal of assumable) cone.demand(literal)
    this.#cone = cone
    this.#solver = cone.build()
    for (const clause of clauses)
      this.#solver.addDistinct(clause.map((literal) => cone.literal(literal)))
    for (const unit of units) this.#solver.addDistinct([cone.literal(unit)])
    this.#untold = cone.steps + this.#solver.steps
  }

  /** Solves under assumptions. An unsatisfiable answer names the assumptions that are part of it. */
  ask(assumed: readonly SolverLiteral[], stepsMax: number): CountedSolution {
    const cone = this.#cone
    const before = this.#solver.steps - this.#untold
    const solution = this.#solver.solve(
      assumed.map((literal) => cone.literal(literal)),
      Math.max(0, stepsMax - this.#untold),
    )
    this.#untold = 0
    const steps = this.#solver.steps - before
    return { ...cone.translate(solution, assumed), steps }
  }
}

/** Splits the asserted formulas into units and clauses at their outermost conjunctions. */
function flatten(
  formulas: Formulas,
  asserted: readonly SolverLiteral[],
): { readonly units: SolverLiteral[]; readonly clauses: SolverLiteral[][] } {
  const units: SolverLiteral[] = []
  const clauses: SolverLiteral[][] = []
  const open = [...asserted]
  for (let literal = open.pop(); literal !== undefined; literal = open.pop()) {
    const parts = formulas.partsOf(literal)
    if (parts === null) {
      if (literal !== formulas.yes) units.push(literal)
    } else if (literal > 0) for (const part of parts) open.push(part)
    else clauses.push(parts.map((part) => -part))
  }
  return { units, clauses }
}

const STEPS_TO_ENTER = 32
const FORWARDS = 1
const BACKWARDS = 2
const PAIRED_MAX = 5

class Cone {
  readonly #formulas: Formulas
  readonly #solver = new Solver()
  /** By variable of the formulas: the variable of the solver. */
  readonly #inner = new Map<number, number>()
  /** By variable of the solver: the variable of the formulas, and the directions in demand. */
  readonly #outer: number[] = [0]
  readonly #directions: number[] = [0]
  readonly #groups = new Map<number, SolverLiteral[]>()

  constructor(formulas: Formulas) {
    this.#formulas = formulas
  }

  get steps(): number {
    return STEPS_TO_ENTER * this.#outer.length
  }

  literal(literal: SolverLiteral): SolverLiteral {
    // The constructor of `Question` demands every literal before it is translated.
    const inner = this.#inner.get(Math.abs(literal)) as number
    return literal > 0 ? inner : -inner
  }

  demand(start: SolverLiteral): void {
    const open = [start]
    for (let literal = open.pop(); literal !== undefined; literal = open.pop()) {
      const variable = Math.abs(literal)
      const inner = this.#inner.get(variable) ?? this.#enter(variable)
      const direction = literal > 0 ? FORWARDS : BACKWARDS
      const asked = this.#directions[inner] ?? 0
      if ((asked & direction) !== 0) continue
      this.#directions[inner] = asked | direction
      const parts = this.#formulas.partsOf(literal)
      if (parts === null) continue
      for (const part of parts) open.push(literal > 0 ? part : -part)
    }
  }

  /**
   * Adds the definitions of the demanded conjunctions, and the demanded parts of exclusive groups.
   */
  build(): Solver {
    for (const [gate, variable] of this.#outer.entries()) {
      const parts = this.#formulas.partsOf(variable)
      if (parts === null) continue
      const asked = this.#directions[gate] ?? 0
      if ((asked & FORWARDS) !== 0)
        for (const part of parts) this.#solver.addDistinct([-gate, this.literal(part)])
      if ((asked & BACKWARDS) !== 0)
        this.#solver.addDistinct([gate, ...parts.map((part) => -this.literal(part))])
    }
    for (const group of this.#groups.values()) this.#exclude(group)
    return this.#solver
  }

  /** Translates a solution into the variables of the formulas. */
  translate(solution: Solution, assumed: readonly SolverLiteral[]): Solution {
    if (solution.kind === 'budget') return solution
    if (solution.kind === 'satisfiable')
      return { kind: 'satisfiable', isTrue: this.#modelOf(solution.isTrue) }
    const core = new Set(solution.core)
    return {
      kind: 'unsatisfiable',
      core: assumed.filter((literal) => core.has(this.literal(literal))),
    }
  }

  #modelOf(isTrue: (variable: number) => boolean): Model {
    const against = new Set<number>()
    this.#outer.forEach((variable, inner) => {
      const isPlain = this.#formulas.partsOf(variable) === null
      if (isPlain && isTrue(inner) !== this.#formulas.preferenceOf(variable)) against.add(variable)
    })
    return modelOf(this.#formulas, against)
  }

  #enter(variable: number): number {
    const inner = this.#solver.newVariable(this.#formulas.preferenceOf(variable))
    this.#inner.set(variable, inner)
    this.#outer.push(variable)
    this.#directions.push(0)
    if (variable === this.#formulas.yes) this.#solver.addDistinct([inner])
    const group = this.#formulas.groupOf(variable)
    if (group === FREE) return inner
    const members = this.#groups.get(group)
    if (members === undefined) this.#groups.set(group, [inner])
    else members.push(inner)
    return inner
  }

  /** Lets at most one member hold: by pairs for a few members, by a chain for many. */
  #exclude(members: readonly SolverLiteral[]): void {
    if (members.length <= PAIRED_MAX) {
      members.forEach((one, index) => {
        for (const two of members.slice(index + 1)) this.#solver.addDistinct([-one, -two])
      })
      return
    }
    const [first = 0, ...others] = members
    let before = first
    for (const member of others) {
      const reached = this.#solver.newVariable()
      this.#solver.addDistinct([-before, -member])
      this.#solver.addDistinct([-before, reached])
      this.#solver.addDistinct([-member, reached])
      before = reached
    }
  }
}

/**
 * Makes a model that stores only the variables that differ from their preference. It is a function of
 * its own, so that a long-lived model does not keep the solver in memory.
 */
function modelOf(formulas: Formulas, against: ReadonlySet<number>): Model {
  return (variable) => formulas.preferenceOf(variable) !== against.has(variable)
}
