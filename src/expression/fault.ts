/**
 * What is wrong with an expression, or why an evaluation could not tell: a code, the place in the
 * source, one sentence, and the nearest legal name where there is one. Values, never exceptions.
 */
import type { Code } from '../base/index.ts'

export type ExpressionCode = Extract<Code, `expression.${string}`>

interface Place {
  /** UTF-16 offset of the first character. */
  readonly offset: number
  /** From 1. */
  readonly line: number
  /** From 1, in code points. */
  readonly column: number
}

/** A reason to refuse a source when it is loaded. */
export interface ExpressionFault extends Place {
  readonly code: ExpressionCode
  readonly message: string
  readonly hint?: string
}

/** A reason why an evaluation is undetermined. */
export interface UndeterminedReason extends Place {
  readonly code: ExpressionCode
  /** What was being read when it failed, such as `state.score`; null when nothing was. */
  readonly path: string | null
  readonly message: string
}

/** A fault whose place is still an offset. */
export interface RawFault {
  readonly code: ExpressionCode
  readonly at: number
  readonly message: string
  readonly hint?: string | null
}

export function placeAt(source: string, offset: number): Place {
  const before = source.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  return { offset, line, column: [...before.slice(lineStart)].length + 1 }
}

export function settle(source: string, { code, at, message, hint }: RawFault): ExpressionFault {
  const fault = { code, message, ...placeAt(source, at) }
  return hint === undefined || hint === null ? fault : { ...fault, hint }
}

/** By place, then by code; one fault a place and code. */
export function settleAll(source: string, raw: readonly RawFault[]): readonly ExpressionFault[] {
  const sorted = [...raw].sort(
    (one, other) => one.at - other.at || (one.code < other.code ? -1 : 1),
  )
  return sorted
    .filter(({ code, at }, index) => {
      const before = sorted[index - 1]
      return before === undefined || before.at !== at || before.code !== code
    })
    .map((fault) => settle(source, fault))
}
