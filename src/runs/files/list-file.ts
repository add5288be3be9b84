/**
 * Files that say how a run goes on: evidence for a guard, and the list of a map. Both are JSON files of
 * the workspace, read as the run sees them and hashed into its record.
 */
import { digestBytes, faultCode, GRAPH_LIMITS, readJson } from '../../base/index.ts'
import { type ListProblem, listFault } from '../../contracts/index.ts'
import { codeOf } from '../../machine/index.ts'
import { isObject } from '../participant/participant-request.ts'

/** Failures of reading that make such a file unreadable. */
export const UNREADABLE: ReadonlySet<string> = new Set([
  'diff.unsupported',
  'diff.too_large',
  'EACCES',
])

/** A file with more bytes is not looked at. */
const LIST_FILE_BYTES_MAX = 4 * 1024 * 1024

interface FoundList {
  readonly digest: string | null
  readonly items: readonly unknown[] | null
  readonly problem?: ListProblem
  readonly why?: string
}

export async function readList(
  read: () => Promise<Uint8Array | null>,
  field: string,
  max: number,
): Promise<FoundList> {
  try {
    const bytes = await read()
    return bytes === null
      ? refused(null, 'missing', 'there is no such file')
      : listIn(bytes, field, max)
  } catch (error) {
    if (!UNREADABLE.has(faultCode(error) ?? codeOf(error))) throw error
    return refused(null, 'unreadable', 'the file cannot be read: it is no plain file, or too large')
  }
}

function listIn(bytes: Uint8Array, field: string, max: number): FoundList {
  const digest = digestBytes(bytes)
  if (bytes.length > LIST_FILE_BYTES_MAX)
    return refused(
      digest,
      'too_large',
      `the file has ${bytes.length} bytes, and ${LIST_FILE_BYTES_MAX} are allowed`,
    )
  const document = jsonIn(bytes)
  if (document === undefined) return refused(digest, 'not_json', 'the file is no JSON')
  const value = field === '.' ? document : fieldIn(document, field)
  if (value === undefined) return refused(digest, 'no_field', 'the file does not have the field')
  const fault = listFault(value, max)
  if (fault !== null) return refused(digest, fault.problem, fault.message)
  // `listFault` accepts lists alone.
  return { digest, items: value as readonly unknown[] }
}

function refused(digest: string | null, problem: ListProblem, why: string): FoundList {
  return { digest, items: null, problem, why }
}

/** Returns a field by its way, `a.b.c`; undefined if there is none. */
export function fieldIn(document: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>(
      (part, step) => (isObject(part) && Object.hasOwn(part, step) ? part[step] : undefined),
      document,
    )
}

/** Undefined when the bytes are no JSON; a name twice in one object has no one meaning, so it is none. */
export function jsonIn(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const reading = readJson(text, GRAPH_LIMITS)
    return reading.ok ? reading.value : undefined
  } catch {
    return undefined
  }
}
