/**
 * The HTTP side: registers what is in the table of routes, and nothing else. Every request is looked at
 * in one order: name and origin, pace, who calls, whether the route is for them, whether the request
 * follows its route; then the handler is called.
 */
import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { COMMAND_JSON, RequestReader, ROUTES, type Route, type RouteName } from '../api/index.ts'
import { faultError } from '../base/index.ts'
import { isObject } from '../contracts/index.ts'
import { readAct, rollbacksOf } from '../history/index.ts'
import { type McpHost, mcpDoor } from '../mcp/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import type { ProgramRuns } from './call/program-runs.ts'
import { Turnstile } from './call/turnstile.ts'
import { CallerDesk, paramsOf, waitOf } from './caller-desk.ts'
import { BrowserSessions, cookieOf } from './console/browser-sessions.ts'
import { ConsoleFiles, consoleFolder } from './console/console-files.ts'
import { type ConsolePlace, isConsole } from './console/console-place.ts'
import { PasskeyDesk } from './console/passkey-desk.ts'
import { ProofDesk } from './console/proof-desk.ts'
import { followEvents } from './event-route.ts'
import { EventHub } from './events.ts'
import {
  answerNoRequest,
  goneSignal,
  PLAIN_HEADERS,
  refuseAmbiguous,
  refuseForeign,
} from './front-door.ts'
import { actReply, knownStreams } from './handlers/actions.ts'
import { answerByCommand, isCommandRoute, spokenRoute } from './handlers/commands.ts'
import { HANDLERS } from './handlers/handlers.ts'
import type { Handler, People, Reply, RouteCall } from './handlers/route-call.ts'
import { RequestKeys } from './idempotency.ts'
import type { Log } from './look/log.ts'
import { Metrics } from './look/metrics.ts'
import type { Traces } from './look/traces.ts'
import { answerMcp, MCP_PATH } from './mcp-route.ts'
import { undeliveredQuestions } from './notices.ts'
import { answerProblem, MalformedRequest, readBody } from './request-problem.ts'
import { type AskedRoute, tokenOf } from './who.ts'

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
    reply.headers(PLAIN_HEADERS)
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
  readonly #desk: CallerDesk
  readonly #rehearsals: Turnstile
  readonly #deciding = new Map<string, string>()
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
    this.#desk = new CallerDesk(options, this.#people)
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
        const caller = await this.#desk.caller(MCP_DOOR, request, reply)
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
    const caller = await this.#desk.caller(one, request, reply)
    const proof = await this.#desk.proof(name, one, caller, request)
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
    if (name === 'followEvents') return followEvents(this.#events, call, request, reply)
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
    const keyed = { caller: call.caller, streams, method, path, key, query: call.query, body }
    if (!isCommandRoute(one) && !isKeptWhole(one, name)) {
      return this.#keys.once(
        keyed,
        (reserve) => handle({ ...call, reserve }),
        ({ subject }) => actReply(call, subject, name === 'proposeAction' ? call.body : undefined),
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

/** Whether a route of an own function makes no act: its whole answer is kept under a key. */
const isKeptWhole = ({ tag }: Route, name: RouteName) => tag === 'tasks' || name === 'requestUndo'

/** `{id}` becomes `:id`; the path of a tile goes on to the end. */
function pattern(path: string): string {
  return path.replace('{tile}', '*').replaceAll(/\{(\w+)\}/g, ':$1')
}
