/**
 * How large a document may be (C-3). Graph documents are large by nature and have limits of their
 * own. Depth counts containers: a document of 64 nested arrays is legal, of 65 it is not.
 */

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
