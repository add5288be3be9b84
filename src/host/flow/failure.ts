/** What a run of a flow is stopped with: an error that carries its fault. */
import type { Fault } from '../../base/index.ts'

export class FlowFailure extends Error {
  override readonly name = 'FlowFailure'
  readonly fault: Fault

  constructor(fault: Fault, options?: { readonly cause?: unknown }) {
    super(`${fault.code}: ${fault.message}`, options)
    this.fault = fault
  }
}

/** The code of a failure of any room; null for anything else. */
export function codeOf(error: unknown): string | null {
  const { fault } = (error ?? {}) as { readonly fault?: { readonly code?: unknown } }
  return typeof fault?.code === 'string' ? fault.code : null
}
