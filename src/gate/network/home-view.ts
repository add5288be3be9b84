/**
 * What a run with a network sees of a home (G-10): an allow-list. Whatever it could read it could tell,
 * so besides its scope there are only places that nobody keeps and programs.
 */
import { TOOLCHAINS } from '../data/toolchains.ts'
import { absolutePatterns, type GateLists } from '../lists.ts'

/** Directories, whether they are there or not; what is hidden anyway stays hidden in them. */
export function visiblePlaces(lists: GateLists, homes: readonly string[]): readonly string[] {
  const kept = lists.ephemeral.filter((pattern) => /^~\/[^*]+\/\*\*$/.test(pattern))
  const places = [...kept.map((pattern) => pattern.slice(0, -3)), ...TOOLCHAINS]
  return [...new Set(absolutePatterns(places, homes))]
}

/** Where programs keep what they fetched, when their own places are not there and cannot be made. */
const CACHES: readonly { readonly place: string; readonly name: string }[] = [
  { place: '~/.cache', name: 'XDG_CACHE_HOME' },
  { place: '~/.npm', name: 'npm_config_cache' },
  { place: '~/go/pkg/mod/cache', name: 'GOMODCACHE' },
]

/** For places that are missing: private ones that are thrown away. */
export function cacheEnvironment(
  homes: readonly string[],
  isThere: (path: string) => boolean,
): Readonly<Record<string, string>> {
  const missing = CACHES.filter(({ place }) => !absolutePatterns([place], homes).some(isThere))
  return Object.fromEntries(
    missing.map(({ name }) => [name, `/tmp/.writ-cache/${name.toLowerCase()}`]),
  )
}
