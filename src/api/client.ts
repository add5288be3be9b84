/**
 * The typed client: a function for each route, in browsers and in Node. What it sends and returns has
 * the types of the table of routes.
 */
import { showName } from '../base/index.ts'
import { isProblem, type ProblemDocument } from './problem.ts'
import { ROUTES } from './routes/routes.ts'
import type { AnswerOf, RequestOf, Route } from './shape/route.ts'

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:4180`. */
  readonly url: string
  /** Null for a browser, whose cookie says who calls. */
  readonly token: string | null
  /** Of a browser session: what the login answered; the cookie alone is not enough. */
  readonly pageKey?: () => string | null
  readonly fetch?: typeof fetch
}

interface Extras {
  /** The same key never does the same thing twice. */
  readonly idempotencyKey?: string
  /** For how many seconds the service may work before it answers 202. */
  readonly wait?: number
  readonly signal?: AbortSignal
  /** `text/plain` for what the command of the route prints at a terminal. */
  readonly accept?: string
}

export interface ServiceAnswer<T> {
  readonly status: number
  readonly value: T
  /** Where the answer will be, of a 202. */
  readonly location: string | null
  /** The exit status of the command that answered; null where none did. */
  readonly exit: number | null
}

type Table = typeof ROUTES

/** A page of another port of the same name gets the cookie, but not what this page keeps. */
export const PAGE_KEY_HEADER = 'writ-page-key'

/** JSON routes by name; events and tiles are read with `fetch`. */
export type Client = {
  readonly [Name in keyof Table]: (
    request: RequestOf<Table[Name]> & Extras,
  ) => Promise<ServiceAnswer<AnswerOf<Table[Name]>>>
}

/** An answer of the service that is a problem. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: ProblemDocument

  constructor(problem: ProblemDocument) {
    super(`${problem.code}: ${problem.detail}`)
    this.problem = problem
  }
}

export function createClient(options: ClientOptions): Client {
  const rows = Object.entries(ROUTES).map(([name, one]) => [
    name,
    (request: LooseRequest) => send(options, one, request),
  ])
  // Each function takes and returns what the table says of its route.
  return Object.fromEntries(rows) as Client
}

interface LooseRequest extends Extras {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

async function send(
  { url, token, pageKey, fetch: own = fetch }: ClientOptions,
  one: Route,
  request: LooseRequest,
): Promise<ServiceAnswer<unknown>> {
  const { body, signal, idempotencyKey, wait, accept } = request
  const key = pageKey?.() ?? null
  const response = await own(new URL(addressOf(one, request), url), {
    method: one.method,
    // What is sent is for this address alone: a token and a passphrase go nowhere else.
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(key === null ? {} : { [PAGE_KEY_HEADER]: key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(accept === undefined ? {} : { accept }),
      ...(wait === undefined ? {} : { prefer: `wait=${wait}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  const value: unknown = isJson && text !== '' ? JSON.parse(text) : text
  if (!response.ok) throw new ProblemError(isProblem(value) ? value : unknownProblem(response))
  const { status, headers } = response
  const exit = headers.get('writ-exit')
  const location = headers.get('location')
  return { status, value, location, exit: exit === null ? null : Number(exit) }
}

function addressOf({ path }: Route, { params = {}, query = {} }: LooseRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(params[name] ?? '')),
  )
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(
    Object.fromEntries(pairs.map(([name, value]) => [name, String(value)])),
  ).toString()
  return text === '' ? filled : `${filled}?${text}`
}

/** Of an answer that is not of writ, such as that of a proxy on the way. */
function unknownProblem({ status, type, headers }: Response): ProblemDocument {
  const isRedirect = type === 'opaqueredirect' || (status >= 300 && status < 400)
  // A browser does not say where to.
  const place = headers.get('location') ?? 'another address'
  const detail = isRedirect
    ? `the answer leads to ${showName(place)}, and redirects are not followed: name the address of the service itself`
    : `the answer has the status ${status} and is not of writ`
  return { type: 'about:blank', title: 'Problem', status, code: 'api.foreign_answer', detail }
}
