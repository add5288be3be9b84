/**
 * The guard language as a tree: eight operators and nothing else. A guard is a closed JSON object. The
 * text form (`guard-text.ts`, `guard-print.ts`) is another notation for the same tree.
 *
 * Deliberately absent, and refused by the schema: comparison of numbers, thresholds, counts, order,
 * weights, probability, decay, inference, matching inside a text. Adding one is a breach.
 */
import type { TSchema } from 'typebox'
import * as Type from 'typebox'
import {
  GUARD_PATHS,
  type GuardPath,
  type ScalarPath,
  type SetPath,
  WINDOW_LEAVES,
} from './paths.ts'

export const GUARD_OPERATORS = [
  'AND',
  'OR',
  'NOT',
  'EQ',
  'IN',
  'EXISTS',
  'INTERSECTS',
  'WINDOW_MATCH',
] as const
export type GuardOperator = (typeof GUARD_OPERATORS)[number]

/** One side of INTERSECTS: a path that holds a set, or the words themselves. */
export type GuardSide = SetPath | readonly string[]

export type Guard =
  | { readonly op: 'AND' | 'OR'; readonly args: readonly Guard[] }
  | { readonly op: 'NOT'; readonly arg: Guard }
  | { readonly op: 'EQ'; readonly field: ScalarPath; readonly value: string }
  | { readonly op: 'IN'; readonly field: ScalarPath; readonly set: readonly string[] }
  | { readonly op: 'EXISTS'; readonly field: GuardPath }
  | { readonly op: 'INTERSECTS'; readonly left: GuardSide; readonly right: GuardSide }
  | { readonly op: 'WINDOW_MATCH' }

/** Every path an admitted guard reads; WINDOW_MATCH reads its four leaves. */
export function pathsRead(guard: Guard): ReadonlySet<GuardPath> {
  const read = new Set<GuardPath>()
  collectPaths(guard, read)
  return read
}

function collectPaths(guard: Guard, read: Set<GuardPath>): void {
  switch (guard.op) {
    case 'AND':
    case 'OR':
      for (const arg of guard.args) collectPaths(arg, read)
      return
    case 'NOT':
      return collectPaths(guard.arg, read)
    case 'EQ':
    case 'IN':
    case 'EXISTS':
      read.add(guard.field)
      return
    case 'INTERSECTS':
      for (const side of [guard.left, guard.right]) if (typeof side === 'string') read.add(side)
      return
    case 'WINDOW_MATCH':
      for (const leaf of WINDOW_LEAVES) read.add(leaf)
      return
    default:
      return guard satisfies never
  }
}

/** What is missing or has the wrong JSON type, and has no code of its own. */
export const SHAPE = { required: 'shape', '*': 'shape' } as const

/** A closed object of a ruleset. */
export const CLOSED = {
  additionalProperties: false,
  'x-code': { ...SHAPE, unknown: 'extra_field' },
} as const

export const PathSchema = Type.Enum([...GUARD_PATHS], {
  'x-code': { required: 'shape', '*': 'path' },
  'x-says': 'one of the 28 input paths, written in full',
})

export const ValueSchema = Type.String({
  minLength: 1,
  'x-code': { required: 'shape', '*': 'value' },
})

export const SetSchema = Type.Array(ValueSchema, {
  minItems: 1,
  'x-code': { ...SHAPE, minItems: 'empty' },
})

const named = <const O extends GuardOperator>(op: O) => Type.Literal(op, { 'x-code': SHAPE })
const Nested = Type.Ref('#/$defs/Guard', { 'x-code': SHAPE })
const Side = Type.Union([PathSchema, SetSchema], { 'x-code': SHAPE })

const NODES = [
  Type.Object(
    {
      op: Type.Enum(['AND', 'OR'], { 'x-code': SHAPE }),
      args: Type.Array(Nested, { minItems: 1, 'x-code': { ...SHAPE, minItems: 'empty' } }),
    },
    CLOSED,
  ),
  Type.Object({ op: named('NOT'), arg: Nested }, CLOSED),
  Type.Object({ op: named('EQ'), field: PathSchema, value: ValueSchema }, CLOSED),
  Type.Object({ op: named('IN'), field: PathSchema, set: SetSchema }, CLOSED),
  Type.Object({ op: named('EXISTS'), field: PathSchema }, CLOSED),
  Type.Object({ op: named('INTERSECTS'), left: Side, right: Side }, CLOSED),
  Type.Object({ op: named('WINDOW_MATCH') }, CLOSED),
] as const

const CHOSEN_BY_OPERATOR = { 'x-choose': 'op', 'x-code': SHAPE } as const

/** Definitions that a schema must carry at its root when it uses `GuardOrText`. */
export const GUARD_DEFINITIONS: Readonly<Record<string, TSchema>> = {
  Guard: Type.Union([...NODES], CHOSEN_BY_OPERATOR),
}

/** A guard as documents carry it: the text form or the tree. */
export const GuardOrText = Type.Unsafe<Guard | string>(
  Type.Union([Type.String({ minLength: 1, 'x-code': SHAPE }), ...NODES], CHOSEN_BY_OPERATOR),
)

/** The schema of a tree by itself, outside a ruleset. */
export const GuardSchema = Type.Union([...NODES], {
  ...CHOSEN_BY_OPERATOR,
  $defs: GUARD_DEFINITIONS,
})
