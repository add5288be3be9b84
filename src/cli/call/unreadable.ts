/** Faults about files that cannot be read or written, for every command. */
import { type FaultError, fault, showPath } from '../../base/index.ts'

export function unreadable(file: string, thrown: unknown): FaultError['fault'] {
  const reason = reasonOf(thrown)
  const message = `${showPath(file)} cannot be read (${reason})`
  return fault('cli.file_unreadable', file, { file, reason }, { message })
}

/** Returns the code of an error of the system, such as `ENOENT`; `unknown reason` for other errors. */
export function reasonOf(thrown: unknown): string {
  // Errors of the system have a code; other errors may lack the field.
  return (thrown as NodeJS.ErrnoException).code ?? 'unknown reason'
}
