/**
 * The gateway of a session to its models (S-7): passes listed calls to the model's host and nothing
 * else, puts the key in place of the placeholder, and streams both ways. Inside the session no key is
 * ever seen.
 *
 * INVARIANT (no foreign key): a request with a credential other than the placeholder is refused, because
 *   a program inside could send the tree away under a key of its own.
 * INVARIANT (what was judged is sent): a body is read whole, and sent as it was understood, so that the
 *   model's host cannot understand it in another way.
 * INVARIANT (no contents): what is kept of a request is its count, tokens, time and failure.
 */
import { type IncomingMessage, request as requestPlain, type ServerResponse } from 'node:http'
import { request as requestSecure } from 'node:https'
import {
  costOf,
  type GatewayBudget,
  type GatewayUse,
  type ModelPrice,
  modelOf,
  NO_GATEWAY_USE,
  priceOf,
  type SpentBudget,
  spentBudget,
} from './budget.ts'
import { reachRefusal } from './remote-reach.ts'
import { NO_TOKENS, type TokenUse, UsageReader } from './usage.ts'

interface GatewayCall {
  readonly method: string
  /** `*` matches one or more characters without a slash. */
  readonly path: string
}

export interface GatewayEndpoint {
  readonly name: string
  /** Where the model is; a path of it comes before that of each call. */
  readonly upstream: URL
  readonly calls: readonly GatewayCall[]
  readonly key: {
    readonly header: string
    readonly prefix: string
    readonly placeholder: string
    /** The name under which the person keeps it. */
    readonly name: string
    /** Null if none is kept. */
    readonly value: string | null
  }
  /** Whether a credential is one of the agent's own login, which the person let it have. */
  readonly isLogin: (credential: string) => boolean
}

const CREDENTIALS = [
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'proxy-authorization',
]
const KEY_PARAMETERS = ['key', 'api_key', 'access_token']
/** Headers about one connection, and those that the gateway sets itself. */
const OWN_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  // An answer is read while it passes, so it comes as it is.
  'accept-encoding',
])
/** Headers by which a server may take a request for another one. */
const MISLEADING =
  /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-original-.*|x-rewrite-.*|x-(?:http-)?method(?:-override)?)$/
/** Slashes, dots and zero bytes that are encoded, backslashes, and steps up or to the same place. */
const MISLEADING_PATH = /%(?:2f|5c|2e|00|25)|\\|(?:^|\/)\.{1,2}(?:\/|$)/i
const BODY_BYTES_MAX = 64 * 1024 * 1024
const SILENT_MS = 600_000

interface GatewayParts {
  readonly endpoints: readonly GatewayEndpoint[]
  readonly budget: GatewayBudget
  readonly prices: readonly ModelPrice[]
  /** Hosts that the session may reach itself. */
  readonly hosts: readonly string[]
  /**
   * Called with each request that a budget does not let pass. Resolves when a person gave more, or with
   * what the agent hears. The request waits meanwhile.
   */
  readonly onSpent: (spent: SpentBudget) => Promise<string>
}

export class ModelGateway {
  readonly #endpoints: ReadonlyMap<string, GatewayEndpoint>
  readonly #parts: GatewayParts
  readonly #hosts: ReadonlySet<string>
  #budget: GatewayBudget
  #use: GatewayUse = NO_GATEWAY_USE

  constructor(parts: GatewayParts) {
    this.#parts = parts
    this.#hosts = new Set(parts.hosts)
    this.#endpoints = new Map(parts.endpoints.map((endpoint) => [endpoint.name, endpoint]))
    this.#budget = parts.budget
  }

  get budget(): GatewayBudget {
    return this.#budget
  }

  /** From now on. */
  allow(budget: GatewayBudget): void {
    this.#budget = budget
  }

  get use(): GatewayUse {
    return this.#use
  }

