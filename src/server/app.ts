/**
 * The HTTP side: registers what is in the table of routes, and nothing else. Every request is looked at
 * in one order: name and origin, pace, who calls, whether the route is for them, whether the request
 * follows its route; then the handler is called.
 */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import {
  COMMAND_JSON,
  PAGE_KEY_HEADER,
  type ProblemDocument,
  parseCursor,
  problemOf,
  RequestReader,
  ROUTES,
  type Route,
  type RouteName,
  requestProblem,
} from '../api/index.ts'
import {
  CODES,
  type Code,
  DOCUMENT_LIMITS,
  FaultError,
  fault,
  faultError,
  readJson,
} from '../base/index.ts'
import { isObject } from '../contracts/index.ts'
import { readAct, rollbacksOf } from '../history/index.ts'
import type { Caller } from '../ledger/index.ts'
import { type McpHost, mcpDoor } from '../mcp/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import { PaceLimit } from './call/pace-limit.ts'
import type { ProgramRuns } from './call/program-runs.ts'
import { Turnstile } from './call/turnstile.ts'
import { BrowserSessions, cookieOf } from './console/browser-sessions.ts'
import { ConsoleFiles, consoleFolder } from './console/console-files.ts'
import { type ConsolePlace, isConsole, requireConsole } from './console/console-place.ts'
import { PasskeyDesk } from './console/passkey-desk.ts'
import { type HumanProof, ProofDesk, proofOf, requestDigest } from './console/proof-desk.ts'
import { EventHub } from './events.ts'
import { answerNoRequest, goneSignal, refuseAmbiguous, refuseForeign } from './front-door.ts'
import { actReply, knownStreams, RefusedDocument } from './handlers/actions.ts'
import {
  answerByCommand,
  CommandRefusal,
  isCommandRoute,
  spokenRoute,
} from './handlers/commands.ts'
import { HANDLERS } from './handlers/handlers.ts'
import type { Handler, People, Reply, RouteCall } from './handlers/route-call.ts'
import { RequestKeys } from './idempotency.ts'
import type { Log } from './look/log.ts'
import { Metrics } from './look/metrics.ts'
import type { Traces } from './look/traces.ts'
import { answerMcp, MCP_PATH } from './mcp-route.ts'
import { undeliveredQuestions } from './notices.ts'
import { type AskedRoute, admitCaller, callerOf, tokenOf } from './who.ts'

interface AppOptions {
  readonly home: HostedHome
  readonly userName: string
  /** The `Host` headers that are answered over TCP; known once the port is. */
  readonly names: () => ReadonlySet<string>
  /** Where people use it in a browser; known once the port is. */
  readonly place: () => ConsolePlace
  /** Certificate and key; null for plain HTTP. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null
  /** Requests that came through the home's socket, which only processes of its user can open. */
  readonly locals: WeakSet<IncomingMessage>
  readonly rehearsalsAtOnce: number
  readonly programs: ProgramRuns
  readonly stop: AbortSignal
  readonly mcp: Pick<McpHost, 'explain' | 'evaluate' | 'console'>
  readonly log: Log
  readonly traces: Traces
}

const BODY_BYTES_MAX = 4 << 20
const CALLER_PACE = { perSecond: 100, burst: 400 }
/** Requests without a valid token, by address. */
const STRANGER_PACE = { perSecond: 5, burst: 20 }
const WAIT_SECONDS = 10
const WAIT_SECONDS_MAX = 60
const EVENT_BYTES_MAX = 1 << 20

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

export function createApp(options: AppOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    ...(options.tls === null ? {} : { https: options.tls }),
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: 30_000,
    keepAliveTimeout: 10_000,
    connectionTimeout: 0,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    onProtoPoisoning: 'error',
    routerOptions: { maxParamLength: 512 },
    clientErrorHandler: answerNoRequest,
    frameworkErrors: (error, request, reply) => answerProblem(options, request, reply, error),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, bytes: Buffer) => readBody(bytes),
  )
  app.setErrorHandler((error, request, reply) => answerProblem(options, request, reply, error))
  const pages = new ConsoleFiles(consoleFolder())
  app.setNotFoundHandler((request, reply) => {
    if (!options.locals.has(request.raw) && isConsole(options.place(), request.headers)) {
      if (pages.answer(request, reply)) return
    }
    const error = faultError('api.no_route', '', undefined, 'GET /openapi.json lists the routes')
    answerProblem(options, request, reply, error)
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    refuseAmbiguous(request)
    if (!options.locals.has(request.raw)) refuseForeign(request, options.names())
  })
  new Routes(app, options).register()
  return app
}

