/** Reads the numbers that commands with pages take. */
import { FaultError, fault } from '../../base/index.ts'
import type { CommandCall } from '../call/command.ts'

/** How many rows a page has without `--limit`, and at most. */
export const LIMIT = 1_000
export const LIMIT_MAX = 100_000

export function numberOption(call: CommandCall, name: string, max: number): number | undefined {
  const text = call.options.text(name)
  if (text === null) return undefined
  const value = Number(text)
  if (/^\d{1,16}$/.test(text) && value <= max) return value
  const message = `\`--${name}\` is a number up to ${max}`
  throw new FaultError(fault('cli.usage', '', null, { message }))
}
