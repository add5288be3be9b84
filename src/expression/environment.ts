/**
 * What an expression may speak of: variables with their types, and functions that the host answers.
 * Nothing else exists: no globals, no methods of values but those of the language.
 */

import type { ValueType } from './type.ts'
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
