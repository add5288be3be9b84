/** How a command refuses a call that it does not understand. */
import { type FaultError, faultError } from '../../base/index.ts'

/** `hint` is a call that would be understood. */
export function usageError(message: string, hint?: string): FaultError {
  return faultError('cli.usage', '', message, hint)
}
