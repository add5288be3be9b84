/** The list of a map, read from a JSON file of the workspace as the run sees it. */
import { FaultError, faultCode } from '../../base/index.ts'
import { listIn, noList } from '../../flow/index.ts'
import { codeOf } from '../../machine/index.ts'

/** Failures of reading that make such a file unreadable. */
export const UNREADABLE: ReadonlySet<string> = new Set([
  'diff.unsupported',
  'diff.too_large',
  'EACCES',
])

export async function readList(
  read: () => Promise<Uint8Array | null>,
  field: string,
  max: number,
): Promise<ReturnType<typeof listIn>> {
  try {
    return listIn(await read(), field, max)
  } catch (error) {
    if (error instanceof FaultError && error.fault.code === 'flow.artifact_changed')
      return noList(null, 'unreadable', error.fault.message)
    if (!UNREADABLE.has(faultCode(error) ?? codeOf(error))) throw error
    return noList(null, 'unreadable', 'the file cannot be read: it is no plain file, or too large')
  }
}