  /** Serves one request; `path` is what follows the endpoint's name, with its query. */
  serve(name: string, path: string, asked: IncomingMessage, answer: ServerResponse): void {
    const endpoint = this.#endpoints.get(name)
    if (endpoint === undefined) return refuse(answer, 404, `there is no model endpoint ${name}`)
    const refusal = this.#refusal(endpoint, path, asked)
    if (refusal !== null) return refuse(answer, refusal.status, refusal.message)
    const spent = spentBudget(this.#budget, this.#use)
    if (spent === null) return this.#take(endpoint, path, asked, answer)
    void this.#moreOf(spent).then((refusal) => {
      if (answer.destroyed) return
      if (refusal === null) return this.#take(endpoint, path, asked, answer)
      // Not 429: clients send that again and again, and a person has to decide.
      refuse(answer, 403, refusal)
    })
  }

  /** Returns why a request does not pass; null when a person gave more of each budget. */
  async #moreOf(spent: SpentBudget): Promise<string | null> {
    const words = await this.#parts.onSpent(spent)
    const left = spentBudget(this.#budget, this.#use)
    if (left === null || left.budget !== spent.budget) {
      return left === null ? null : this.#moreOf(left)
    }
    return `${spent.words}; ${words}`
  }

  #take(
    endpoint: GatewayEndpoint,
    path: string,
    asked: IncomingMessage,
    answer: ServerResponse,
  ): void {
    // Counted before the body is read, so that requests at the same time keep to the budget.
    this.#count(1)
    readBody(asked, answer, (bytes) => {
      const body = understood(asked, bytes)
      const why =
        typeof body === 'string' ? body : (this.#reaches(body) ?? this.#unpriced(body, path))
      if (why !== null) {
        this.#count(-1)
        return refuse(answer, 403, why)
      }
      // A text is a refusal.
      this.#pass(endpoint, path, asked, answer, this.#telling(body as Understood, path))
    })
  }

  #count(requests: number): void {
    this.#use = { ...this.#use, requests: this.#use.requests + requests }
  }

  #reaches({ value }: Understood): string | null {
    return reachRefusal(value, (host) => {
      const name = host.replace(/:\d+$/, '')
      return this.#hosts.has(host) || this.#hosts.has(name) || this.#hosts.has(`${name}:443`)
    })
  }

  /** Why a call cannot be counted against a budget of cost; null if it can, or there is none. */
  #unpriced({ value }: Understood, path: string): string | null {
    const model = modelOf(value, path)
    const isFree = value === null || priceOf(this.#parts.prices, model) !== null
    if (this.#budget.cost === null || isFree) return null
    return `the session has a budget of cost, and \`settings.model_prices\` of the laws has no price for the model ${model ?? 'of this call'}; a person can add it to .writ/laws.yaml`
  }

  /** A streamed answer of OpenAI's older interface says what it used only if it is asked to. */
  #telling(body: Understood, path: string): Understood {
    const { tokens, cost } = this.#budget
    const value = body.value as { stream?: unknown; stream_options?: object } | null
    const isBound = tokens !== null || cost !== null
    if (!isBound || value?.stream !== true || !/\/chat\/completions(?:\?|$)/.test(path)) return body
    const told = { ...value, stream_options: { ...value.stream_options, include_usage: true } }
    return { value: told, bytes: Buffer.from(JSON.stringify(told)) }
  }

  #refusal(
    { calls, key, isLogin }: GatewayEndpoint,
    path: string,
    { method = '', headers }: IncomingMessage,
  ) {
    const [plain = ''] = path.split('?')
    if (MISLEADING_PATH.test(plain)) {
      return {
        status: 403,
        message: 'the path has encoded slashes, dots or steps, so it is not passed on',
      }
    }
    const { pathname, searchParams } = new URL(path, 'http://inside')
    const isListed = calls.some((call) => call.method === method && matches(call.path, pathname))
    if (!isListed) {
      return {
        status: 403,
        message: `${method} ${pathname} is no call of a model, so it is not passed on`,
      }
    }
    const given = [
      ...CREDENTIALS.flatMap((name) => headers[name] ?? []),
      ...KEY_PARAMETERS.flatMap((name) => searchParams.getAll(name)),
    ].filter((value) => !isPlaceholder(value, key.placeholder))
    const isOwn = given.length > 0 && given.every((value) => isLogin(bare(value)))
    if (given.length > 0 && !isOwn) {
      const message =
        'the request carries a key of its own; only the key that the person keeps in writ is used'
      return { status: 403, message }
    }
    if (key.value === null && !isOwn) {
      const message = `no key is kept for this model: the person sets it outside, with \`writ secret set ${key.name}\``
      return { status: 401, message }
    }
    return null
  }

  #pass(
    endpoint: GatewayEndpoint,
    path: string,
    asked: IncomingMessage,
    answer: ServerResponse,
    { bytes, value }: Understood,
  ): void {
    const startedMs = performance.now()
    const price = priceOf(this.#parts.prices, modelOf(value, path))
    let isNoted = false
    const note = (tokens: TokenUse, hasFailed: boolean): void => {
      if (!isNoted) this.#note({ startedMs, price, tokens, hasFailed })
      isNoted = true
    }
    const target = upstreamOf(endpoint, path)
    const request = target.protocol === 'http:' ? requestPlain : requestSecure
    const headers = headersFor(endpoint, asked)
    if (bytes.length > 0) headers['content-length'] = String(bytes.length)
    const upward = request(target, { method: asked.method, headers })
    upward.setTimeout(SILENT_MS, () => upward.destroy(new Error('the model does not answer')))
    upward.once('response', (response) => {
      const reader = new UsageReader(response.headers['content-type'] ?? '')
      answer.writeHead(response.statusCode ?? 502, withoutOwn(response.headers))
      response.on('data', (chunk: Buffer) => {
        if (!answer.write(chunk)) response.pause()
        reader.take(chunk)
      })
      answer.on('drain', () => response.resume())
      response.once('end', () => {
        note(reader.end(), (response.statusCode ?? 500) >= 400)
        answer.end()
      })
      // What an answer said before it was cut was used.
      response.once('close', () => note(reader.end(), true))
      response.once('error', () => answer.destroy())
    })
    upward.once('error', (error) => {
      note(NO_TOKENS, true)
      if (answer.headersSent) answer.destroy()
      else refuse(answer, 502, `the model cannot be reached: ${error.message}`)
    })
    answer.once('close', () => {
      if (!answer.writableEnded) upward.destroy()
    })
    upward.end(bytes)
  }

  #note({ startedMs, price, tokens, hasFailed }: Noted): void {
    const { requests, failures, milliseconds, input, cached, output, cost, unpriced } = this.#use
    const isUnpriced = price === null && tokens.input + tokens.output > 0
    this.#use = {
      requests,
      failures: failures + (hasFailed ? 1 : 0),
      milliseconds: milliseconds + Math.round(performance.now() - startedMs),
      input: input + tokens.input,
      cached: cached + tokens.cached,
      output: output + tokens.output,
      cost: cost + (price === null ? 0 : costOf(price, tokens)),
      unpriced: unpriced + (isUnpriced ? 1 : 0),
    }
  }
}

