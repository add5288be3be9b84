/**
 * What an expression may speak of: variables with their types, and functions that the host answers.
 * Nothing else exists: no globals, no methods of values but those of the language.
 */
import type { Meter } from './value.ts'

export interface Environment {
  readonly variables: Readonly<Record<string, ValueType>>
  readonly functions?: Readonly<Record<string, HostFunction>>
}

/** A function of the host. It takes one text literal and returns a bool. */
export interface HostFunction {
  /** Converts the literal to the argument of the host's function, once, when the source is loaded. */
  readonly prepare: (argument: string) => Prepared
}

type Prepared =
  | { readonly ok: true; readonly argument: unknown }
  | { readonly ok: false; readonly message: string; readonly hint?: string }

/** The host's functions during one evaluation. They return null when they have no answer. */
export type HostCalls = Readonly<Record<string, (argument: unknown) => HostAnswer | null>>

export interface HostAnswer {
  readonly value: boolean
  /** What made it true, such as the path that matched. */
  readonly witness?: string
}

/** A value that was read, by the path it was read under. */
export interface Read {
  readonly path: string
  readonly value: unknown
  readonly witness?: string
}

/** A read of a macro's item. Its path gets the index of the item only if that item decides. */
export interface LocalRead extends Read {
  readonly isLocal: true
}

/** One evaluation under way. */
export interface Frame extends Meter {
  readonly values: Readonly<Record<string, unknown>>
  readonly calls: HostCalls
  /** The reads that decided so far. An operator removes the reads of a part that did not matter. */
  readonly reads: (Read | LocalRead)[]
  /** The current item of `exists` or `all`, its list and its index. Macros do not nest. */
  local: unknown
  localList: string
  localIndex: number
}

/** A part of an expression, ready to be evaluated: gives a value or a `Failure`. */
export type Evaluator = (frame: Frame) => unknown

type ScalarType = 'bool' | 'int' | 'double' | 'string' | 'null' | 'any'

export type ValueType =
  | ScalarType
  | ListType
  | ObjectType
  /** A text that is one of these; comparing it with any other word is refused. */
  | { readonly words: readonly string[] }
  | { readonly nullable: ValueType }

interface ListType {
  readonly list: ValueType
}

export interface ObjectType {
  readonly fields: Readonly<Record<string, ValueType>>
  /** What every other key holds; absent when there is no other key. */
  readonly others?: ValueType
  /** Why a field is not here although a reader may look for it: the hint that is given instead. */
  readonly withheld?: Readonly<Record<string, string>>
}

export type Kind = ScalarType | 'list' | 'object'

/** The type without null. */
function solid(type: ValueType): Exclude<ValueType, { readonly nullable: ValueType }> {
  let current = type
  while (typeof current === 'object' && 'nullable' in current) current = current.nullable
  return current
}

/**
 * The types of values in expressions. A number declared `int` is a CEL int (64 bits), any other number
 * a double. The type of an `any` value is known only at evaluation; a number in it is a double.
 */
export function isNullable(type: ValueType): boolean {
  return type === 'null' || type === 'any' || (typeof type === 'object' && 'nullable' in type)
}

export function kindOf(type: ValueType): Kind {
  const inner = solid(type)
  if (typeof inner === 'string') return inner
  if ('list' in inner) return 'list'
  return 'words' in inner ? 'string' : 'object'
}

export function isNumber(kind: Kind): boolean {
  return kind === 'int' || kind === 'double'
}

export function wordsOf(type: ValueType): readonly string[] | null {
  const inner = solid(type)
  return typeof inner === 'object' && 'words' in inner ? inner.words : null
}

export function objectOf(type: ValueType): ObjectType | null {
  const inner = solid(type)
  return typeof inner === 'object' && 'fields' in inner ? inner : null
}

export function elementOf(type: ValueType): ValueType | null {
  const inner = solid(type)
  return typeof inner === 'object' && 'list' in inner ? inner.list : null
}

const NAMES: Readonly<Record<Kind, string>> = {
  bool: 'a bool',
  int: 'an int',
  double: 'a double',
  string: 'a string',
  null: 'null',
  any: 'any value',
  list: 'a list',
  object: 'an object',
}

export function sayType(type: ValueType): string {
  return NAMES[kindOf(type)]
}

/** What holds for a value that is of one of these types. */
export function joined(types: readonly ValueType[]): ValueType {
  const known = types.filter((type) => kindOf(type) !== 'null')
  const [first] = known
  if (first === undefined) return types.length === 0 ? 'any' : 'null'
  const kind = kindOf(first)
  if (kind === 'any' || known.some((type) => kindOf(type) !== kind)) return 'any'
  const inner = joinedSolid(known.map(solid), kind)
  return types.some(isNullable) ? { nullable: inner } : inner
}

/** Types of one kind, none of them nullable. */
function joinedSolid(types: readonly ValueType[], kind: Kind): ValueType {
  const [first = 'any'] = types
  if (types.every((type) => type === first)) return first
  if (kind === 'string') return 'string'
  if (kind === 'list') return { list: joined(types.map((type) => elementOf(type) ?? 'any')) }
  return 'any'
}
