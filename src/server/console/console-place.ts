/** Where people use the service in a browser (H-6): one name, with its port, and nowhere else. */
import { faultError } from '../../base/index.ts'
import { PASSKEY_RP_ID } from '../../contracts/index.ts'

export interface ConsolePlace {
  /** The `Host` header. */
  readonly host: string
  readonly origin: string
}

export function consolePlace(port: number, hasTls: boolean): ConsolePlace {
  const host = port === (hasTls ? 443 : 80) ? PASSKEY_RP_ID : `${PASSKEY_RP_ID}:${port}`
  return { host, origin: `${hasTls ? 'https' : 'http'}://${host}` }
}

interface AskedBy {
  readonly host?: string | undefined
  readonly origin?: string | undefined
}

export function isConsole({ host }: ConsolePlace, asked: AskedBy): boolean {
  return (asked.host ?? '').toLowerCase() === host
}

/** Fails unless a page of the console itself sent the request. */
export function requireConsole(place: ConsolePlace, asked: AskedBy): void {
  if (!isConsole(place, asked)) {
    const message = `people log in and register at ${place.origin} only`
    throw faultError('api.host', asked.host ?? '', message, `open ${place.origin}`)
  }
  if (asked.origin === place.origin) return
  const message = `only a page of ${place.origin} may ask for this`
  throw faultError('api.origin', asked.origin ?? '', message, `open ${place.origin}`)
}
