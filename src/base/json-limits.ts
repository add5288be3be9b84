/**
 * How large a document may be (C-3), and why a text or value was refused before any contract looked
 * at it. Graph documents are large by nature and have limits of their own. Depth counts containers.
 */
import type { Code } from './codes.ts'

export interface JsonLimits {
  readonly depthMax: number
  readonly valuesMax: number
  readonly bytesMax: number
}

export const DOCUMENT_LIMITS: JsonLimits = {
  depthMax: 64,
  valuesMax: 100_000,
  bytesMax: 8 * 1024 * 1024,
}

export const GRAPH_LIMITS: JsonLimits = {
  depthMax: 64,
  valuesMax: 2_000_000,
  bytesMax: 64 * 1024 * 1024,
}

/** Limits for a text that wraps one document in an envelope of a few keys, one level deeper. */
export function envelopeLimits(inner: JsonLimits): JsonLimits {
  return {
    depthMax: inner.depthMax + 1,
    valuesMax: inner.valuesMax * 2 + 4,
    bytesMax: inner.bytesMax * 2 + 1024,
  }
}

/**
 * Why a text or value was refused before any contract looked at it.
 */
export type JsonRefusalCode = Extract<
  Code,
  | 'document.not_json'
  | 'document.too_deep'
  | 'document.too_large'
  | 'document.duplicate_key'
  | 'document.bad_number'
  | 'document.lone_surrogate'
>

export interface JsonRefusal {
  readonly code: JsonRefusalCode
  /** JSON Pointer to the place. */
  readonly path: string
  readonly message: string
  readonly hint?: string
}
