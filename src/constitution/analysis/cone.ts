/**
 * A question to the formulas as clauses for the solver: only what the question is about, and of each
 * conjunction only the direction in which it is asked (a model then gives the plain variables; the
 * value of a conjunction is worked out from them).
 */
import { type Formulas, FREE } from './formula.ts'
import { type Literal, type Solution, Solver } from './solver.ts'

export type Answer = Solution & { readonly steps: number }

/** Can all of `asserted` and `assumed` hold? A refusal names the assumed ones that take part in it. */
export function ask(
  formulas: Formulas,
  asserted: readonly Literal[],
  assumed: readonly Literal[],
  stepsMax: number,
): Answer {
  const cone = new Cone(formulas)
  const { units, clauses } = flatten(formulas, asserted)
  if (units.includes(formulas.no)) return { kind: 'unsatisfiable', core: [], steps: 1 }
  for (const literal of [...units, ...clauses.flat(), ...assumed]) cone.demand(literal)
  const solver = cone.build()
  for (const clause of clauses) solver.add(clause.map((literal) => cone.literal(literal)))
  // Last, so that every clause is watched before anything is known.
  for (const unit of units) solver.add([cone.literal(unit)])
  const solution = solver.solve(
    assumed.map((literal) => cone.literal(literal)),
    Math.max(0, stepsMax - solver.steps),
  )
  return { ...cone.translate(solution, assumed), steps: solver.steps }
}

/** What is asserted, as far as it can be said without naming conjunctions. */
function flatten(
  formulas: Formulas,
  asserted: readonly Literal[],
): { readonly units: Literal[]; readonly clauses: Literal[][] } {
  const units: Literal[] = []
  const clauses: Literal[][] = []
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

const FORWARDS = 1
const BACKWARDS = 2
const PAIRED_MAX = 5

class Cone {
  readonly #formulas: Formulas
  readonly #solver = new Solver()
  /** By variable of the formulas: that of the solver, and the directions that are asked for. */
  readonly #inner = new Map<number, number>()
  readonly #directions = new Map<number, number>()
  readonly #groups = new Map<number, Literal[]>()

  constructor(formulas: Formulas) {
    this.#formulas = formulas
  }

  literal(literal: Literal): Literal {
    const inner = this.#inner.get(Math.abs(literal)) as number
    return literal > 0 ? inner : -inner
  }

  demand(start: Literal): void {
    const open = [start]
    for (let literal = open.pop(); literal !== undefined; literal = open.pop()) {
      const variable = Math.abs(literal)
      const direction = literal > 0 ? FORWARDS : BACKWARDS
      const asked = this.#directions.get(variable) ?? 0
      if ((asked & direction) !== 0) continue
      this.#directions.set(variable, asked | direction)
      if (asked === 0) this.#enter(variable)
      for (const part of this.#formulas.partsOf(literal) ?? [])
        open.push(literal > 0 ? part : -part)
    }
  }

  /** Definitions of what was demanded, and the exclusive groups as far as they are in it. */
  build(): Solver {
    for (const [variable, asked] of this.#directions) {
      const parts = this.#formulas.partsOf(variable)
      if (parts === null) continue
      const gate = this.literal(variable)
      if ((asked & FORWARDS) !== 0)
        for (const part of parts) this.#solver.add([-gate, this.literal(part)])
      if ((asked & BACKWARDS) !== 0)
        this.#solver.add([gate, ...parts.map((part) => -this.literal(part))])
    }
    for (const group of this.#groups.values()) this.#exclude(group)
    return this.#solver
  }

  /** A variable outside the question has the value it prefers. */
  translate(solution: Solution, assumed: readonly Literal[]): Solution {
    if (solution.kind === 'satisfiable') {
      const isTrue = (variable: number) => {
        const inner = this.#inner.get(variable)
        return inner === undefined ? this.#formulas.preferenceOf(variable) : solution.isTrue(inner)
      }
      return { kind: 'satisfiable', isTrue }
    }
    if (solution.kind === 'budget') return solution
    const core = new Set(solution.core)
    return {
      kind: 'unsatisfiable',
      core: assumed.filter((literal) => core.has(this.literal(literal))),
    }
  }

  #enter(variable: number): void {
    const inner = this.#solver.newVariable(this.#formulas.preferenceOf(variable))
    this.#inner.set(variable, inner)
    if (variable === this.#formulas.yes) this.#solver.add([inner])
    const group = this.#formulas.groupOf(variable)
    if (group === FREE) return
    const members = this.#groups.get(group)
    if (members === undefined) this.#groups.set(group, [inner])
    else members.push(inner)
  }

  /** At most one holds: all pairs of a few, a chain through many. */
  #exclude(members: readonly Literal[]): void {
    if (members.length <= PAIRED_MAX) {
      members.forEach((one, index) => {
        for (const two of members.slice(index + 1)) this.#solver.add([-one, -two])
      })
      return
    }
    let before = members[0] as Literal
    for (const member of members.slice(1)) {
      const reached = this.#solver.newVariable()
      this.#solver.add([-before, -member])
      this.#solver.add([-before, reached])
      this.#solver.add([-member, reached])
      before = reached
    }
  }
}
