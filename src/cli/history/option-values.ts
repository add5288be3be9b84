/**
 * Values that people type: moments (ISO 8601, a day, or how long ago: `90s`, `30m`, `12h`, `7d`), the
 * numbers of commands with pages, and the principal that a command names.
 */
import { faultError, parseIsoMomentMs, showName } from '../../base/index.ts'
import {
  HOST_STREAM,
  isStreamName,
  occurredAtText,
  type Principal,
  parsePrincipal,
} from '../../ledger/index.ts'
import { type CommandCall, usageError } from '../call/command.ts'

const AGO = /^(\d{1,6})(s|m|h|d)$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** How many rows a page has without `--limit`, and at most. */
export const LIMIT = 1_000
export const LIMIT_MAX = 100_000

/** The option's moment in the form of facts; undefined without the option. */
export function momentOption(call: CommandCall, name: string, nowMs: number): string | undefined {
  const text = call.options.text(name)
  if (text === null) return undefined
  const ms = momentMs(text, nowMs)
  if (ms !== null) return occurredAtText(ms)
  const message = `${showName(text)} is no moment`
  throw usageError(message, `--${name} 2026-11-15T08:00:00Z, --${name} 2026-11-15 or --${name} 2h`)
}

function momentMs(text: string, nowMs: number): number | null {
  const ago = AGO.exec(text)
  // The pattern admits the four units only.
  if (ago !== null) return nowMs - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS]
  return parseIsoMomentMs(DAY.test(text) ? `${text}T00:00:00Z` : text)
}

export function numberOption(call: CommandCall, name: string, max: number): number | undefined {
  const text = call.options.text(name)
  if (text === null) return undefined
  const value = Number(text)
  if (/^\d{1,16}$/.test(text) && value <= max) return value
  throw usageError(`\`--${name}\` is a number up to ${max}`)
}

export function principalArgument(call: CommandCall): Principal {
  const [text, ...others] = call.arguments
  const principal = text === undefined || others.length > 0 ? null : parsePrincipal(text)
  if (principal !== null) return principal
  const message =
    text === undefined ? 'name one principal' : `${showName(text)} does not name a principal`
  const hint = 'kind:id@namespace, such as device:pump-3@north-farm; kinds: human ai script device'
  throw usageError(message, hint)
}

/** Humans see every stream unless some are named; other principals see `main`. */
export function streamsArgument(call: CommandCall, principal: Principal): readonly string[] | null {
  const named = call.options.texts('stream')
  for (const stream of named) {
    if (isStreamName(stream) && stream !== HOST_STREAM) continue
    const message = `${showName(stream)} is not the name of a stream that can be given`
    throw faultError('fact.stream', '', message)
  }
  if (named.length > 0) return [...new Set(named)]
  return principal.kind === 'human' ? null : ['main']
}

/** Reads the keys of `--key`: each value is one key, or several parted by spaces or newlines. */
export function pinnedKeys({ options }: CommandCall): readonly string[] {
  return options.texts('key').flatMap((text) => text.split(/\s+/).filter((key) => key !== ''))
}

/** What workers have and jobs need, such as `gpu` or `repo:shop`. */
export function isLabel(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/.test(text)
}
