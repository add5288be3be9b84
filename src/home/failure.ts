/** How homes and principals fail: with a fault, as stores do. */
import { FaultError, fault } from '../base/index.ts'

type PlainCode = 'home.missing' | 'home.untrusted' | 'home.moved' | 'home.copied' | 'home.malformed'

export function homeFailure(code: PlainCode, at: string, message: string, hint?: string) {
  return new FaultError(fault(code, at, null, hint === undefined ? { message } : { message, hint }))
}
