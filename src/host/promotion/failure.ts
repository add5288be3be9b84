/**
 * How promotions, rollbacks and recoveries fail: with a fault, as stores do. Inside the room a step
 * that met somebody else's work throws a `Collision`; the caller puts everything back and makes a
 * failure of it with all the paths.
 */
import { type Code, type Fault, fault, showName } from '../../base/index.ts'
import { displayOfRaw, type RawPath } from '../../gate/index.ts'

export class PromotionFailure extends Error {
  override readonly name = 'PromotionFailure'
  readonly fault: Fault

  constructor(failed: Fault, options?: { readonly cause?: unknown }) {
    super(`${failed.code}: ${failed.message}`, options)
    this.fault = failed
  }
}

/** Paths on which somebody else was at work. Thrown and caught inside the room only. */
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
  const words = hint === undefined ? { message } : { message, hint }
  return new PromotionFailure(fault(code, paths[0] ?? '', { paths }, words))
}

const WORDS: Readonly<Record<PathsCode, string>> = {
  'promote.conflict': 'changed by somebody else since the rehearsal:',
  'promote.stage_altered': 'the staged bytes are not the rehearsed ones:',
  'rollback.conflict': 'changed by somebody else since the promotion:',
  'rollback.altered': 'the pre-image is not what was displaced:',
}

export function displayed(paths: readonly RawPath[]): string[] {
  return [...new Set(paths)].sort().map(displayOfRaw)
}

const SHOWN_MAX = 3

export function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN_MAX).map(showName).join(', ')
  return paths.length > SHOWN_MAX ? `${shown} and ${paths.length - SHOWN_MAX} more` : shown
}

/** What the machine refused, under the code that says what it means for a promotion. */
export function machineFailure(error: unknown, at: string): Error {
  if (error instanceof PromotionFailure) return error
  const reason = errnoOf(error)
  if (reason === null) return error instanceof Error ? error : new Error(String(error))
  const code = MACHINE_CODES[reason] ?? 'promote.failed'
  const path = (error as NodeJS.ErrnoException).path ?? at
  const message = `${MACHINE_WORDS[reason] ?? `the machine refused it (${reason})`}: ${showName(path)}`
  // None of these codes carries details.
  return new PromotionFailure(fault(code, at, null, { message }), { cause: error })
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

export function plainFailure(code: PlainCode, at: string, message: string, hint?: string) {
  return new PromotionFailure(
    fault(code, at, null, hint === undefined ? { message } : { message, hint }),
  )
}

export function errnoOf(error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null
}

export function isAbsent(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}
