/**
 * How promotions, rollbacks and recoveries fail: with a fault, as stores do. Inside the room a step
 * throws a `Collision` where it meets changes of another process; the caller puts everything back and
 * turns it into a fault with all the paths.
 */
import { type Code, FaultError, fault, showPath } from '../../base/index.ts'
import { displayOfRaw, type RawPath } from '../../gate/index.ts'
import { errnoOf, namedPath } from '../../machine/index.ts'

/** Paths that another process has changed. Thrown and caught inside the room only. */
export class Collision extends Error {
  override readonly name = 'Collision'
  readonly paths: readonly RawPath[]

  constructor(paths: readonly RawPath[]) {
    super(`collision at ${paths.length} paths`)
    this.paths = paths
  }
}

type PathsCode =
  | 'promote.conflict'
  | 'promote.stage_altered'
  | 'rollback.conflict'
  | 'rollback.altered'

/** A failure that names every path it is about. */
export function pathsFailure(code: PathsCode, found: readonly RawPath[], hint?: string) {
  const paths = displayed(found)
  const message = `${WORDS[code]} ${listed(paths)}`
  const words = { message, hint: hint ?? HINTS[code] }
  return new FaultError(fault(code, paths[0] ?? '', { paths }, words))
}

const WORDS: Readonly<Record<PathsCode, string>> = {
  'promote.conflict': 'another program changed this since the rehearsal:',
  'promote.stage_altered': 'the staged bytes are not the rehearsed ones:',
  'rollback.conflict': 'another program changed this since the promotion:',
  'rollback.altered': 'the kept old version is not what was displaced:',
}

const HINTS: Readonly<Record<PathsCode, string>> = {
  'promote.conflict':
    'nothing was changed; run the command again on the tree as it is now, or see `writ session show` if a session made the change',
  'promote.stage_altered': 'nothing was changed; run the command again',
  'rollback.conflict':
    'nothing was restored; move your own changes of these paths aside, then run the same again',
  'rollback.altered': 'nothing was restored; look at these paths, then `writ rollback ID --as-is`',
}

export function displayed(paths: readonly RawPath[]): string[] {
  return [...new Set(paths)].sort().map(displayOfRaw)
}

const SHOWN_MAX = 3

export function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN_MAX).map(showPath).join(', ')
  return paths.length > SHOWN_MAX ? `${shown} and ${paths.length - SHOWN_MAX} more` : shown
}

/** What the machine refused, under the code that says what it means for a promotion. */
export function machineFailure(error: unknown, at: string): Error {
  if (error instanceof FaultError) return error
  const reason = errnoOf(error)
  if (reason === null) return error instanceof Error ? error : new Error(String(error))
  const code = MACHINE_CODES[reason] ?? 'promote.failed'
  // An error with an errno comes from Node, which adds the path where there is one.
  const path = namedPath((error as NodeJS.ErrnoException).path ?? at)
  const what = MACHINE_WORDS[reason] ?? `the machine refused it (${reason})`
  const where = path === at || at === '' ? '' : `, in ${showPath(at)}`
  const message = `${what}: ${showPath(path)}${where}; nothing was changed`
  const hint = MACHINE_HINTS[reason] ?? 'mend the cause, then run the command again'
  // None of these codes carries details.
  return new FaultError(fault(code, path, null, { message, hint }), { cause: error })
}

const RIGHTS =
  'look at its owner and mode (`ls -ld`) and its flags (`lsattr -d`), then run it again'
const ROOM = 'make room there (`writ gc` removes leftovers of writ), then run the command again'

const MACHINE_HINTS: Readonly<Record<string, string>> = {
  ENOSPC: ROOM,
  EDQUOT: ROOM,
  EACCES: RIGHTS,
  EPERM: RIGHTS,
}

const MACHINE_WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on the disk (ENOSPC)',
  EDQUOT: 'the disk quota is used up (EDQUOT)',
  EROFS: 'the filesystem is read-only (EROFS)',
  EACCES: 'permission denied (EACCES)',
  EPERM: 'the system does not permit it (EPERM)',
  EIO: 'the disk failed (EIO)',
}

const MACHINE_CODES: Readonly<Record<string, PlainCode>> = {
  ENOSPC: 'promote.no_space',
  EDQUOT: 'promote.no_space',
  EROFS: 'promote.unsupported_fs',
  EXDEV: 'promote.unsupported_fs',
  ENOTSUP: 'promote.unsupported_fs',
}

type PlainCode = Extract<
  Code,
  'promote.no_space' | 'promote.unsupported_fs' | 'promote.failed' | 'recovery.unknown'
>
