/** Reads options that are a number of requests or tokens. */
import { type Options, usageError } from '../call/command.ts'

/** Null if the option is not given. */
export function readCount(options: Options, name: 'requests' | 'tokens'): number | null {
  const text = options.text(name)
  if (text === null) return null
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text)
  throw usageError(`--${name} is a number`, `--${name} ${name === 'tokens' ? 200_000 : 100}`)
}
