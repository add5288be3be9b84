/**
 * What the holder mounts, as lines of an fstab: one program mounts them all. Overlays first, then
 * directories that bubblewrap binds later, then masks: a mask may hide where a layer lies.
 *
 * Links in the working directory stand for real paths wherever a path would be an option, so that no
 * character of it can mean anything there; targets are escaped.
 */
import { join } from 'node:path'
import type { Mask } from './masks.ts'
import { isWithin } from './mount-table.ts'

/**
 * The working directory once more, unwritable. What a process inside holds open it can open anew, for
 * writing, and give another mode, unless it lies on such a mount.
 */
export const READ_ONLY = 'r'

export interface MountPlan {
  /** The working directory; its name needs no escape. */
  readonly directory: string
  readonly roots: readonly string[]
  readonly shown: readonly string[]
  readonly scratch: number
  readonly masks: readonly Mask[]
}

export function mountLines({ directory, roots, shown, scratch, masks }: MountPlan): string {
  const at = (name: string): string => join(directory, name)
  const lines = [
    ...roots.map((_, index) => {
      const layers = `lowerdir=${at(`l${index}`)},upperdir=${at(`t/u${index}`)}`
      return `writ ${at(`m${index}`)} overlay userxattr,${layers},workdir=${at(`t/w${index}`)}`
    }),
    ...shown.map((_, index) => `${at(`k${index}`)} ${at(`s${index}`)} none rbind`),
    ...range(scratch).map((index) => `${at(`t/p${index}`)} ${at(`p${index}`)} none bind`),
    `${directory} ${at(READ_ONLY)} none bind,ro`,
    ...masks.map((mask) => maskLine(mask, at('empty'), seenAt(mask.path, roots, directory))),
  ]
  return lines.map((line) => `${line} 0 0\n`).join('')
}

/** Inside a root a mask lies on the merged directory, which bubblewrap binds with all it carries. */
function seenAt(path: string, roots: readonly string[], directory: string): string {
  const index = roots.findIndex((root) => isWithin(path, root))
  const root = roots[index]
  return root === undefined ? path : join(directory, `m${index}`, path.slice(root.length))
}

function maskLine({ kind }: Mask, emptyFile: string, target: string): string {
  return kind === 'directory'
    ? `writ ${escaped(target)} tmpfs ro,size=4k,nr_inodes=2,mode=555`
    : `${emptyFile} ${escaped(target)} none bind,ro`
}

function escaped(path: string): string {
  return path.replaceAll(/[\s\\#"']/g, (character) =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  )
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index)
}
