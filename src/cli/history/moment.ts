/** Moments as people give them: ISO 8601, a day, or how long ago (`90s`, `30m`, `12h`, `7d`). */
import { FaultError, fault, parseIsoMomentMs, showName } from '../../base/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { CommandCall } from '../call/command.ts'

const AGO = /^(\d{1,6})(s|m|h|d)$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** The option's moment in the form of facts; undefined without the option. */
export function momentOption(call: CommandCall, name: string, nowMs: number): string | undefined {
  const text = call.options.text(name)
  if (text === null) return undefined
  const ms = momentMs(text, nowMs)
  if (ms !== null) return occurredAtText(ms)
  const message = `${showName(text)} is no moment`
  const hint = `--${name} 2026-11-15T08:00:00Z, --${name} 2026-11-15 or --${name} 2h`
  throw new FaultError(fault('cli.usage', '', null, { message, hint }))
}

function momentMs(text: string, nowMs: number): number | null {
  const ago = AGO.exec(text)
  // The pattern admits the four units only.
  if (ago !== null) return nowMs - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS]
  return parseIsoMomentMs(DAY.test(text) ? `${text}T00:00:00Z` : text)
}
