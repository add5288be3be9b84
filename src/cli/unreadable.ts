/** How a file that cannot be read is told, by every command that reads one. */
import { fault, showPath } from '../base/index.ts'
import type { Stop } from './command.ts'

export function unreadable(file: string, thrown: unknown): Stop['fault'] {
  const reason = (thrown as NodeJS.ErrnoException).code ?? 'unknown reason'
  const message = `${showPath(file)} cannot be read (${reason})`
  return fault('cli.file_unreadable', file, { file, reason }, { message })
}
