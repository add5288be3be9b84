/**
 * Where the service listens, and under which names it answers (H-6). On loopback plainly; elsewhere
 * only with TLS, or behind a proxy that a person says is there.
 */
import { isIP } from 'node:net'
import { faultError, showName } from '../base/index.ts'

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly hasTls: boolean
  readonly isBehindProxy: boolean
  /** Further names under which the service answers. */
  readonly names: readonly string[]
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

/** Fails if the service would be reached from elsewhere without protection. */
export function refuseOpenAddress({ host, hasTls, isBehindProxy }: ListenOptions): void {
  if (LOOPBACK.has(host) || hasTls || isBehindProxy) return
  const message = `${showName(host)} can be reached from other machines, and requests would not be protected on the way`
  const hint = 'give --tls-cert and --tls-key, or --behind-proxy where a proxy does that'
  throw faultError('service.address', host, message, hint)
}

/** The `Host` headers that are answered; another one comes from a page that rebound a name. */
export function ownNames(
  { host, names, hasTls }: ListenOptions,
  port: number,
): ReadonlySet<string> {
  const own = LOOPBACK.has(host) ? [...LOOPBACK, 'writ.localhost'] : [host]
  const all = [...own, ...names].map((name) =>
    isIP(name) === 6 ? `[${name}]` : name.toLowerCase(),
  )
  const isPlainPort = port === (hasTls ? 443 : 80)
  return new Set(all.flatMap((name) => [`${name}:${port}`, ...(isPlainPort ? [name] : [])]))
}
