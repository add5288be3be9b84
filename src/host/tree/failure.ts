/** How scanning and staging fail: with a fault, as stores and homes do. */
import { type Fault, fault } from '../../base/index.ts'

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
  return new TreeFailure(fault(code, at, null, { message: `${syscall}: ${errno}` }), {
    cause: error,
  })
}
