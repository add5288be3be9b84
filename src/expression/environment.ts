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

/** A function of the host: one argument, a text that stands in the source, and a bool for answer. */
export interface HostFunction {
  /** Turns the argument into what the host will be asked with, once, when the source is loaded. */
  readonly prepare: (argument: string) => Prepared
}

type Prepared =
  | { readonly ok: true; readonly argument: unknown }
  | { readonly ok: false; readonly message: string; readonly hint?: string }

/** The host's answers during one evaluation; null when it cannot tell. */
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

/** A read of an item of a macro; its path has the place of the item only once that matters. */
export interface LocalRead extends Read {
  readonly isLocal: true
}

/** One evaluation under way. */
export interface Frame extends Meter {
  readonly values: Readonly<Record<string, unknown>>
  readonly calls: HostCalls
  /** What decided so far; whoever finds that a part did not matter takes its reads out again. */
  readonly reads: (Read | LocalRead)[]
  /** The item that `exists` or `all` is at, and where it is; macros do not nest. */
  local: unknown
  localList: string
  localIndex: number
}

/** A part of an expression, ready to be evaluated: gives a value or a `Failure`. */
export type Run = (frame: Frame) => unknown
