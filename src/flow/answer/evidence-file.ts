/**
 * Files that say how a run goes on: evidence for a guard, and the list of a map. Both are JSON files, and a
 * field is read by its way, `a.b.c`; says why where there is no value that counts.
 */
import { digestBytes, GRAPH_LIMITS, readJson } from '../../base/index.ts'
import { isObject, type ListProblem, listFault } from '../../contracts/index.ts'
import type { EvidenceValue } from '../state/event.ts'

export type FoundEvidence = Omit<EvidenceValue, 'edge_id'>

/** `bytes` are null when there is no such file. */
export function evidenceIn(bytes: Uint8Array | null, field: string): FoundEvidence {
  if (bytes === null) return { digest: null, value: null, problem: 'missing' }
  const digest = digestBytes(bytes)
  const document = jsonIn(bytes)
  if (document === undefined) return { digest, value: null, problem: 'not_json' }
  const value = fieldIn(document, field)
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

interface FoundList {
  readonly digest: string | null
  readonly items: readonly unknown[] | null
  readonly problem?: ListProblem
  readonly why?: string
}

/** A file with more bytes is not looked at. */
const LIST_FILE_BYTES_MAX = 4 * 1024 * 1024

/** Returns the list of a map from the bytes of its file; null for a file that is not there. */
export function listIn(bytes: Uint8Array | null, field: string, max: number): FoundList {
  if (bytes === null) return noList(null, 'missing', 'there is no such file')
  const digest = digestBytes(bytes)
  if (bytes.length > LIST_FILE_BYTES_MAX)
    return noList(
      digest,
      'too_large',
      `the file has ${bytes.length} bytes, and ${LIST_FILE_BYTES_MAX} are allowed`,
    )
  const document = jsonIn(bytes)
  if (document === undefined) return noList(digest, 'not_json', 'the file is no JSON')
  const value = field === '.' ? document : fieldIn(document, field)
  if (value === undefined) return noList(digest, 'no_field', 'the file does not have the field')
  const fault = listFault(value, max)
  if (fault !== null) return noList(digest, fault.problem, fault.message)
  // `listFault` accepts lists alone.
  return { digest, items: value as readonly unknown[] }
}

/** What is found where no list can be read. */
export function noList(digest: string | null, problem: ListProblem, why: string): FoundList {
  return { digest, items: null, problem, why }
}

/** Returns a field by its way, `a.b.c`; undefined if there is none. */
function fieldIn(document: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>(
      (part, step) => (isObject(part) && Object.hasOwn(part, step) ? part[step] : undefined),
      document,
    )
}
