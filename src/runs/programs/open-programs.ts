/** Programs of the host that a text starts by name: which of them are known, and where. */
import { isPython } from './code-names.ts'
import { type Invocation, isShell } from './invocations.ts'
import { isTemporary, wordReason } from './known-words.ts'
import { below, type WorkspaceFiles } from './workspace-files.ts'

/** Programs whose words the search follows: interpreters and runners. */
function isFollowed(name: string): boolean {
  return isShell(name) || isPython(name) || /^(?:node|nodejs|make|gmake|npm)$/.test(name)
}

/** Why a program outside the workspace may start or load what is not followed; null if it does not. */
export function outsideReason(
  files: WorkspaceFiles,
  name: string,
  { program, words, directory, isRead }: Invocation,
): string | null {
  if (program.startsWith('/') && isTemporary(program))
    return 'it lies in a directory that all processes write'
  if (isRead === true || isFollowed(name)) return null
  if (name !== 'git') return wordReason(name, words)
  const place = directory === null ? null : files.pathOf(directory)
  const repository = place === null ? null : below(place, '.git')
  const isThere = repository !== null && (files.isDirectory(repository) || files.isFile(repository))
  // Elsewhere git takes the settings of a repository that the work may have made.
  return isThere ? wordReason(name, words) : 'it may run in a repository of the work'
}