/** Requests of one service, with what they share. */
class Routes {
  readonly #app: FastifyInstance
  readonly #options: AppOptions
  readonly #callers = new PaceLimit(CALLER_PACE)
  readonly #strangers = new PaceLimit(STRANGER_PACE)
  readonly #rehearsals: Turnstile
  readonly #deciding = new Set<string>()
  readonly #events: EventHub
  readonly #keys: RequestKeys
  readonly #people: People
  readonly #metrics: Metrics

  constructor(app: FastifyInstance, options: AppOptions) {
    this.#app = app
    this.#options = options
    this.#rehearsals = new Turnstile(options.rehearsalsAtOnce)
    this.#events = new EventHub(options.home)
    this.#keys = new RequestKeys(options.home)
    const passkeys = new PasskeyDesk(options.home, options.place)
    this.#people = {
      passkeys,
      proofs: new ProofDesk(options.home, passkeys),
      sessions: new BrowserSessions(options.home, options.tls !== null),
    }
    this.#metrics = new Metrics({
      readers: () => this.#events.readers,
      walks: () => options.programs.walks,
      facts: async () => {
        const heads = await options.home.ledger.store.heads()
        return heads.reduce((sum, { size }) => sum + size, 0)
      },
      undelivered: () => undeliveredQuestions(options.home, options.userName),
    })
    app.addHook('onResponse', async (request, reply) => this.#tell(request, reply))
    app.addHook('preClose', async () => this.#events.close())
  }

  register(): void {
    // The keys of the table are the names of the routes.
    for (const [name, one] of Object.entries(ROUTES) as readonly [RouteName, Route][]) {
      const reader = new RequestReader(name, one)
      this.#app.route({
        method: one.method,
        url: pattern(one.path),
        config: { name },
        handler: (request, reply) => this.#answer(name, one, reader, request, reply),
      })
    }
    const { home, mcp, stop } = this.#options
    const door = mcpDoor({ ...mcp, home, rehearsals: this.#rehearsals, stop })
    this.#app.route({
      method: ['GET', 'POST', 'DELETE'],
      url: MCP_PATH,
      handler: async (request, reply) => {
        const caller = await this.#caller(MCP_DOOR, request, reply)
        return answerMcp(door, caller, request, reply)
      },
    })
  }

  async #answer(
    name: RouteName,
    one: Route,
    reader: RequestReader,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> {
    const caller = await this.#caller(one, request, reply)
    const proof = await this.#proof(name, one, caller, request)
    const reading = reader.read({
      params: paramsOf(request),
      // Fastify's parser gives texts, and lists of texts for names that come twice.
      query: request.query as Readonly<Record<string, string>>,
      body: request.body,
    })
    if (!reading.ok) throw new MalformedRequest(reading.violations)
    const { params, query, body } = reading
    const { home, programs, stop } = this.#options
    const call = {
      home,
      caller,
      // The session of a browser is a token of its human; the command knows nothing of cookies.
      token:
        caller.session === undefined
          ? tokenOf(request.headers.authorization)
          : cookieOf(request.headers.cookie),
      ...proof,
      people: this.#people,
      params,
      query,
      body,
      waitSeconds: waitOf(request),
      reserve: null,
      rehearsals: this.#rehearsals,
      deciding: this.#deciding,
      programs,
      // What cannot be counted is on the record.
      acted: (stream, id) => void this.#act(stream, id).catch(() => undefined),
      metrics: () => this.#metrics.text(),
      gone: goneSignal(reply),
      stop,
      // The request follows its route, so its parts have the types of the table.
    } as RouteCall
    if (name === 'followEvents') return this.#follow(call, request, reply)
    const { status = 200, value, json, headers = {} } = await this.#once(call, name, one, request)
    if (one.media !== undefined && headers['content-type'] === undefined) reply.type(one.media)
    if (json !== undefined) reply.type('application/json; charset=utf-8')
    reply.status(status).headers(headers)
    return reply.send(json ?? value)
  }

  /** Does what a request with a key asks for once, and answers it from what is kept after that. */
  async #once(
    call: RouteCall,
    name: RouteName,
    one: Route,
    request: FastifyRequest,
  ): Promise<Reply> {
    const wantsText = request.headers.accept === 'text/plain'
    const spoken = spokenRoute(one)
    if (spoken !== null && (wantsText || request.headers.accept === COMMAND_JSON)) {
      const printed = await this.#once(call, name, spoken, request)
      return wantsText ? printed : { ...printed, headers: { ...printed.headers, ...COMMAND_TYPE } }
    }
    const handle = (each: RouteCall): Promise<Reply> =>
      isCommandRoute(one)
        ? answerByCommand({ ...each, wantsText }, one)
        : // The table of handlers has a function for each other route.
          ((HANDLERS as Readonly<Record<string, Handler<RouteName>>>)[name]?.(each) ?? noHandler())
    const key = request.headers['idempotency-key']
    const { method } = one
    if (typeof key !== 'string' || method !== 'POST' || one.tag === 'console') return handle(call)
    const [path = ''] = request.url.split('?')
    const streams = await knownStreams(call)
    const body = withoutProof(call.body)
    const keyed = { caller: call.caller, streams, method, path, key, body }
    if (!isCommandRoute(one) && !KEPT_WHOLE.has(name)) {
      return this.#keys.once(
        keyed,
        (reserve) => handle({ ...call, reserve }),
        ({ subject }) => actReply(call, subject),
      )
    }
    if (one.runs?.kind === 'document' || one.runs?.kind === 'read') return handle(call)
    return this.#keys.onceWhole(keyed, { name, isKept: name !== 'createToken' }, () => handle(call))
  }

  /** Counts and logs a request by its route. */
  #tell({ routeOptions, method }: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
    // Routes of the table have their name there; others have none.
    const { name: route = 'none' } = routeOptions.config as { readonly name?: string }
    this.#metrics.answered(route, statusCode, elapsedTime / 1_000)
    const ms = Math.round(elapsedTime)
    this.#options.log.info({ event: 'request', route, method, status: statusCode, ms })
  }

  /** Counts an action, and traces it when it has come to its end. */
  async #act(stream: string, id: string): Promise<void> {
    const { ledger } = this.#options.home
    const act = await readAct(ledger, stream, id, await rollbacksOf(ledger, stream))
    if (act === null) return
    this.#metrics.acted(act.outcome)
    if (act.outcome !== 'waiting') this.#options.traces.add(act, stream)
  }

  /** Proves the human of a route that wants one proven, before anything else of the request counts. */
  #proof(
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
    const subject = { route, command, request: digest, what: `“${one.says}”` }
    return this.#people.proofs.prove(caller, proofOf(body), subject)
  }

  /** Who calls; routes for anyone have no caller, and their handlers ask for none. */
  async #caller(one: AskedRoute, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    if (one.who === 'anyone') {
      if (one.method === 'GET') return NO_CALLER
      // What anyone may ask for and that changes something is login and registration.
      requireConsole(this.#options.place(), request.headers)
      this.#keepPace(this.#strangers, request.ip, reply)
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

  async #follow(call: RouteCall, request: FastifyRequest, reply: FastifyReply): Promise<undefined> {
    // This is the route of events.
    const { after, ...filter } = call.query as RouteCall<'followEvents'>['query']
    const last = request.headers['last-event-id']
    const text = typeof last === 'string' ? last : after
    const cursor = text === undefined ? null : parseCursor(text, this.#options.home.home.id)
    if (text !== undefined && cursor === null) {
      throw faultError('api.malformed', '', 'the cursor is not one of this home')
    }
    reply.hijack()
    const { raw } = reply
    raw.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
    raw.write(': alive\n\n')
    const sink = {
      write: (event: string): boolean => {
        if (raw.destroyed || raw.writableLength > EVENT_BYTES_MAX) {
          raw.destroy()
          return false
        }
        raw.write(event)
        return true
      },
      end: () => raw.end(),
    }
    const leave = await this.#events.join(call.caller, filter, cursor, sink)
    if (raw.destroyed) leave()
    else raw.once('close', leave)
    return undefined
  }
}

