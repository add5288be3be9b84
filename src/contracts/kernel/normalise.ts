/**
 * What normalisation is (C-6): a total, idempotent function that never mutates its input and lists
 * every repair it made. Time and fresh ids are handed in, so that it stays pure.
 */
import type { Context } from './contract.ts'

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
}

export type Normalise = (raw: unknown, context: Context, sources: Sources) => Normalised
