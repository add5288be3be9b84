/**
 * Values while they are worked with, and what CEL does with them. An int is a number where that is
 * exact and a bigint beyond, so that every int has one form; a double is a number. What goes wrong
 * is a `Failure`, a value like the others, which only a condition that settles without it can absorb.
 */
import { compareCodePoints } from '../base/index.ts'
import type { ExpressionCode } from './fault.ts'
import { narrow } from './parse.ts'
import type { ArithmeticOperator, CompareOperator } from './syntax.ts'
import { INT_MAX, INT_MIN } from './token.ts'

interface Cause {
  readonly code: ExpressionCode
  readonly at: number
  readonly path: string | null
  readonly message: string
}

/** How many causes one answer lists. */
const CAUSES_MAX = 16

export class Failure {
  readonly causes: readonly Cause[]

  constructor(causes: readonly Cause[]) {
    this.causes = causes
  }
}

export function fail(
  code: ExpressionCode,
  at: number,
  message: string,
  path: string | null = null,
): Failure {
  return new Failure([{ code, at, path, message }])
}

export function both(one: Failure | null, other: Failure): Failure {
  if (one === null) return other
  return new Failure([...one.causes, ...other.causes].slice(0, CAUSES_MAX))
}

type Int = number | bigint

/** The exact int, or null beyond 64 bits. */
export function intArithmetic(operator: ArithmeticOperator, left: Int, right: Int): Int | null {
  if (typeof left === 'number' && typeof right === 'number') {
    const quick = quickInt(operator, left, right)
    if (Number.isSafeInteger(quick)) return quick === 0 ? 0 : quick
  }
  const value = wideInt(operator, BigInt(left), BigInt(right))
  return value < INT_MIN || value > INT_MAX ? null : narrow(value)
}

/** Exact whenever the answer is a safe integer: a sum or product beyond is never rounded into one. */
function quickInt(operator: ArithmeticOperator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      // The quotient of two exact numbers may be rounded up to the next whole one.
      return (left - (left % right)) / right
    case '%':
      return left % right
    default:
      return operator satisfies never
  }
}

function wideInt(operator: ArithmeticOperator, left: bigint, right: bigint): bigint {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
    default:
      return operator satisfies never
  }
}

export function doubleArithmetic(
  operator: Exclude<ArithmeticOperator, '%'>,
  left: number,
  right: number,
): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    default:
      return operator satisfies never
  }
}

/** The int that a double has when its fraction is cut off; null when there is none. */
export function truncated(value: number): Int | null {
  const whole = Math.trunc(value)
  // 2^63 is a double and no int any more; the largest double below it is one.
  if (!(whole < 2 ** 63 && whole > -(2 ** 63))) return null
  return narrow(BigInt(whole))
}

/** Whether two values can be ordered: numbers by value, texts by code points, false before true. */
export function order(
  operator: Exclude<CompareOperator, '==' | '!='>,
  left: unknown,
  right: unknown,
): boolean | null {
  if (isNumeric(left) && isNumeric(right)) return holds(operator, left, right)
  if (typeof left === 'string' && typeof right === 'string') {
    return holds(operator, compareCodePoints(left, right), 0)
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') {
    return holds(operator, Number(left), Number(right))
  }
  return null
}

/** A number and a bigint are compared exactly by the language itself. */
function holds(
  operator: Exclude<CompareOperator, '==' | '!='>,
  left: number | bigint,
  right: number | bigint,
): boolean {
  switch (operator) {
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
    default:
      return operator satisfies never
  }
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Counts what has been spent on one evaluation; nothing is let grow beyond `BUDGET`. */
export interface Meter {
  left: number
}

export const BUDGET = 10_000_000

/** Equality by value: numbers of either type, lists and objects member by member; null: too costly. */
export function equals(left: unknown, right: unknown, meter: Meter): boolean | null {
  if (left === right) return true
  if (isNumeric(left) && isNumeric(right)) {
    // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint are compared by value
    return left == right
  }
  if (typeof left !== 'object' || typeof right !== 'object') return false
  if (left === null || right === null) return false
  return deepEquals(left, right, meter)
}

/** Without recursion: how deep documents nest is their authors' choice. */
function deepEquals(left: object, right: object, meter: Meter): boolean | null {
  const open: [unknown, unknown][] = [[left, right]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [one, other] = pair
    if (--meter.left < 0) return null
    const isPair = isComposite(one) && isComposite(other)
    if (!isPair) {
      if (isComposite(one) || isComposite(other) || equals(one, other, meter) !== true) return false
      continue
    }
    if (Array.isArray(one) !== Array.isArray(other)) return false
    const keys = Object.keys(one)
    if (keys.length !== Object.keys(other).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false
      open.push([one[key], other[key]])
    }
  }
  return true
}

function isComposite(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