const COMMAND_TYPE = { 'content-type': `${COMMAND_JSON}; charset=utf-8` }

function noHandler(): never {
  throw faultError('api.no_route', '')
}

/** The passphrase of a request leaves no trace, not even in a digest. */
function withoutProof(body: unknown): unknown {
  if (!isObject(body)) return body
  const { proof: _secret, ...rest } = body
  return rest
}

/** Every tool of MCP may propose. */
const MCP_DOOR: AskedRoute = { method: 'POST', who: 'caller', says: 'MCP', command: 'propose' }

/** Routes of own functions that make no act: their whole answer is kept under a key. */
const KEPT_WHOLE: ReadonlySet<RouteName> = new Set(['issueTask', 'submitReceipt', 'requestUndo'])

const UNPROVEN: HumanProof = { key: null, assertion: null, secret: null }

const NO_CALLER: Caller = {
  principal: { kind: 'script', id: 'anyone', namespace: 'none' },
  streams: [],
  proof: 'none',
}

/** A request that breaks the schema of its route. */
class MalformedRequest extends Error {
  readonly problem: ProblemDocument

  constructor(violations: Parameters<typeof requestProblem>[2] = []) {
    super('the request does not follow its route')
    const [first] = violations
    const at = first === undefined ? '' : ` at ${first.path}: ${first.message}`
    this.problem = requestProblem('api.malformed', `the request is malformed${at}`, violations)
  }
}

