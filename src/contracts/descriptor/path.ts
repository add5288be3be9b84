/**
 * Paths as documents write them (G-2): absolute, in shortest form, at most as long as the kernel
 * allows; and the places that belong to the host alone (G-6). Text only: symbolic links, mounts and
 * homes are known to the host and judged there.
 */
import { utf8Length } from '../../base/index.ts'

export type PathFault = 'path_not_absolute' | 'path_not_normal'

/** What a Linux path and one name of it can be at most. */
const PATH_BYTES_MAX = 4_095
const NAME_BYTES_MAX = 255

/** What is wrong with the form of a path; null when nothing is. */
export function pathFault(path: string): PathFault | null {
  if (!path.startsWith('/')) return 'path_not_absolute'
  if (path === '/') return null
  if (path.length > PATH_BYTES_MAX || path.includes('\0')) return 'path_not_normal'
  if (utf8Length(path) > PATH_BYTES_MAX) return 'path_not_normal'
  return pathSegments(path).some(isAbnormal) ? 'path_not_normal' : null
}

function isAbnormal(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return true
  return name.length > NAME_BYTES_MAX / 3 && utf8Length(name) > NAME_BYTES_MAX
}

/** The names from the root down; the root itself has none. */
export function pathSegments(path: string): readonly string[] {
  return path === '/' ? [] : path.slice(1).split('/')
}

/** One sentence about a path of bad form, for a message. */
export function sayPathFault(fault: PathFault, shown: string): string {
  return fault === 'path_not_absolute'
    ? `the path ${shown} is not absolute`
    : `the path ${shown} is not in its shortest form, or too long for a file system`
}

/** Top-level directories that are the host's: kernel, devices, boot files. */
export const HOST_DIRECTORIES: readonly string[] = ['proc', 'sys', 'dev', 'boot']

/** Names, in a row at any depth, below which writ keeps its own configuration and state. */
export const WRIT_PLACES: readonly (readonly string[])[] = [['.writ'], ['.local', 'state', 'writ']]
