/**
 * The service looks whether its server still has what this machine has seen, in the form that this writ
 * knows, and whether machines of the home have signed it. Where it has not, nothing that the service would record belongs there: it ends.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { faultCode } from '../base/index.ts'
import type { HostedHome } from './call/hosted-home.ts'

const LOOK_MS = 5_000
const LASTING: ReadonlySet<string> = new Set([
  'ledger.truncated',
  'ledger.tampered',
  'ledger.corrupt',
  'ledger.version',
])

/** Resolves with the fault that ends the service; never while there is none. */
export async function watchLedger({ ledger }: HostedHome, stop: AbortSignal): Promise<Error> {
  while (!stop.aborted) {
    await pause(LOOK_MS, null, { signal: stop }).catch(() => null)
    try {
      await ledger.compareHeads()
    } catch (error) {
      if (error instanceof Error && LASTING.has(faultCode(error) ?? '')) return error
      // The server may be away for a while; the next look asks again.
    }
  }
  return new Promise(() => undefined)
}
