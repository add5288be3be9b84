/** Paths as people know them: files are used through open directories, whose names mean nothing to them. */
import { readlinkSync } from 'node:fs'

const THROUGH_DIRECTORY = /^\/proc\/(?:self|\d+)\/fd\/\d+/

/** Returns the path itself where it goes through an open directory; else, or if that is gone, as it is. */
export function namedPath(path: string): string {
  const [through] = THROUGH_DIRECTORY.exec(path) ?? []
  if (through === undefined) return path
  try {
    return `${readlinkSync(through)}${path.slice(through.length)}`
  } catch {
    return path
  }
}
