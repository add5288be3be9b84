/**
 * Who calls, at which pace, and with which proof (H-5, H-6): what is asked of a request before its parts
 * are read.
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PAGE_KEY_HEADER, type Route, type RouteName } from '../api/index.ts'
import { CODES, FaultError, faultError } from '../base/index.ts'
import { isObject, type JsonObject } from '../contracts/index.ts'
import { type Caller, parsePrincipal } from '../ledger/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import { PaceLimit } from './call/pace-limit.ts'
import { cookieOf } from './console/browser-sessions.ts'
import { type ConsolePlace, isConsole, requireConsole } from './console/console-place.ts'
import { type HumanProof, proofOf, requestDigest } from './console/proof-desk.ts'
import type { People } from './handlers/route-call.ts'
import { type AskedRoute, admitCaller, callerOf } from './who.ts'

const CALLER_PACE = { perSecond: 100, burst: 400 }
/** Requests without a valid token, by address. */
const STRANGER_PACE = { perSecond: 5, burst: 20 }

interface CallerDeskOptions {
  readonly home: HostedHome
  readonly userName: string
  readonly place: () => ConsolePlace
  readonly locals: WeakSet<IncomingMessage>
}

const UNPROVEN: HumanProof = { key: null, assertion: null, secret: null }

const CREDENTIAL_ROUTES: ReadonlySet<RouteName> = new Set([
  'removePasskey',
  'renewRecoveryCodes',
  'endorseCredential',
])

/** Whether a request makes a human, or a token with which one acts. */
function makesPerson(route: RouteName, { principal }: JsonObject): boolean {
  if (route !== 'addPrincipal' && route !== 'createToken') return false
  return typeof principal === 'string' && parsePrincipal(principal)?.kind === 'human'
}

const NO_CALLER: Caller = {
  principal: { kind: 'script', id: 'anyone', namespace: 'none' },
  streams: [],
  proof: 'none',
}

export class CallerDesk {
  readonly #options: CallerDeskOptions
  readonly #people: People
  readonly #callers = new PaceLimit(CALLER_PACE)
  readonly #strangers = new PaceLimit(STRANGER_PACE)
  /** Logins and registrations: wrong tokens keep no person out. */
  readonly #doors = new PaceLimit(STRANGER_PACE)

  constructor(options: CallerDeskOptions, people: People) {
    this.#options = options
    this.#people = people
  }

  /** Proves the human of a route that wants one proven, before anything else of the request counts. */
  proof(
    route: RouteName,
    one: Route,
    caller: Caller,
    request: FastifyRequest,
  ): Promise<HumanProof> {
    if (one.who !== 'proven') return Promise.resolve(UNPROVEN)
    const body = isObject(request.body) ? request.body : {}
    // Fastify's parser gives texts.
    const query = request.query as Readonly<Record<string, unknown>>
    const digest = requestDigest(route, paramsOf(request), query, body)
    const command = one.runs?.takesProof === true ? one.command : null
    const isOfCredentials = CREDENTIAL_ROUTES.has(route) || makesPerson(route, body)
    const subject = { route, command, request: digest, what: `“${one.says}”`, isOfCredentials }
    return this.#people.proofs.prove(caller, proofOf(body), subject)
  }

  /** Who calls; routes for anyone have no caller, and their handlers ask for none. */
  async caller(one: AskedRoute, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    if (one.who === 'anyone') {
      if (one.method === 'GET') return NO_CALLER
      // What anyone may ask for and that changes something is login and registration.
      requireConsole(this.#options.place(), request.headers)
      this.#keepPace(this.#doors, request.ip, reply)
      return NO_CALLER
    }
    const { authorization } = request.headers
    const isLocal = this.#options.locals.has(request.raw)
    const register = await this.#options.home.register()
    try {
      const caller =
        (isLocal ? null : await this.#browser(request)) ??
        callerOf(register, { authorization, isLocal }, this.#options.userName)
      const { kind, id, namespace } = caller.principal
      this.#keepPace(this.#callers, `${kind}:${id}@${namespace}`, reply)
      admitCaller(one, caller)
      return caller
    } catch (error) {
      const status = error instanceof FaultError ? CODES[error.fault.code].http : 500
      if (status === 401) this.#keepPace(this.#strangers, request.ip, reply)
      throw error
    }
  }

  /** Who calls from a page of the console; null for a request that shows no cookie there. */
  async #browser({ headers, method }: FastifyRequest): Promise<Caller | null> {
    const place = this.#options.place()
    const cookie = cookieOf(headers.cookie)
    if (cookie === null || headers.authorization !== undefined) return null
    if (!isConsole(place, headers)) return null
    if (method !== 'GET') requireConsole(place, headers)
    const key = headers[PAGE_KEY_HEADER]
    return this.#people.sessions.callerOf(cookie, typeof key === 'string' ? key : null)
  }

  #keepPace(limit: PaceLimit, name: string, reply: FastifyReply): void {
    const seconds = limit.take(name, Date.now())
    if (seconds === 0) return
    reply.header('retry-after', String(seconds))
    throw faultError('api.too_often', '', `ask again in ${seconds} s`)
  }
}

export function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  // Parameters of a path are texts.
  const { '*': tile, ...named } = params as Readonly<Record<string, string>>
  return tile === undefined ? named : { ...named, tile }
}

const WAIT_SECONDS = 10
const WAIT_SECONDS_MAX = 60
const WAIT = /(?:^|,)\s*wait=(\d{1,4})\s*(?:$|,)/

/** How long a request wants to wait for what it asks for. */
export function waitOf({ headers: { prefer } }: FastifyRequest): number {
  const [, seconds] = WAIT.exec(typeof prefer === 'string' ? prefer : '') ?? []
  return seconds === undefined ? WAIT_SECONDS : Math.min(Number(seconds), WAIT_SECONDS_MAX)
}