/** `{id}` becomes `:id`; the path of a tile goes on to the end. */
function pattern(path: string): string {
  return path.replace('{tile}', '*').replaceAll(/\{(\w+)\}/g, ':$1')
}

function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  // Parameters of a path are texts.
  const { '*': tile, ...named } = params as Readonly<Record<string, string>>
  return tile === undefined ? named : { ...named, tile }
}

function readBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw faultError('api.malformed', '', 'the body is not UTF-8')
  const reading = readJson(bytes.toString(), DOCUMENT_LIMITS)
  if (reading.ok) return reading.value
  throw new MalformedRequest([reading.refusal])
}

const WAIT = /(?:^|,)\s*wait=(\d{1,4})\s*(?:$|,)/

function waitOf({ headers: { prefer } }: FastifyRequest): number {
  const [, seconds] = WAIT.exec(typeof prefer === 'string' ? prefer : '') ?? []
  return seconds === undefined ? WAIT_SECONDS : Math.min(Number(seconds), WAIT_SECONDS_MAX)
}

const FASTIFY_CODES: Readonly<Record<string, Code>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'api.too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'api.media',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'api.malformed',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'api.malformed',
  FST_ERR_BAD_URL: 'api.malformed',
}

function answerProblem(
  { log, stop }: AppOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): void {
  const problem = problemFor(error, stop.aborted)
  if (problem.status >= 500) {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error({ event: 'failure', route: request.routeOptions.url, code: problem.code, words })
  }
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="writ"')
  reply.status(problem.status).type('application/problem+json').send(problem)
}

function problemFor(error: unknown, isStopping: boolean): ProblemDocument {
  if (error instanceof FaultError) return problemOf(error.fault)
  if (error instanceof CommandRefusal) return problemOf(error)
  if (error instanceof MalformedRequest) return error.problem
  if (error instanceof RefusedDocument) {
    return requestProblem(error.code, error.message, error.violations)
  }
  if (isStopping) return problemOf(fault('api.stopping', '', null))
  const { code, statusCode } = (error ?? {}) as { code?: string; statusCode?: number } // Looked at below.
  const known = FASTIFY_CODES[code ?? '']
  if (known !== undefined) return problemOf(fault(known, '', null))
  if (statusCode !== undefined && statusCode < 500)
    return problemOf(fault('api.malformed', '', null))
  return problemOf(fault('cli.bug', '', null))
}
