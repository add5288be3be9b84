/** The service asks the pinned witnesses for cosignatures while it runs (H-9). */
import { setTimeout as pause } from 'node:timers/promises'
import { AnchorLoop, type AnchorPace } from '../witness/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import type { Log } from './look/log.ts'

const LOOK_MS = 5_000

export async function anchorOften(
  { ledger, home: { state } }: HostedHome,
  pace: AnchorPace,
  log: Log,
  stop: AbortSignal,
): Promise<void> {
  const loop = new AnchorLoop({ ledger, state }, pace, Date.now)
  while (!stop.aborted) {
    try {
      const report = await loop.look()
      if (report !== null) log.info({ event: 'anchored', cosigned: report.cosigned.length })
      for (const { code, witness, origin } of report?.failures ?? []) {
        log.warn({ event: 'not_anchored', code, witness, origin })
      }
    } catch {
      // The ledger may be away for a while; the next look asks again.
    }
    await pause(LOOK_MS, null, { signal: stop }).catch(() => null)
  }
}
