/**
 * Comparison, membership and arithmetic: which types an operator takes, and what it does. Numbers of
 * different types compare by value; arithmetic mixes no types.
 */
import { showName } from '../base/index.ts'
import {
  type Evaluator,
  elementOf,
  type Frame,
  isNullable,
  isNumber,
  kindOf,
  sayType,
  type ValueType,
  wordsOf,
} from './environment.ts'
import type { LowerContext } from './lower.ts'
import { adapt, bool, type Lowered, OVERFLOW } from './lowered.ts'
import { guess } from './parse.ts'
import type { ArithmeticOperator, Binary, CompareOperator } from './syntax.ts'
import {
  BUDGET,
  both,
  doubleArithmetic,
  equals,
  Failure,
  fail,
  intArithmetic,
  order,
} from './value.ts'

/** Counts work in units of sixteen characters or one member; null when there is enough left. */
export function charge(frame: Frame, units: number, at: number): Failure | null {
  frame.left -= units
  return frame.left < 0 ? tooCostly(at) : null
}

function tooCostly(at: number): Failure {
  return fail('expression.cost', at, `the evaluation needs more than ${BUDGET} steps`)
}

/** The failure of either operand, or of both; null when neither failed. */
function failureOf(left: unknown, right: unknown): Failure | null {
  if (left instanceof Failure) return right instanceof Failure ? both(left, right) : left
  return right instanceof Failure ? right : null
}

export function lowerCompare(
  lowering: LowerContext,
  node: Binary<'compare', CompareOperator>,
): Lowered {
  const { operator, at } = node
  const left = lowering.lower(node.left)
  const right = lowering.lower(node.right)
  if (operator === '==' || operator === '!=') {
    if (!checkEqual(lowering, left, right, at)) return bool(left.run)
    return bool(equality(left, right, operator === '==', at))
  }
  if (!isOrdered(left.type, right.type)) {
    const message = `${showName(operator)} cannot stand between ${sayType(left.type)} and ${sayType(right.type)}`
    lowering.refuse('expression.type', at, message)
  }
  return bool(ordering(left, right, operator, at))
}

function ordering(
  left: Lowered,
  right: Lowered,
  operator: Exclude<CompareOperator, '==' | '!='>,
  at: number,
): Evaluator {
  const compare = (frame: Frame, one: unknown, other: unknown): unknown => {
    if (typeof one === 'string' && typeof other === 'string') {
      const spent = charge(frame, Math.min(one.length, other.length) >> 4, at)
      if (spent !== null) return spent
    }
    const holds = order(operator, one, other)
    if (holds !== null) return holds
    return failureOf(one, other) ?? overload(operator, at, left, right, other)
  }
  const limit = right.literal?.value
  if (typeof limit === 'number') return compareTo(operator, left.run, limit, compare)
  return (frame) => compare(frame, left.run(frame), right.run(frame))
}

/** Most comparisons are of a number with a number that is written down. */
function compareTo(
  operator: Exclude<CompareOperator, '==' | '!='>,
  run: Evaluator,
  limit: number,
  compare: (frame: Frame, one: unknown, other: unknown) => unknown,
): Evaluator {
  switch (operator) {
    case '<':
      return (frame) => {
        const one = run(frame)
        return typeof one === 'number' ? one < limit : compare(frame, one, limit)
      }
    case '<=':
      return (frame) => {
        const one = run(frame)
        return typeof one === 'number' ? one <= limit : compare(frame, one, limit)
      }
    case '>':
      return (frame) => {
        const one = run(frame)
        return typeof one === 'number' ? one > limit : compare(frame, one, limit)
      }
    case '>=':
      return (frame) => {
        const one = run(frame)
        return typeof one === 'number' ? one >= limit : compare(frame, one, limit)
      }
    default:
      return operator satisfies never
  }
}

/** Blames the right operand where it is null, else the left one, by the path it was read under. */
function overload(
  operator: string,
  at: number,
  left: Lowered,
  right: Lowered,
  other: unknown,
): Failure {
  const path = other === null || left.path === null ? right.path : left.path
  const what = path === null ? 'what is here' : `${showName(path)} as it is`
  return fail('expression.overload', at, `${showName(operator)} cannot work with ${what}`, path)
}

