/** How scanning and staging fail: with a fault, as stores and homes do. */
import type { Fault } from '../../base/index.ts'

export class TreeFailure extends Error {
  override readonly name = 'TreeFailure'
  readonly fault: Fault

  constructor(failed: Fault, options?: { readonly cause?: unknown }) {
    super(`${failed.code}: ${failed.message}`, options)
    this.fault = failed
  }
}
