/** Where an operation writes by its own word, held against what its node may write. */
import { matchesPath, type Operation, parseGlob } from '../../contracts/index.ts'
import type { AttemptOrder } from '../surface/attempt-surface.ts'

/** Paths that no glob of the node holds; what a command writes is seen by the rehearsal. */
export function undeclaredPaths(
  operation: Operation,
  { workspace, writes }: Pick<AttemptOrder, 'workspace' | 'writes'>,
): readonly string[] {
  const globs = writes.flatMap((glob) => parseGlob(`${workspace}/${glob}`) ?? [])
  return writtenPaths(operation).filter((path) => !globs.some((glob) => matchesPath(glob, path)))
}

function writtenPaths(operation: Operation): readonly string[] {
  switch (operation.type) {
    case 'FILE_WRITE':
    case 'DIRECTORY_CREATE':
    case 'DIRECTORY_DELETE':
    case 'CONFIG_CHANGE':
      return [operation.path]
    case 'FILE_DELETE':
      return operation.paths
    case 'FILE_MOVE':
      return [operation.from, operation.to]
    case 'COMMAND_EXECUTION':
    case 'FILE_READ':
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE':
    case 'NETWORK_REQUEST':
    case 'UI_AUTOMATION':
      return []
    default:
      return operation satisfies never
  }
}
