/** How scanning and staging fail: with a fault, as stores and homes do. */
import { type Fault, fault, showName } from '../../base/index.ts'

export class TreeFailure extends Error {
  override readonly name = 'TreeFailure'
  readonly fault: Fault

  constructor(failed: Fault, options?: { readonly cause?: unknown }) {
    super(`${failed.code}: ${failed.message}`, options)
    this.fault = failed
  }
}

/** What the system refused becomes a failure that people are told; anything else stays what it is. */
export function asFailure(
  error: unknown,
  code: 'stage.tool' | 'diff.unsupported',
  at: string,
): unknown {
  if (!(error instanceof Error) || error instanceof TreeFailure) return error
  const { code: errno, syscall } = error as NodeJS.ErrnoException
  if (errno === undefined || syscall === undefined) return error
  const { path = at } = error as NodeJS.ErrnoException
  const what = ERRNO_WORDS[errno] ?? `${syscall} failed (${errno})`
  const message = path === '' ? what : `${what}: ${showName(path)}`
  return new TreeFailure(fault(code, at, null, { message }), { cause: error })
}

const ERRNO_WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on the disk (ENOSPC)',
  EDQUOT: 'the disk quota is used up (EDQUOT)',
  EROFS: 'the filesystem is read-only (EROFS)',
}
