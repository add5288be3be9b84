/** How a file that cannot be read is told, by every command that reads one. */
import { type FaultError, fault, showPath } from '../base/index.ts'

export function unreadable(file: string, thrown: unknown): FaultError['fault'] {
  const reason = (thrown as NodeJS.ErrnoException).code ?? 'unknown reason'
  const message = `${showPath(file)} cannot be read (${reason})`
  return fault('cli.file_unreadable', file, { file, reason }, { message })
}
