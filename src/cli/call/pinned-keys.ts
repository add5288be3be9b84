/** Reads the keys of `--key`: each value is one key, or several parted by spaces or newlines. */
import type { CommandCall } from './command.ts'

export function pinnedKeys({ options }: CommandCall): readonly string[] {
  return options.texts('key').flatMap((text) => text.split(/\s+/).filter((key) => key !== ''))
}
