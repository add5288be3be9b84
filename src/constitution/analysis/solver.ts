/**
 * A small complete solver for propositional clauses (conflict-driven clause learning with two
 * watched literals, activity order and restarts). Callers solve the same clauses many times under
 * different assumptions. The rule language is finite, so clauses can express every question about
 * rules.
 *
 * A literal is a non-zero integer: `7` is variable 7, `-7` its negation. The answer is exact, or
 * `budget` if the steps are used up; it is never a guess. A step is one visit to a clause.
 *
 * INVARIANT (known variables): `newVariable` adds an entry to every list by variable, and every
 * literal names a variable of this solver, so reads by variable or literal find an entry.
 * INVARIANT (two watches): a watched clause has two literals or more; the first two are watched.
 */
import { VariableHeap } from './variable-heap.ts'

export type SolverLiteral = number

export type Solution =
  | { readonly kind: 'satisfiable'; readonly isTrue: (variable: number) => boolean }
  /** `core`: assumptions that cannot hold together, not necessarily as few as could be. */
  | { readonly kind: 'unsatisfiable'; readonly core: readonly SolverLiteral[] }
  | { readonly kind: 'budget' }

const UNSET = 0
const RESTART_CONFLICTS = 128
const ACTIVITY_GROWTH = 1.05
const ACTIVITY_MAX = 1e100
const NO_REASON: readonly number[] = []

export class Solver {
  /** Clauses by the literal they watch; index is the literal's slot. */
  #watches: number[][][] = [[], []]
  /** Per variable: 0 unset, 1 true, -1 false. */
  #values: number[] = [UNSET]
  #levels: number[] = [0]
  #reasons: (number[] | null)[] = [null]
  #activity: number[] = [0]
  #phases: number[] = [-1]
  #seen: boolean[] = [false]
  readonly #trail: SolverLiteral[] = []
  readonly #levelStarts: number[] = []
  #head = 0
  #growth = 1
  #steps = 0
  #isBroken = false
  // Known variables: the heap holds no others.
  readonly #order = new VariableHeap((variable) => this.#activity[variable] as number)

  /** All steps since the beginning. */
  get steps(): number {
    return this.#steps
  }

  /** Adds a variable. `prefers` is the value that the solver tries first. */
  newVariable(prefers = false): number {
    const variable = this.#values.length
    this.#values.push(UNSET)
    this.#levels.push(0)
    this.#reasons.push(null)
    this.#activity.push(0)
    this.#phases.push(prefers ? 1 : -1)
    this.#seen.push(false)
    this.#watches.push([], [])
    this.#order.insert(variable)
    return variable
  }

  /** Adds a clause: at least one of the literals holds. */
  add(literals: readonly SolverLiteral[]): void {
    const distinct = new Set(literals)
    for (const literal of distinct) if (distinct.has(-literal)) return
    this.addDistinct([...distinct])
  }

  /** Adds a clause in which each variable occurs once. Takes the list over. */
  addDistinct(literals: SolverLiteral[]): void {
    this.#backtrack(0)
    this.#steps += literals.length
    let kept = 0
    for (const literal of literals) {
      const value = this.#value(literal)
      if (value === 1) return
      if (value === UNSET) literals[kept++] = literal
    }
    literals.length = kept
    const [first] = literals
    if (first === undefined) this.#isBroken = true
    else if (kept === 1) this.#isBroken ||= !this.#assign(first, null) || this.#propagate() !== null
    else this.#watch(literals)
  }

