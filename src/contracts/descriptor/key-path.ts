/**
 * Key paths of a CONFIG_CHANGE: `server.port`, or a JSON Pointer `/server/port` for keys that hold
 * a dot or a slash. Both are read to the list of keys from the top down.
 */
import { pointerSteps } from '../../base/index.ts'

const KEY_PATH_LENGTH_MAX = 1_024

/** The keys of a key path; null when one is empty or an escape is broken. */
export function parseKeyPath(text: string): readonly string[] | null {
  if (text.length > KEY_PATH_LENGTH_MAX || text.includes('\0')) return null
  if (text.startsWith('/')) return /~(?![01])/.test(text) ? null : nonEmpty(pointerSteps(text))
  return nonEmpty(text.split('.'))
}

function nonEmpty(keys: readonly string[]): readonly string[] | null {
  return keys.some((key) => key === '') ? null : keys
}

/**
 * Returns the positions of key paths that equal another one or lie below it: writing both would depend
 * on an order that an object does not have. Sorts once, so that a path follows the one above it.
 */
export function overlappingKeyPaths(
  paths: readonly (readonly string[] | null)[],
): ReadonlySet<number> {
  const ordered = paths
    .flatMap((keys, index) => (keys === null ? [] : [{ index, text: `${keys.join('\0')}\0` }]))
    .sort((left, right) =>
      left.text < right.text ? -1 : left.text > right.text ? 1 : left.index - right.index,
    )
  const overlapping = new Set<number>()
  let above: string | null = null
  for (const { index, text } of ordered) {
    if (above !== null && text.startsWith(above)) overlapping.add(index)
    else above = text
  }
  return overlapping
}
