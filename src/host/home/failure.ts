/** How homes and principals fail: with a fault, as stores do. */
import { type Fault, fault } from '../../base/index.ts'

export class HomeFailure extends Error {
  override readonly name = 'HomeFailure'
  readonly fault: Fault

  constructor(failed: Fault, options?: { readonly cause?: unknown }) {
    super(`${failed.code}: ${failed.message}`, options)
    this.fault = failed
  }
}

type PlainCode = 'home.missing' | 'home.untrusted' | 'home.moved' | 'home.copied' | 'home.malformed'

export function homeFailure(code: PlainCode, at: string, message: string, hint?: string) {
  return new HomeFailure(
    fault(code, at, null, hint === undefined ? { message } : { message, hint }),
  )
}

export function isAbsent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}
