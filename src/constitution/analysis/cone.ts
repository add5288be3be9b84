/**
 * A question to the formulas as clauses for the solver: only what the question is about, and of each
 * conjunction only the direction in which it is asked (a model then gives the plain variables; the
 * value of a conjunction is worked out from them).
 */
import type { Model } from './domain.ts'
import { type Formulas, FREE } from './formula.ts'
import { type Literal, type Solution, Solver } from './solver.ts'

export type Answer = Solution & { readonly steps: number }

/** Can all of `asserted` hold? Made into clauses once, and then asked under any of `assumable`. */
export class Question {
  readonly #cone: Cone
  readonly #solver: Solver
  /** Steps that no answer has told of yet. */
  #untold: number

  constructor(
    formulas: Formulas,
    asserted: readonly Literal[],
    assumable: readonly Literal[] = [],
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

  /** A refusal names those of `assumed` that take part in it. */
  ask(assumed: readonly Literal[], stepsMax: number): Answer {
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

const STEPS_TO_ENTER = 32
const FORWARDS = 1
const BACKWARDS = 2
const PAIRED_MAX = 5

class Cone {
  readonly #formulas: Formulas
  readonly #solver = new Solver()
  /** By variable of the formulas: that of the solver. */
  readonly #inner = new Map<number, number>()
  /** By variable of the solver: that of the formulas, and the directions that are asked for. */
  readonly #outer: number[] = [0]
  readonly #directions: number[] = [0]
  readonly #groups = new Map<number, Literal[]>()

  constructor(formulas: Formulas) {
    this.#formulas = formulas
  }

  get steps(): number {
    return STEPS_TO_ENTER * this.#outer.length
  }

  literal(literal: Literal): Literal {
    const inner = this.#inner.get(Math.abs(literal)) as number
    return literal > 0 ? inner : -inner
  }

  demand(start: Literal): void {
    const open = [start]
    for (let literal = open.pop(); literal !== undefined; literal = open.pop()) {
      const variable = Math.abs(literal)
      const inner = this.#inner.get(variable) ?? this.#enter(variable)
      const direction = literal > 0 ? FORWARDS : BACKWARDS
      const asked = this.#directions[inner] as number
      if ((asked & direction) !== 0) continue
      this.#directions[inner] = asked | direction
      const parts = this.#formulas.partsOf(literal)
      if (parts === null) continue
      for (const part of parts) open.push(literal > 0 ? part : -part)
    }
  }

  /** Definitions of what was demanded, and the exclusive groups as far as they are in it. */
  build(): Solver {
    for (let gate = 1; gate < this.#outer.length; gate++) {
      const parts = this.#formulas.partsOf(this.#outer[gate] as number)
      if (parts === null) continue
      const asked = this.#directions[gate] as number
      if ((asked & FORWARDS) !== 0)
        for (const part of parts) this.#solver.addDistinct([-gate, this.literal(part)])
      if ((asked & BACKWARDS) !== 0)
        this.#solver.addDistinct([gate, ...parts.map((part) => -this.literal(part))])
    }
    for (const group of this.#groups.values()) this.#exclude(group)
    return this.#solver
  }

  /** The answer in terms of the formulas. */
  translate(solution: Solution, assumed: readonly Literal[]): Solution {
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

  /** At most one holds: all pairs of a few, a chain through many. */
  #exclude(members: readonly Literal[]): void {
    if (members.length <= PAIRED_MAX) {
      members.forEach((one, index) => {
        for (const two of members.slice(index + 1)) this.#solver.addDistinct([-one, -two])
      })
      return
    }
    let before = members[0] as Literal
    for (const member of members.slice(1)) {
      const reached = this.#solver.newVariable()
      this.#solver.addDistinct([-before, -member])
      this.#solver.addDistinct([-before, reached])
      this.#solver.addDistinct([-member, reached])
      before = reached
    }
  }
}

/**
 * Only what differs from the preference is kept. A function of its own, so that a model, which may
 * live long, does not hold on to the solver that found it.
 */
function modelOf(formulas: Formulas, against: ReadonlySet<number>): Model {
  return (variable) => formulas.preferenceOf(variable) !== against.has(variable)
}
