/**
 * Violations, and the report that gathers them (C-1, C-2). A report keeps everything it is told,
 * drops exact repeats, and lists by path in code-point order, then by code: same input, same bytes.
 */
import { type Code, compareCodePoints } from '../../base/index.ts'

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

export const VALID: Validation = Object.freeze({ valid: true, violations: Object.freeze([]) })

export class Report {
  readonly #violations: Violation[] = []

  add(code: Code, path: string, message: string, hint?: string | null): void {
    this.#violations.push(
      hint === undefined || hint === null ? { code, path, message } : { code, path, message, hint },
    )
  }

  get isEmpty(): boolean {
    return this.#violations.length === 0
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
