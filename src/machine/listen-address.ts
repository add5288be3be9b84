/** Where a server of writ may listen (H-6): on loopback plainly, elsewhere only with TLS or behind a proxy. */
import { faultError, showName } from '../base/index.ts'

export interface ListenPlace {
  readonly host: string
  readonly port: number
  readonly hasTls: boolean
  readonly isBehindProxy: boolean
}

export const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/** Fails if the server would be reached from elsewhere without protection. */
export function refuseOpenAddress({ host, hasTls, isBehindProxy }: ListenPlace): void {
  if (LOOPBACK_NAMES.has(host) || hasTls || isBehindProxy) return
  const message = `${showName(host)} can be reached from other machines, and requests would not be protected on the way`
  const hint = 'give --tls-cert and --tls-key, or --behind-proxy where a proxy does that'
  throw faultError('service.address', host, message, hint)
}
