/** Reads the keys of `--key`: each value is one key, or several parted by spaces or newlines. */
import type { Call } from './command.ts'

export function pinnedKeys({ options }: Call): readonly string[] {
  return options.texts('key').flatMap((text) => text.split(/\s+/).filter((key) => key !== ''))
}
