/**
 * What a run with a network sees of a home (G-10b): an allow-list. Such a run could send on everything
 * it reads, so it sees its scope and known caches and programs only.
 */
import { CACHE_NAMES, CACHES } from '../data/caches.ts'
import { absolutePatterns } from '../data/lists.ts'
import { TOOLCHAINS } from '../data/toolchains.ts'
import { NameSet } from '../paths/name-set.ts'

/** Directories, whether they are there or not; what is hidden anyway stays hidden in them. */
export function visiblePlaces(homes: readonly string[]): readonly string[] {
  return [...new Set(absolutePatterns([...CACHES, ...TOOLCHAINS], homes))]
}

const knownCaches = new NameSet(CACHE_NAMES)

/** Whether a run with a network sees the directory of this name in a home's `.cache`. */
export function isKnownCache(name: string): boolean {
  return knownCaches.has(name)
}

/** Where programs keep what they fetched, when their own places are not there and cannot be made. */
const PRIVATE: readonly { readonly place: string; readonly name: string }[] = [
  { place: '~/.cache', name: 'XDG_CACHE_HOME' },
  { place: '~/.npm', name: 'npm_config_cache' },
  { place: '~/go/pkg/mod/cache', name: 'GOMODCACHE' },
]

/** For places that are missing: private ones that are thrown away. */
export function cacheEnvironment(
  homes: readonly string[],
  isThere: (path: string) => boolean,
): Readonly<Record<string, string>> {
  const missing = PRIVATE.filter(({ place }) => !absolutePatterns([place], homes).some(isThere))
  return Object.fromEntries(
    missing.map(({ name }) => [name, `/tmp/.writ-cache/${name.toLowerCase()}`]),
  )
}
