/**
 * Chooses where the lower layers of an overlay lie: overlayfs refuses a layer that lies inside another
 * one of the same overlay. The state directory is usually inside the home, which an overlay covers. Then
 * the layers go to `/var/tmp` or `/tmp`, into directories with unpredictable names.
 */
import { lstatSync, mkdtempSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { faultError } from '../../base/index.ts'

import { isLeftBehind, ownerMark } from '../driver/owner.ts'
import { isWithin } from '../kernel/mount-table.ts'

/** The one that outlives a start of the machine is mostly on a disk, and so comes first. */
const TEMPORARY = ['/var/tmp', '/tmp']
const PREFIX = 'writ-'

/**
 * Returns a directory for layers under views that cover these real paths: in `place`, where it is yet
 * to be made, or in one that is made here.
 */
export function layerDirectory(place: string, covered: readonly string[], name: string): string {
  // The root of the whole machine is never covered.
  const isApart = (path: string): boolean =>
    !covered.some((root) => root !== '/' && isWithin(path, root))
  if (isApart(realpathSync(place))) return join(place, `${ownerMark()}-${name}.upper`)
  for (const temporary of TEMPORARY) {
    const directory = isApart(temporary) ? madeIn(temporary) : null
    if (directory !== null) return directory
  }
  const message = `staged work cannot be laid over ${covered.map((path) => `\`${path}\``).join(', ')}: the state directory and ${TEMPORARY.join(' and ')} lie inside, or nothing can be made there`
  const hint = 'set XDG_STATE_HOME to a directory outside of them, then `writ init` again'
  throw faultError('sandbox.filesystem', place, message, hint)
}

function madeIn(temporary: string): string | null {
  try {
    return mkdtempSync(join(temporary, `${PREFIX}${ownerMark()}-`))
  } catch {
    // A machine without it, or one where other users may not use it.
    return null
  }
}

/** What processes of this user left there that are gone. */
export function leftApart(namesIn: (directory: string) => readonly string[]): readonly string[] {
  return TEMPORARY.flatMap((temporary) =>
    namesIn(temporary)
      .filter((name) => isLeftBehind(name, PREFIX))
      .map((name) => join(temporary, name))
      .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.()),
  )
}