function isOrdered(left: ValueType, right: ValueType): boolean {
  const [one, other] = [kindOf(left), kindOf(right)]
  const isSortable = (kind: string) => kind !== 'list' && kind !== 'object' && kind !== 'null'
  if (!isSortable(one) || !isSortable(other)) return false
  return one === other || one === 'any' || other === 'any' || (isNumber(one) && isNumber(other))
}

function equality(left: Lowered, right: Lowered, wanted: boolean, at: number): Evaluator {
  const { run } = left
  const word = right.literal?.value
  if (typeof word === 'string') {
    return (frame) => {
      const value = run(frame)
      return value instanceof Failure ? value : (value === word) === wanted
    }
  }
  return (frame) => {
    const one = run(frame)
    const other = right.run(frame)
    const failure = failureOf(one, other)
    if (failure !== null) return failure
    const same = equals(one, other, frame)
    return same === null ? tooCostly(at) : same === wanted
  }
}

/** Returns whether the two can be equal at all. Reports a fault if they cannot. */
function checkEqual(lowering: LowerContext, left: Lowered, right: Lowered, at: number): boolean {
  if (!isComparable(left.type, right.type)) {
    const isNull = kindOf(left.type) === 'null' || kindOf(right.type) === 'null'
    const other = kindOf(left.type) === 'null' ? right : left
    const message = isNull
      ? `${other.path === null ? 'this value' : showName(other.path)} is never null`
      : `${sayType(left.type)} is never equal to ${sayType(right.type)}`
    lowering.refuse('expression.type', at, message)
    return false
  }
  return checkWord(lowering, left, right) && checkWord(lowering, right, left)
}

/** Checks that a literal is one of the words of the field that it is compared with. */
function checkWord(lowering: LowerContext, part: Lowered, other: Lowered): boolean {
  const words = wordsOf(part.type)
  const word = other.literal
  if (words === null || word?.type !== 'string' || words.includes(word.value)) return true
  lowering.refuse(
    'expression.word',
    word.at,
    `${part.path === null ? 'the value' : showName(part.path)} is never ${showName(word.value)}`,
    guess(word.value, words) ?? `it is one of ${words.slice(0, 14).join(', ')}`,
  )
  return false
}

function isComparable(left: ValueType, right: ValueType): boolean {
  const [one, other] = [kindOf(left), kindOf(right)]
  if (one === 'any' || other === 'any') return true
  if (one === 'null') return isNullable(right)
  if (other === 'null') return isNullable(left)
  if (isNumber(one) && isNumber(other)) return true
  if (one !== other) return false
  const [element, otherElement] = [elementOf(left), elementOf(right)]
  return element === null || otherElement === null || isComparable(element, otherElement)
}

export function lowerIn(lowering: LowerContext, node: Binary<'in', 'in'>): Lowered {
  const { at } = node
  const left = lowering.lower(node.left)
  const right = lowering.lower(node.right)
  const kind = kindOf(right.type)
  const element = elementOf(right.type)
  if (kind === 'object' ? !isTextual(left.type) : kind !== 'list' && kind !== 'any') {
    const message = `\`in\` cannot look for ${sayType(left.type)} in ${sayType(right.type)}`
    lowering.refuse('expression.type', at, message)
  } else if (element !== null && !isComparable(left.type, element)) {
    const message = `${sayType(left.type)} is never in a list of which each item is ${sayType(element)}`
    lowering.refuse('expression.type', at, message)
  }
  if (node.right.kind === 'list') {
    for (const item of node.right.items) {
      if (item.kind === 'literal') checkWord(lowering, left, lowering.lower(item))
    }
  }
  if (element !== null) checkWord(lowering, { ...right, type: element }, left)
  return bool(membership(left, right, at))
}

function isTextual(type: ValueType): boolean {
  return kindOf(type) === 'string' || kindOf(type) === 'any'
}

function membership(left: Lowered, right: Lowered, at: number): Evaluator {
  return (frame) => {
    const value = left.run(frame)
    const holder = right.run(frame)
    const failure = failureOf(value, holder)
    if (failure !== null) return failure
    if (Array.isArray(holder)) return isAmong(value, holder, frame, at)
    if (typeof holder === 'object' && holder !== null && typeof value === 'string') {
      return Object.hasOwn(holder, value)
    }
    return overload('in', at, left, right, holder)
  }
}

