/**
 * The order in which the CHECK nodes of one node judge it. Without edges among them all begin at once; an
 * edge from one to another lets the second begin when the first has approved; an Exception edge lets it
 * begin when the first has failed, in its place.
 */
import type { EdgesByNode } from './edge-ends.ts'
import { NONE } from './parts.ts'

export class CheckOrder {
  readonly #rules: number
  readonly #judged: Int32Array
  readonly #arriving: EdgesByNode
  readonly #isLate: (check: number) => boolean

  constructor(
    rules: number,
    judged: Int32Array,
    arriving: EdgesByNode,
    isLate: (check: number) => boolean,
  ) {
    this.#rules = rules
    this.#judged = judged
    this.#arriving = arriving
    this.#isLate = isLate
  }

  /** Returns those that begin as soon as there is something to judge. */
  firstOf(checks: readonly number[]): readonly number[] {
    if (this.#rules === 1) return checks.some(this.#isLate) ? NONE : checks
    const first: number[] = []
    const reached = new Set<number>()
    for (const check of checks) {
      const isFirst = !this.#isLate(check) && this.#before(check).length === 0
      if (isFirst && !this.isStandIn(check)) first.push(check)
      if (isFirst || this.#isLate(check)) reached.add(check)
    }
    this.#spread(checks, reached)
    for (const check of checks) {
      // Those that only follow one another in a circle begin with the first of them.
      if (reached.has(check)) continue
      first.push(check)
      reached.add(check)
      this.#spread(checks, reached)
    }
    return first
  }

  /** Adds what follows the nodes of a set. */
  #spread(checks: readonly number[], reached: Set<number>): void {
    for (let size = -1; size !== reached.size; ) {
      size = reached.size
      for (const check of checks) {
        if (this.#before(check).some((one) => reached.has(one))) reached.add(check)
      }
    }
  }

  isStandIn(check: number): boolean {
    if (this.#rules === 1 || (this.#judged[check] ?? -1) === -1) return false
    let isLedTo = false
    for (const edge of this.#arriving.of(check)) {
      if (edge.isForward) return false
      if (edge.document.class === 'Exception' && this.#isSibling(check, edge.source)) isLedTo = true
    }
    return isLedTo
  }

  #before(check: number): readonly number[] {
    return this.#arriving
      .of(check)
      .flatMap(({ isForward, source }) =>
        isForward && this.#isSibling(check, source) ? [source] : [],
      )
  }

  #isSibling(check: number, other: number): boolean {
    return check !== other && this.#judged[other] === this.#judged[check]
  }
}
