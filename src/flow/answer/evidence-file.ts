/** Reads the field of a file of evidence by its way, `a.b.c`; says why where there is no plain value. */
import { digestBytes, GRAPH_LIMITS, readJson } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import type { EvidenceValue } from '../state/event.ts'

export type FoundEvidence = Omit<EvidenceValue, 'edge_id'>

/** `bytes` are null when there is no such file. */
export function evidenceIn(bytes: Uint8Array | null, field: string): FoundEvidence {
  if (bytes === null) return { digest: null, value: null, problem: 'missing' }
  const digest = digestBytes(bytes)
  const document = jsonIn(bytes)
  if (document === undefined) return { digest, value: null, problem: 'not_json' }
  const value = field
    .split('.')
    .reduce<unknown>(
      (part, step) => (isObject(part) && Object.hasOwn(part, step) ? part[step] : undefined),
      document,
    )
  if (value === undefined) return { digest, value: null, problem: 'no_field' }
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  if (!isPlain) return { digest, value: null, problem: 'not_plain' }
  // `isPlain` has checked it; a finite number passes only as a number.
  return { digest, value: value as string | number | boolean }
}

/** Undefined when the bytes are no JSON; a name twice in one object has no one meaning, so it is none. */
function jsonIn(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const reading = readJson(text, GRAPH_LIMITS)
    return reading.ok ? reading.value : undefined
  } catch {
    return undefined
  }
}
