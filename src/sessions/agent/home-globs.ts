/** Globs of paths in a private home. */
import { type Glob, matchesPath, parseGlob } from '../../contracts/index.ts'

export function parsedGlobs(globs: readonly string[] = []): readonly Glob[] {
  return globs.flatMap((glob) => parseGlob(`/${glob}`) ?? [])
}

export function isAmong(globs: readonly Glob[], path: string): boolean {
  return globs.some((glob) => matchesPath(glob, `/${path}`))
}
