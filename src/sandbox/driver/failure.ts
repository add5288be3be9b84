/** How a sandbox fails: with a fault, before anything ran or after everything is dead. */
import { FaultError, fault } from '../../base/index.ts'

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
  return new FaultError(fault(code, at, null, hint === undefined ? { message } : { message, hint }))
}
