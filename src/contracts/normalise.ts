/**
 * Normalising one document and judging what came out: the answer of `writ normalize`, one shape for
 * yes and no. Contracts that have nothing to repair are handed through as they are.
 */
import { GRAPH_LIMITS, guardValue, isRefusal } from '../base/index.ts'
import { ACTION_VERSION } from './agent/action.ts'
import { normaliseAction } from './agent/action-normalise.ts'
import { PLAN_VERSION } from './agent/plan.ts'
import { normalisePlan } from './agent/plan-normalise.ts'
import { REVIEW_VERSION } from './agent/review.ts'
import { normaliseReview } from './agent/review-normalise.ts'
import { contractNames, resolveContract } from './check.ts'
import type { Normalise, Repair, Sources } from './kernel/contract.ts'
import { type Context, isObject, type JsonObject } from './kernel/contract.ts'
import { validate } from './kernel/validate.ts'
import type { Violation } from './kernel/violation.ts'
import { type Mismatch, mismatchOf, refusalMismatch, unknownMismatch } from './mismatch.ts'

export interface NormaliseAnswer {
  readonly valid: boolean
  /** The document as far as it got; null when the input is no object, or no document at all. */
  readonly normalized: JsonObject | null
  readonly repairs: readonly Repair[]
  /** Null when valid, else the first violation. */
  readonly error: Mismatch | null
}

const NORMALISERS: ReadonlyMap<string, Normalise> = new Map([
  [ACTION_VERSION, normaliseAction],
  [REVIEW_VERSION, normaliseReview],
  [PLAN_VERSION, normalisePlan],
])

const OUTGROWN: Violation = {
  code: 'document.too_large',
  path: '',
  message: 'made complete, the document would have too many values',
}

const keep: Normalise = (raw) => ({ document: isObject(raw) ? raw : null, repairs: [] })

/** Takes scopes (trimmed, in any case) and contract names. Never throws, for any `raw`. */
export function normaliseAndValidate(
  scope: string,
  raw: unknown,
  context: Context,
  sources: Sources,
): NormaliseAnswer {
  const named = resolveContract(scope)
  const census = guardValue(raw, named?.contract.limits ?? GRAPH_LIMITS)
  if (isRefusal(census)) return normaliseRefused(scope, census)
  if (named === null)
    return no(isObject(raw) ? raw : null, [], unknownMismatch(scope, contractNames()))
  const { contract } = named
  const judged = { ...context, ...named.context }
  const normalise = NORMALISERS.get(contract.name) ?? keep
  const { document, repairs, isOutgrown } = normalise(raw, judged, sources)
  if (isOutgrown) return no(document, repairs, refusalMismatch(scope, contract, OUTGROWN))
  const { violations } = validate(contract, document ?? raw, judged)
  const [first] = violations
  if (first === undefined) return { valid: true, normalized: document, repairs, error: null }
  // What was repaired may have outgrown the limits.
  const error = first.code.startsWith('document.')
    ? refusalMismatch(scope, contract, first)
    : mismatchOf(scope, contract, first, document ?? raw)
  return no(document, repairs, error)
}

/** The answer about what was refused before any contract looked at it. */
export function normaliseRefused(scope: string, refusal: Violation): NormaliseAnswer {
  const contract = resolveContract(scope)?.contract ?? null
  // Without a scope there is only the refusal to report.
  const isUnknown = contract === null && scope.trim() !== ''
  return no(
    null,
    [],
    isUnknown ? unknownMismatch(scope, contractNames()) : refusalMismatch(scope, contract, refusal),
  )
}

function no(
  normalized: JsonObject | null,
  repairs: readonly Repair[],
  error: Mismatch,
): NormaliseAnswer {
  return { valid: false, normalized, repairs, error }
}
