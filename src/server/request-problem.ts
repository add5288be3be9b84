/** What is wrong with a request, as the problem that its caller gets (H-4): never a stack trace. */
import { isUtf8 } from 'node:buffer'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ProblemDocument, problemOf, requestProblem } from '../api/index.ts'
import {
  CODES,
  type Code,
  DOCUMENT_LIMITS,
  type Fault,
  FaultError,
  fault,
  faultError,
  readJson,
} from '../base/index.ts'
import { RefusedDocument } from './handlers/actions.ts'
import { CommandRefusal } from './handlers/commands.ts'
import type { Log } from './look/log.ts'

/** A request that breaks the schema of its route. */
export class MalformedRequest extends Error {
  readonly problem: ProblemDocument

  constructor(violations: Parameters<typeof requestProblem>[2] = []) {
    super('the request does not follow its route')
    const [first] = violations
    const where = first === undefined || first.path === '' ? '' : ` at ${first.path}`
    const at = first === undefined ? '' : `${where}: ${first.message}`
    this.problem = requestProblem('api.malformed', `the request is malformed${at}`, violations)
  }
}

/** Reads a body as strictly as a document. */
export function readBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw faultError('api.malformed', '', 'the body is not UTF-8')
  const reading = readJson(bytes.toString(), DOCUMENT_LIMITS)
  if (reading.ok) return reading.value
  throw new MalformedRequest([reading.refusal])
}

const FASTIFY_CODES: Readonly<Record<string, Code>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'api.too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'api.media',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'api.malformed',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'api.malformed',
  FST_ERR_BAD_URL: 'api.malformed',
}

/** Answers a request with a problem, and logs what is a fault of the service. */
export function answerProblem(
  { log, stop }: { readonly log: Log; readonly stop: AbortSignal },
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

/** A fault of the ledger names files of the service, which are for its log alone. */
function withoutPlace(found: Fault): Fault {
  const { code } = found
  if (!code.startsWith('ledger.') || CODES[code].http < 500) return found
  return fault(code, '', null, { hint: 'the log of the service says where; nothing was changed' })
}

function problemFor(error: unknown, isStopping: boolean): ProblemDocument {
  if (error instanceof FaultError) return problemOf(withoutPlace(error.fault))
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
