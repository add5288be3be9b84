/**
 * Tells whether promoting the scope alone would lose what a command moved or wrote elsewhere: `mv` to
 * another directory would delete here and keep nothing there, and `git push` to a repository outside
 * would record a branch that the other repository does not have.
 */
import type { SandboxResult } from '../../contracts/index.ts'

/** Settings and caches below dot directories of `home` count only if the act deletes something. */
export function losesPart({ diff, findings }: SandboxResult, home: string): boolean {
  const left = findings.flatMap(({ code, path }) =>
    code === 'effect.left_out' && path !== undefined ? [path] : [],
  )
  if (left.length === 0) return false
  return diff.counts.deleted > 0 || left.some((path) => !path.startsWith(`${home}/.`))
}

export const LOST_PART =
  '--yes does not answer this: what the command wrote outside the scope would be lost, as listed above'
