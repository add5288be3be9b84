/** Under which names the service answers (H-6). */
import { isIP } from 'node:net'
import { type ListenPlace, LOOPBACK_NAMES } from '../machine/index.ts'

export interface ListenOptions extends ListenPlace {
  /** Further names under which the service answers. */
  readonly names: readonly string[]
}

/** The `Host` headers that are answered; another one comes from a page that rebound a name. */
export function ownNames(
  { host, names, hasTls }: ListenOptions,
  port: number,
): ReadonlySet<string> {
  const own = LOOPBACK_NAMES.has(host) ? [...LOOPBACK_NAMES, 'writ.localhost'] : [host]
  const all = [...own, ...names].map((name) =>
    isIP(name) === 6 ? `[${name}]` : name.toLowerCase(),
  )
  const isPlainPort = port === (hasTls ? 443 : 80)
  return new Set(all.flatMap((name) => [`${name}:${port}`, ...(isPlainPort ? [name] : [])]))
}
