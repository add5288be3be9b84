/**
 * What a contract is: a name, a schema, and a second, named phase of semantic checks. Frozen: an
 * incompatible change is a new contract.
 *
 * INVARIANT (checks do not hide one another): every check runs on every object, also on one whose
 * structure is broken, and so it reads each field as unknown and says nothing where it cannot.
 *
 * What normalisation is (C-6): a total, idempotent function that never mutates its input and lists
 * every repair it made. Time and fresh ids are handed in, so that it stays pure.
 */
import type { TSchema } from 'typebox'
import type { Code, JsonLimits } from '../../base/index.ts'
import type { Report } from './violation.ts'

/** Everything a document may be judged with besides itself; each contract says which keys it reads. */
export type Context = Readonly<Record<string, unknown>>

export type JsonObject = Readonly<Record<string, unknown>>

/** What a semantic check is handed. */
export interface Subject {
  readonly document: JsonObject
  readonly context: Context
  readonly report: Report
  /** The structure held, so closed parts hold known keys of known types: skip walking them. */
  readonly sound: boolean
}

export type Check = (subject: Subject) => void

/** The first part of every code the contract gives: `task` in `task.required`. */
export type Prefix = PrefixOf<Code>

/** Codes without a point are of no contract. */
type PrefixOf<C extends Code> = C extends `${infer P}.${string}` ? P : never

export interface Contract {
  readonly name: string
  /** One sentence for people: what the document is. */
  readonly title: string
  readonly prefix: Prefix
  readonly schema: TSchema
  readonly checks: readonly Check[]
  readonly limits: JsonLimits
  /** The document may stand on the ledger as a record's payload. */
  readonly isRecord: boolean
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The elements of an array, nothing for anything else: checks walk broken documents too. */
export function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** An own field of an object, undefined for anything else. */
export function field(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

export interface Repair {
  /** JSON Pointer into the document as it was when the repair was made. */
  readonly path: string
  readonly from: unknown
  readonly to: unknown
  /** The stable name of the rule that asked for the repair. */
  readonly rule: string
}

export interface Normalised {
  /** The repaired document; null when the input is no object. */
  readonly document: Readonly<Record<string, unknown>> | null
  readonly repairs: readonly Repair[]
  /** The repaired document would be over the limits of its contract, so nothing was repaired. */
  readonly isOutgrown?: true
}

/** Where time and chance come from. */
export interface Sources {
  readonly nowMs: number
  /** A fresh UUID at each call. */
  readonly newId: () => string
  /** The UUID for a name that a document uses in place of one; a fresh one without it. */
  readonly idOf?: (name: string) => string
}

export type Normalise = (raw: unknown, context: Context, sources: Sources) => Normalised
