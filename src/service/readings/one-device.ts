/** Whether changes can be promoted from a stage: bytes are moved there, never copied. */
import { statSync } from 'node:fs'
import { type Change, displayOfRaw, parentOfRaw, type RawPath } from '../../gate/index.ts'

export function isOnDeviceOf(place: string, changes: readonly Change[]): boolean {
  const { dev } = statSync(place)
  const parents = new Set(changes.map(({ path }) => parentOfRaw(path)))
  return [...parents].every((parent) => deviceOf(parent) === dev)
}

/** Of the nearest directory that is there. */
function deviceOf(path: RawPath): number {
  const found = statSync(displayOfRaw(path), { throwIfNoEntry: false })
  return found?.dev ?? deviceOf(parentOfRaw(path))
}