function isAmong(value: unknown, list: readonly unknown[], frame: Frame, at: number): unknown {
  const spent = charge(frame, list.length, at)
  if (spent !== null) return spent
  if (typeof value === 'string') return list.includes(value)
  for (const item of list) {
    const same = equals(value, item, frame)
    if (same === null) return tooCostly(at)
    if (same) return true
  }
  return false
}

export function lowerArithmetic(
  lowering: LowerContext,
  node: Binary<'arithmetic', ArithmeticOperator>,
): Lowered {
  const { operator, at } = node
  const first = lowering.lower(node.left)
  const second = lowering.lower(node.right)
  const isWide = [first, second].some(({ type }) => ['double', 'any'].includes(kindOf(type)))
  const left = isWide ? adapt(first) : first
  const right = isWide ? adapt(second) : second
  const kinds = [kindOf(left.type), kindOf(right.type)].filter((kind) => kind !== 'any')
  const [kind = 'any', other = kind] = kinds
  const isFine = kind === other && isReckoned(kind, operator)
  if (!isFine) {
    const message = `${showName(operator)} cannot stand between ${sayType(left.type)} and ${sayType(right.type)}`
    const isMixed = isNumber(kind) && isNumber(other) && kind !== other
    const hint = isMixed ? 'turn one of the two with `int()` or `double()`' : null
    return lowering.refuse('expression.type', at, message, hint)
  }
  const type = kinds.length < 2 ? 'any' : kind
  const run =
    type === 'int'
      ? intRun(left, right, operator, at)
      : anyRun(tagged(left), tagged(right), operator, at)
  // `isReckoned` accepts scalar kinds only, and those are types.
  return { type: type as ValueType, run, literal: null, path: null }
}

function isReckoned(kind: string, operator: ArithmeticOperator): boolean {
  if (kind === 'string') return operator === '+'
  if (kind === 'double') return operator !== '%'
  return kind === 'int' || kind === 'any'
}

function intRun(
  left: Lowered,
  right: Lowered,
  operator: ArithmeticOperator,
  at: number,
): Evaluator {
  const divides = operator === '/' || operator === '%'
  return (frame) => {
    const one = left.run(frame)
    const other = right.run(frame)
    const failure = failureOf(one, other)
    if (failure !== null) return failure
    if (!isInt(one) || !isInt(other)) return overload(operator, at, left, right, other)
    if (divides && other === 0) return fail('expression.division', at, 'an int is divided by zero')
    return intArithmetic(operator, one, other) ?? fail('expression.overflow', at, OVERFLOW)
  }
}

function isInt(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Converts an int to a bigint, so that it differs from a double when the other type is unknown. */
function tagged(part: Lowered): Lowered {
  if (kindOf(part.type) !== 'int') return part
  const run: Evaluator = (frame) => {
    const value = part.run(frame)
    return typeof value === 'number' ? BigInt(value) : value
  }
  return { ...part, run }
}

/** Computes with doubles, texts, and values whose types are known only at evaluation. */
function anyRun(
  left: Lowered,
  right: Lowered,
  operator: ArithmeticOperator,
  at: number,
): Evaluator {
  return (frame) => {
    const one = left.run(frame)
    const other = right.run(frame)
    const failure = failureOf(one, other)
    if (failure !== null) return failure
    if (typeof one === 'number' && typeof other === 'number' && operator !== '%') {
      return doubleArithmetic(operator, one, other)
    }
    if (typeof one === 'string' && typeof other === 'string' && operator === '+') {
      return charge(frame, (one.length + other.length) >> 4, at) ?? joined(one, other, at)
    }
    if (typeof one !== 'bigint' || typeof other !== 'bigint') {
      return overload(operator, at, left, right, other)
    }
    if (other === 0n && (operator === '/' || operator === '%')) {
      return fail('expression.division', at, 'an int is divided by zero')
    }
    return intArithmetic(operator, one, other) ?? fail('expression.overflow', at, OVERFLOW)
  }
}

const TEXT_UNITS_MAX = 1_000_000

function joined(one: string, other: string, at: number): unknown {
  return one.length + other.length > TEXT_UNITS_MAX ? tooCostly(at) : one + other
}
