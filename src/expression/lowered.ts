/**
 * A part of an expression after it was checked: its type, and the function that evaluates it.
 */
import type { Evaluator, ValueType } from './environment.ts'
import type { Literal } from './syntax.ts'
import { fail } from './value.ts'

export interface Lowered {
  readonly type: ValueType
  readonly run: Evaluator
  /** The literal itself, while it may still adapt. */
  readonly literal: Literal | null
  /** The path that is read, when the part is nothing but a path. */
  readonly path: string | null
}

export const OVERFLOW = 'the result is beyond 64 bits'

/** The lowered form of a faulty part. It never runs, because an expression with a fault is not loaded. */
export const UNKNOWN: Lowered = {
  type: 'any',
  run: () => fail('expression.overload', 0, 'the expression was refused'),
  literal: null,
  path: null,
}

export function bool(run: Evaluator): Lowered {
  return { type: 'bool', run, literal: null, path: null }
}

export function literal(node: Literal): Lowered {
  const { value } = node
  return { type: node.type, run: () => value, literal: node, path: null }
}

/** An int literal as the double of the same value; everything else as it is. */
export function adapt(part: Lowered): Lowered {
  if (part.literal?.type !== 'int') return part
  const value = Number(part.literal.value)
  return literal({ kind: 'literal', at: part.literal.at, type: 'double', value })
}

export function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