  /** Looks for an assignment that satisfies every clause and every assumption. */
  solve(assumptions: readonly SolverLiteral[], stepsMax: number): Solution {
    this.#backtrack(0)
    const last = this.#steps + stepsMax
    if (this.#isBroken || this.#propagate() !== null) return { kind: 'unsatisfiable', core: [] }
    for (let conflicts = 1; ; ) {
      const conflict = this.#propagate()
      if (this.#steps++ > last) return { kind: 'budget' }
      if (conflict !== null) {
        if (this.#levelStarts.length === 0) {
          this.#isBroken = true
          return { kind: 'unsatisfiable', core: [] }
        }
        this.#learn(conflict)
        if (conflicts++ % RESTART_CONFLICTS === 0) this.#backtrack(0)
      } else {
        const step = this.#decide(assumptions)
        if (typeof step === 'number') return { kind: 'unsatisfiable', core: this.#coreOf(step) }
        if (step === 'complete') return { kind: 'satisfiable', isTrue: this.#model() }
      }
    }
  }

  #model(): (variable: number) => boolean {
    const values = [...this.#values]
    return (variable) => values[variable] === 1
  }

  /**
   * Assigns the next assumption on a level of its own; after these, the most active open variable.
   */
  #decide(assumptions: readonly SolverLiteral[]): 'decided' | 'complete' | SolverLiteral {
    while (this.#levelStarts.length < assumptions.length) {
      const assumed = assumptions[this.#levelStarts.length] as SolverLiteral
      const value = this.#value(assumed)
      if (value === -1) return assumed
      this.#levelStarts.push(this.#trail.length)
      if (value === UNSET) {
        this.#assign(assumed, null)
        return 'decided'
      }
    }
    for (let variable = this.#order.take(); variable !== 0; variable = this.#order.take()) {
      if (this.#values[variable] !== UNSET) continue
      this.#levelStarts.push(this.#trail.length)
      // Known variables.
      this.#assign(variable * (this.#phases[variable] as number), null)
      return 'decided'
    }
    return 'complete'
  }

  /** Returns the assumptions that force the negation of `refuted`, and `refuted` itself. */
  #coreOf(refuted: SolverLiteral): readonly SolverLiteral[] {
    const core = [refuted]
    const seen = new Set([Math.abs(refuted)])
    for (const literal of this.#trail.toReversed()) {
      const variable = Math.abs(literal)
      if (!seen.has(variable) || this.#levels[variable] === 0) continue
      const reason = this.#reasons[variable] ?? null
      if (reason !== null) for (const other of reason) seen.add(Math.abs(other))
      else core.push(literal)
    }
    return core
  }

  /** Returns the value of a literal. Relies on INVARIANT (known variables). */
  #value(literal: SolverLiteral): number {
    return literal > 0 ? (this.#values[literal] as number) : -(this.#values[-literal] as number)
  }

  #assign(literal: SolverLiteral, reason: number[] | null): boolean {
    const value = this.#value(literal)
    if (value !== UNSET) return value === 1
    const variable = Math.abs(literal)
    this.#values[variable] = literal > 0 ? 1 : -1
    this.#levels[variable] = this.#levelStarts.length
    this.#reasons[variable] = reason
    this.#trail.push(literal)
    return true
  }

  /** Watches the first two literals of a clause. Relies on INVARIANT (two watches). */
  #watch(clause: number[]): void {
    this.#watchesOf(clause[0] as SolverLiteral).push(clause)
    this.#watchesOf(clause[1] as SolverLiteral).push(clause)
  }

  /** Returns the clauses that watch a literal. Relies on INVARIANT (known variables). */
  #watchesOf(literal: SolverLiteral): number[][] {
    return this.#watches[literal > 0 ? 2 * literal : -2 * literal + 1] as number[][]
  }

  /** Assigns all consequences of the trail. Returns the clause that is broken, or null. */
  #propagate(): number[] | null {
    while (this.#head < this.#trail.length) {
      const falsified = -(this.#trail[this.#head++] as SolverLiteral)
      const conflict = this.#visitWatches(falsified)
      if (conflict !== null) return conflict
    }
    return null
  }

  #visitWatches(falsified: SolverLiteral): number[] | null {
    const watches = this.#watchesOf(falsified)
    let kept = 0
    this.#steps += watches.length
    for (let index = 0; index < watches.length; index++) {
      // `index` is below `watches.length`, and the clause has two watches.
      const clause = watches[index] as number[]
      if (clause[0] === falsified) {
        clause[0] = clause[1] as SolverLiteral
        clause[1] = falsified
      }
      // Two watches; `#moveWatch` leaves the first one in place.
      const first = clause[0] as SolverLiteral
      if (this.#value(first) !== 1 && this.#moveWatch(clause)) continue
      watches[kept++] = clause
      if (this.#value(first) === 1 || this.#assign(first, clause)) continue
      // Keeps the clauses that it has not visited; `index` is below `watches.length`.
      while (++index < watches.length) watches[kept++] = watches[index] as number[]
      watches.length = kept
      return clause
    }
    watches.length = kept
    return null
  }

  /** Watches another literal that is not false in place of the second one, if there is one. */
  #moveWatch(clause: number[]): boolean {
    this.#steps += clause.length >> 3
    for (let index = 2; index < clause.length; index++) {
      // `index` is below `clause.length`.
      const literal = clause[index] as SolverLiteral
      if (this.#value(literal) === -1) continue
      // Two watches.
      clause[index] = clause[1] as SolverLiteral
      clause[1] = literal
      this.#watchesOf(literal).push(clause)
      return true
    }
    return false
  }

  /**
   * Learns the clause of the first unique implication point, and backtracks to where it propagates.
   */
  #learn(conflict: number[]): void {
    const level = this.#levelStarts.length
    const learnt: SolverLiteral[] = []
    const touched: number[] = []
    let open = 0
    let position = this.#trail.length
    let reason: readonly number[] = conflict
    let pivot: SolverLiteral = 0
    do {
      this.#steps += reason.length
      for (const literal of reason) {
        const variable = Math.abs(literal)
        if (literal === pivot || this.#seen[variable] === true || this.#levels[variable] === 0)
          continue
        this.#seen[variable] = true
        touched.push(variable)
        this.#bump(variable)
        if (this.#levels[variable] === level) open++
        else learnt.push(literal)
      }
      // The trail holds `open` more seen literals, so `position` stays above -1.
      do pivot = this.#trail[--position] as SolverLiteral
      while (this.#seen[Math.abs(pivot)] !== true)
      // Only the last pivot can be a decision, which has no reason.
      reason = this.#reasons[Math.abs(pivot)] ?? NO_REASON
    } while (--open > 0)
    for (const variable of touched) this.#seen[variable] = false
    this.#growth *= ACTIVITY_GROWTH
    this.#addLearnt(-pivot, learnt)
  }

  #addLearnt(asserted: SolverLiteral, others: readonly SolverLiteral[]): void {
    const clause = [asserted, ...others]
    // The second watch is the literal assigned last, so that it is the first to open again.
    let deepest = 1
    for (let index = 2; index < clause.length; index++) {
      if (this.#levelOf(clause[index]) > this.#levelOf(clause[deepest])) deepest = index
    }
    if (clause.length === 1) {
      this.#backtrack(0)
      this.#assign(asserted, null)
      return
    }
    // The clause has two literals or more, and `deepest` is the index of one.
    const second = clause[deepest] as SolverLiteral
    clause[deepest] = clause[1] as SolverLiteral
    clause[1] = second
    this.#backtrack(this.#levelOf(second))
    this.#watch(clause)
    this.#assign(asserted, clause)
  }

  /** Returns the level of an assigned literal. Relies on INVARIANT (known variables). */
  #levelOf(literal: SolverLiteral | undefined): number {
    return this.#levels[Math.abs(literal as SolverLiteral)] as number
  }

  #bump(variable: number): void {
    // Known variables.
    const activity = (this.#activity[variable] as number) + this.#growth
    this.#activity[variable] = activity
    if (activity > ACTIVITY_MAX) {
      this.#activity = this.#activity.map((one) => one / ACTIVITY_MAX)
      this.#growth /= ACTIVITY_MAX
    }
    this.#order.rise(variable)
  }

  #backtrack(level: number): void {
    if (this.#levelStarts.length <= level) return
    // `level` is below the number of levels, and its start is within the trail.
    const start = this.#levelStarts[level] as number
    for (let index = this.#trail.length - 1; index >= start; index--) {
      const literal = this.#trail[index] as SolverLiteral
      const variable = Math.abs(literal)
      this.#phases[variable] = literal > 0 ? 1 : -1
      this.#values[variable] = UNSET
      this.#reasons[variable] = null
      this.#order.insert(variable)
    }
    this.#trail.length = start
    this.#levelStarts.length = level
    this.#head = start
  }
}
