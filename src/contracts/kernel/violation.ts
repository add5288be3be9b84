/**
 * Violations, and the report that gathers them (C-1, C-2). A report drops exact repeats and lists the
 * rest by path in code-point order, then by code: same input, same bytes.
 *
 * INVARIANT (bounded answer): a hostile document can ask for an answer far larger than itself, such
 * as many violations below one very long key. Past `PATH_UNITS_MAX` nothing more is listed, and past
 * `GUESSES_MAX` looked-at names no more hints are sought. Honest documents come near neither.
 */
import { type Code, compareCodePoints, nearest, showName } from '../../base/index.ts'

export interface Violation {
  readonly code: Code
  /** JSON Pointer (RFC 6901) to the exact place. */
  readonly path: string
  /** One lower-case sentence in the user's words. */
  readonly message: string
  /** The nearest legal thing, when there is one. */
  readonly hint?: string
}

export interface Validation {
  readonly valid: boolean
  readonly violations: readonly Violation[]
}

const VALID: Validation = Object.freeze({ valid: true, violations: Object.freeze([]) })

const PATH_UNITS_MAX = 32 * 1024 * 1024
const GUESSES_MAX = 10_000

export class Report {
  readonly #violations: Violation[] = []
  #pathUnits = 0
  #guesses = 0

  add(code: Code, path: string, message: string, hint?: string | null): void {
    // The first is kept however long its path is: a broken document is never a valid one.
    if (this.#pathUnits > PATH_UNITS_MAX) return
    this.#pathUnits += path.length
    this.#violations.push(
      hint === undefined || hint === null ? { code, path, message } : { code, path, message, hint },
    )
  }

  get isEmpty(): boolean {
    return this.#violations.length === 0
  }

  /** A hint that names the legal name nearest to `name`, or null. */
  guess(name: string, legal: Iterable<string>): string | null {
    const near = nearest(name, this.#rationed(legal))
    return near === null ? null : `did you mean ${showName(near)}?`
  }

  *#rationed(legal: Iterable<string>): Iterable<string> {
    for (const name of legal) {
      if (this.#guesses++ >= GUESSES_MAX) return
      yield name
    }
  }

  finish(): Validation {
    if (this.#violations.length === 0) return VALID
    return { valid: false, violations: sortViolations(this.#violations) }
  }
}

export function sortViolations(violations: readonly Violation[]): readonly Violation[] {
  const sorted = [...violations].sort(compareViolations)
  return sorted.filter((violation, index) => {
    const before = sorted[index - 1]
    return before === undefined || compareViolations(before, violation) !== 0
  })
}

function compareViolations(left: Violation, right: Violation): number {
  return compareCodePoints(left.path, right.path) || compareCodePoints(left.code, right.code)
}
