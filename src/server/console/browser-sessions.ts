/**
 * Browser sessions (H-5). A session is a token of its human that only a cookie shows: a fact holds its
 * digest, so that `writ token list` names it and `writ token revoke` ends it. Cookies are sent to every
 * port of a name; so a request also shows the page key, which the page alone keeps.
 *
 * INVARIANT (both or none): neither cookie nor page key is enough alone, and neither is a bearer token.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { digestBytes, FaultError, faultError } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import { createToken, revokeToken } from '../../home/index.ts'
import { bearerOf, type Caller, type Principal } from '../../ledger/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import type { HostedHome } from '../call/hosted-home.ts'
import type { Login } from './passkey-desk.ts'

const COOKIE = 'writ_session'
const FILE = 'browser-sessions.json'
const LIFE_MS = 12 * 60 * 60_000
const IDLE_MS = 60 * 60_000
/** The file is not written at every request. */
const STEP_MS = 60_000

interface KeptSession {
  /** Of the page key. */
  readonly page: string
  readonly seenMs: number
}

interface OpenedSession {
  readonly cookie: string
  readonly answer: {
    readonly principal: Principal
    readonly page_key: string
    readonly expires_at: string
    readonly idle_seconds: number
  }
}

export class BrowserSessions {
  readonly #home: HostedHome
  readonly #file: string
  readonly #kept: Map<string, KeptSession>
  readonly #isSecure: boolean

  constructor(home: HostedHome, isSecure: boolean) {
    this.#home = home
    this.#file = join(home.home.state, FILE)
    this.#kept = readKept(readIfThere(this.#file))
    this.#isSecure = isSecure
  }

  async open({ principal, passkeyId, signCount }: Login): Promise<OpenedSession> {
    const { ledger, home } = this.#home
    const expiresAt = new Date(Date.now() + LIFE_MS).toISOString()
    const { id, token } = await createToken(
      { ledger, state: home.state },
      await this.#home.register(),
      { principal, source: 'api' },
      principal,
      { expiresAt, scopes: null, use: 'browser', openedBy: { passkeyId, signCount } },
    )
    const page_key = randomBytes(32).toString('base64url')
    this.#keep(id, { page: digestBytes(page_key), seenMs: Date.now() })
    const secure = this.#isSecure ? '; Secure' : ''
    return {
      cookie: `${COOKIE}=${token}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${LIFE_MS / 1_000}${secure}`,
      answer: { principal, page_key, expires_at: expiresAt, idle_seconds: IDLE_MS / 1_000 },
    }
  }

  /** Returns who calls. Fails if the session has ended, or the page key is not that of the session. */
  async callerOf(token: string, pageKey: string | null): Promise<Caller> {
    const answer = bearerOf(await this.#home.register(), token, Date.now())
    if (!answer.ok) throw answer.fault.code === 'principal.token' ? ended() : refusal(answer.fault)
    const { session } = answer.caller
    if (session === undefined) throw ended('a bearer token is no cookie')
    const kept = this.#kept.get(session.id)
    if (kept === undefined || Date.now() - kept.seenMs >= IDLE_MS) throw ended()
    if (pageKey === null || !isSame(digestBytes(pageKey), kept.page)) {
      throw ended('the cookie came without the page key of its session')
    }
    if (Date.now() - kept.seenMs >= STEP_MS) this.#keep(session.id, { ...kept, seenMs: Date.now() })
    return answer.caller
  }

  /** Ends a session; returns the cookie that takes its place. */
  async end({ principal, session }: Caller): Promise<string> {
    const { ledger, home } = this.#home
    if (session !== undefined) {
      const actor = { principal, source: 'api' }
      const register = await this.#home.register()
      await revokeToken({ ledger, state: home.state }, register, actor, session.id)
      this.#kept.delete(session.id)
      this.#write()
    }
    return `${COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`
  }

  #keep(id: string, session: KeptSession): void {
    this.#kept.set(id, session)
    for (const [name, { seenMs }] of this.#kept) {
      if (Date.now() - seenMs >= LIFE_MS) this.#kept.delete(name)
    }
    this.#write()
  }

  #write(): void {
    writeWhole(this.#file, `${JSON.stringify(Object.fromEntries(this.#kept))}\n`, 0o600)
  }
}

function refusal(found: ConstructorParameters<typeof FaultError>[0]): FaultError {
  return new FaultError(found)
}

function ended(message = 'the browser session has ended'): FaultError {
  return faultError('api.session', '', message, 'log in again with a passkey')
}

function isSame(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right))
}

/** A file that cannot be read holds no session: people log in again. */
function readKept(text: string | null): Map<string, KeptSession> {
  try {
    const found: unknown = JSON.parse(text ?? '{}')
    const rows = isObject(found) ? Object.entries(found) : []
    return new Map(
      rows.flatMap(([id, one]) => {
        const { page, seenMs } = isObject(one) ? one : {}
        return typeof page === 'string' && typeof seenMs === 'number'
          ? [[id, { page, seenMs }] as const]
          : []
      }),
    )
  } catch {
    return new Map()
  }
}

/** The cookie of a session among those of a request; null without one. */
export function cookieOf(header: string | undefined): string | null {
  const found = (header ?? '')
    .split(/;\s*/)
    .filter((pair) => pair.startsWith(`${COOKIE}=`))
    .map((pair) => pair.slice(COOKIE.length + 1))
  // Two of one name come from two places, and only one of them is ours.
  return found.length === 1 ? (found[0] ?? null) : null
}
