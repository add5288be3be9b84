/** How a sandbox fails: with a fault, before anything ran or after everything is dead. */
import { type Fault, fault } from '../../base/index.ts'

export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure'
  readonly fault: Fault

  constructor(failed: Fault, options?: { readonly cause?: unknown }) {
    super(`${failed.code}: ${failed.message}`, options)
    this.fault = failed
  }
}

type SandboxCode =
  | 'sandbox.control_missing'
  | 'sandbox.platform'
  | 'sandbox.unmapped_owner'
  | 'sandbox.filesystem'
  | 'sandbox.overlay_attributes'
  | 'sandbox.scope_mount'
  | 'sandbox.root'
  | 'sandbox.cwd'
  | 'sandbox.closed'
  | 'sandbox.failed'

/** `at` is the path or the control that the failure is about. */
export function sandboxFailure(code: SandboxCode, at: string, message: string, hint?: string) {
  return new SandboxFailure(
    fault(code, at, null, hint === undefined ? { message } : { message, hint }),
  )
}
