/** The paths that an attempt changed, all of them: a result lists only the first. */
import { type Change, displayOfRaw } from '../../gate/index.ts'

/** Returns the path of every change but of directories. */
export function changedPaths(changes: readonly Change[]): readonly string[] {
  return changes.filter(isOfContent).map(({ path }) => displayOfRaw(path))
}

function isOfContent({ before, after }: Change): boolean {
  return [before, after].some((side) => side !== null && side.kind !== 'directory')
}
