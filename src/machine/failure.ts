/**
 * Errors of the system: told apart by their errno, and turned into faults of scanning and staging
 * that name paths as people know them.
 */
import { readlinkSync } from 'node:fs'
import { FaultError, fault, faultError, showPath } from '../base/index.ts'

/** Turns an error of the system into a fault with a message for people; returns other errors as is. */
export function asFailure(
  error: unknown,
  code: 'stage.tool' | 'diff.unsupported',
  at: string,
): unknown {
  if (!(error instanceof Error) || error instanceof FaultError) return error
  // All fields of an `ErrnoException` may be absent.
  const { code: errno, syscall, path = at } = error as NodeJS.ErrnoException
  if (errno === undefined || syscall === undefined) return error
  const what = ERRNO_WORDS[errno] ?? `${syscall} failed (${errno})`
  const message = path === '' ? what : `${what}: ${showPath(namedPath(path))}`
  const words = isFull(errno) ? { message, hint: ROOM } : { message }
  return new FaultError(fault(code, namedPath(at), null, words), { cause: error })
}

/** A tool of the system failed while changes were set aside in a directory. */
export function toolFailure(tool: string, directory: string, stderr: string): FaultError {
  const at = namedPath(directory)
  const errno = /No space left on device/.test(stderr)
    ? 'ENOSPC'
    : /Disk quota exceeded/.test(stderr)
      ? 'EDQUOT'
      : ''
  const said = `${tool}: ${stderr.trim().slice(0, 500)}`
  const message = `${ERRNO_WORDS[errno] ?? said}, while changes were set aside in ${showPath(at)}`
  const hint = isFull(errno) ? ROOM : 'nothing was changed; mend the cause, then run it again'
  return faultError('stage.tool', at, message, hint)
}

function isFull(errno: string): boolean {
  return errno === 'ENOSPC' || errno === 'EDQUOT'
}

const ROOM =
  'nothing was changed; make room there (`writ gc` removes leftovers of writ), then run it again'

const ERRNO_WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on the disk (ENOSPC)',
  EDQUOT: 'the disk quota is used up (EDQUOT)',
  EROFS: 'the filesystem is read-only (EROFS)',
}

/** Returns the errno of an error of the system, null for any other error. */
export function errnoOf(error: unknown): string | null {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null
}

export function isAbsent(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

const THROUGH_DIRECTORY = /^\/proc\/(?:self|\d+)\/fd\/\d+/

/** Returns the path itself where it goes through an open directory; else, or if that is gone, as it is. */
export function namedPath(path: string): string {
  const [through] = THROUGH_DIRECTORY.exec(path) ?? []
  if (through === undefined) return path
  try {
    return `${readlinkSync(through)}${path.slice(through.length)}`
  } catch {
    return path
  }
}