interface Noted {
  readonly startedMs: number
  readonly price: ModelPrice | null
  readonly tokens: TokenUse
  readonly hasFailed: boolean
}

/** Reads the whole body; one that is too long ends the request. */
function readBody(
  asked: IncomingMessage,
  answer: ServerResponse,
  done: (bytes: Buffer) => void,
): void {
  const pieces: Buffer[] = []
  let length = 0
  asked.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= BODY_BYTES_MAX) return void pieces.push(chunk)
    pieces.length = 0
    refuse(answer, 413, 'the request is longer than 64 MB')
  })
  asked.once('end', () => {
    if (length <= BODY_BYTES_MAX) done(Buffer.concat(pieces))
  })
}

interface Understood {
  readonly value: unknown
  readonly bytes: Buffer
}

/** Returns the document of a body with the bytes that are sent, or why it is refused. */
function understood({ headers }: IncomingMessage, packed: Buffer): Understood | string {
  if (packed.length === 0) return { value: null, bytes: packed }
  try {
    const bytes = unpacked(headers['content-encoding'], packed)
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return { value, bytes: Buffer.from(JSON.stringify(value)) }
  } catch {
    return 'the body is no JSON that can be read here, so it is not passed on'
  }
}

/** Fails if it is packed in a way that is not known here. */
function unpacked(encoding: string | undefined, packed: Buffer): Buffer {
  const { gunzipSync, inflateSync, brotliDecompressSync } = process.getBuiltinModule('node:zlib')
  const limit = { maxOutputLength: BODY_BYTES_MAX }
  if (encoding === undefined || encoding === 'identity') return packed
  if (encoding === 'gzip') return gunzipSync(packed, limit)
  if (encoding === 'deflate') return inflateSync(packed, limit)
  if (encoding === 'br') return brotliDecompressSync(packed, limit)
  throw new Error('unknown encoding')
}

function upstreamOf({ upstream, key }: GatewayEndpoint, path: string): URL {
  const asked = new URL(path, 'http://inside')
  for (const name of KEY_PARAMETERS) {
    if (asked.searchParams.getAll(name).some((value) => isPlaceholder(value, key.placeholder))) {
      asked.searchParams.delete(name)
    }
  }
  const target = new URL(upstream)
  target.pathname = `${upstream.pathname.replace(/\/$/, '')}${asked.pathname}`
  target.search = asked.search
  return target
}

function headersFor({ key }: GatewayEndpoint, { headers }: IncomingMessage) {
  const plain = Object.entries(headers).filter(([name]) => !MISLEADING.test(name))
  const passed = withoutOwn(Object.fromEntries(plain))
  // The body is sent as it was read.
  for (const name of ['content-length', 'content-encoding']) delete passed[name]
  // Without a key the agent's own login is what it sends; `#refusal` has judged it.
  if (key.value === null) return passed
  const kept = Object.entries(passed).filter(([name]) => !CREDENTIALS.includes(name))
  return { ...Object.fromEntries(kept), [key.header]: `${key.prefix}${key.value}` }
}

function withoutOwn(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      OWN_HEADERS.has(name) || value === undefined ? [] : [[name, value]],
    ),
  )
}

function isPlaceholder(value: string, placeholder: string): boolean {
  return bare(value) === placeholder
}

function bare(credential: string): string {
  return credential.replace(/^(?:Bearer|Basic)\s+/i, '')
}

/** A pattern without letters that mean something but `*`. */
function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\+?^${}()|[\]]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^/]+')}$`).test(path)
}

/** In the form that clients of models show to their users. */
export function refuse(answer: ServerResponse, status: number, message: string): void {
  if (answer.headersSent) return void answer.destroy()
  const body = JSON.stringify({
    type: 'error',
    error: { type: 'writ', message: `writ: ${message}` },
  })
  answer.writeHead(status, { 'content-type': 'application/json' })
  answer.end(body)
}
