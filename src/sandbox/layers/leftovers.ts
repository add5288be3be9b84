/**
 * What sandboxes of processes left behind that are gone: private directories, layers, and layers that
 * lie apart. Finds them by the mark of the process in their names; removes nothing.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isLeftBehind } from '../driver/owner.ts'
import { leftApart } from './overlay-plan.ts'

/** Returns the usual directory for sandboxes of this user. */
export function sandboxBase(): string {
  return `/tmp/writ-${process.getuid?.() ?? 0}`
}

/** Returns the paths that processes left in `base`, on these disks and in places for temporary files. */
export function sandboxLeftovers(base: string, disks: readonly string[]): readonly string[] {
  const layers = disks.flatMap((disk) => leftBehind(disk)).filter((path) => path.endsWith('.upper'))
  return [...leftBehind(base), ...leftApart(namesIn), ...layers]
}

/** Returns the entries of processes that are gone. */
export function leftBehind(directory: string | null, prefix = ''): readonly string[] {
  return namesIn(directory)
    .filter((name) => isLeftBehind(name, prefix))
    .map((name) => join(directory ?? '', name))
}

/** Returns no names of a directory that is not there, or goes while it is read. */
export function namesIn(directory: string | null): readonly string[] {
  try {
    return directory === null ? [] : readdirSync(directory)
  } catch {
    return []
  }
}
