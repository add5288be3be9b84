/**
 * Problems (RFC 9457): every answer that is a refusal or a failure. The code is the one of the command
 * line; a failure of the service says what its code means and nothing of the machine.
 */
import type { Static } from 'typebox'
import { CODES, type Code, type Fault } from '../base/index.ts'
import type { Violation } from '../contracts/index.ts'
import type { ProblemShape } from './shape/shapes.ts'

export type ProblemDocument = Static<typeof ProblemShape>

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  409: 'Conflict',
  412: 'Precondition failed',
  413: 'Content too large',
  415: 'Unsupported media type',
  422: 'Unprocessable content',
  429: 'Too many requests',
  500: 'Internal server error',
  503: 'Service unavailable',
}

export function problemOf({
  code,
  message,
  hint,
}: Pick<Fault, 'code' | 'message' | 'hint'>): ProblemDocument {
  const { http, says } = CODES[code]
  // What went wrong inside may name files of this machine; the log has it. A halt names none.
  const isOurs = http >= 500 && code !== 'halted'
  const words = isOurs || hint === undefined ? {} : { hint }
  return { ...headOf(code, http), detail: isOurs ? says : message, ...words }
}

/** A request that does not follow its route. */
export function requestProblem(
  code: Code,
  detail: string,
  violations: readonly Violation[] = [],
): ProblemDocument {
  const listed = violations.length === 0 ? {} : { violations: violations.map(plain) }
  return { ...headOf(code, CODES[code].http), detail, ...listed }
}

function plain({ code, path, message, hint }: Violation) {
  return { code, path, message, ...(hint === undefined ? {} : { hint }) }
}

function headOf(code: Code, status: number) {
  return { type: `urn:writ:code:${code}`, title: TITLES[status] ?? 'Problem', status, code }
}

/** Codes of a newer service are problems too. */
export function isProblem(value: unknown): value is ProblemDocument {
  if (typeof value !== 'object' || value === null) return false
  const { code, status, detail } = value as Partial<ProblemDocument> // Each is looked at here.
  return typeof code === 'string' && typeof status === 'number' && typeof detail === 'string'
}
