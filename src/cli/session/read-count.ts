/** Reads options that are a number of requests or tokens, or an amount of money. */
import { type Options, usageError } from '../call/command.ts'

/** Null if the option is not given. */
export function readCount(options: Options, name: 'requests' | 'tokens'): number | null {
  const text = options.text(name)
  if (text === null) return null
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text)
  throw usageError(`--${name} is a number`, `--${name} ${name === 'tokens' ? 200_000 : 100}`)
}

/** An amount in millionths; null if the option is not given. */
export function readCost(options: Options): number | null {
  const text = options.text('cost')
  if (text === null) return null
  const millionths = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Math.round(Number(text) * 1e6) : 0
  if (millionths > 0) return millionths
  throw usageError('--cost is an amount, in the unit of the prices in the laws', '--cost 2.50')
}
