/**
 * `xiaojing_review_v1`: what a reviewer answers about a plan or about one task of it (seed 001 §2,
 * C-6c). Open: unknown keys are kept and not judged.
 *
 * INVARIANT (score gate): 90 or more is APPROVE, and nothing below 90 is. Normalisation repairs
 * towards it, validation refuses what breaks it.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show, showName } from '../../base/index.ts'
import { type Context, type Contract, field, type Subject } from '../kernel/contract.ts'
import { findScope } from './scope.ts'

export const REVIEW_VERSION = 'xiaojing_review_v1'
export const REVIEW_TARGETS = ['PLAN', 'NODE'] as const
export const REVIEW_ACTIONS = ['APPROVE', 'MODIFY', 'REQUEST_EXTERNAL_INPUT'] as const
export const SUGGESTION_PRIORITIES = ['HIGH', 'MED', 'LOW'] as const
export const APPROVE_SCORE_MIN = 90

export type ReviewTarget = (typeof REVIEW_TARGETS)[number]

const Issue = Type.Object({
  problem: Type.String(),
  evidence: Type.String(),
  impact: Type.String(),
  suggestion: Type.String(),
  acceptance_criteria: Type.String(),
})

const Dimension = Type.Object({
  dimension: Type.String(),
  score: Type.Integer(),
  max_score: Type.Integer(),
  issues: Type.Array(Issue),
})

const Suggestion = Type.Object({
  priority: Type.Enum([...SUGGESTION_PRIORITIES]),
  change: Type.String(),
  steps: Type.Array(Type.String()),
  acceptance_criteria: Type.String(),
})

const scoreCode = { minimum: 'score_range', maximum: 'score_range' } as const

const XiaojingReviewSchema = Type.Object({
  schema_version: Type.Literal(REVIEW_VERSION, { 'x-code': 'version' }),
  task_id: Type.String({ minLength: 1 }),
  review_target: Type.Enum([...REVIEW_TARGETS]),
  total_score: Type.Integer({ minimum: 0, maximum: 100, 'x-code': scoreCode }),
  action_required: Type.Enum([...REVIEW_ACTIONS]),
  summary: Type.String(),
  breakdown: Type.Array(Dimension),
  suggestions: Type.Array(Suggestion),
})

export type XiaojingReview = Type.Static<typeof XiaojingReviewSchema>

/** What the scope in the context says is reviewed; null when the context names no scope. */
export function targetOfScope(context: Context): ReviewTarget | null {
  const name = field(context, 'scope')
  return typeof name === 'string' ? (findScope(name)?.reviewTarget ?? null) : null
}

/** Reads `context.scope`: under a scope the target is the scope's, without one both are legal. */
function checkTarget({ document, context, report }: Subject): void {
  const wanted = targetOfScope(context)
  const target = REVIEW_TARGETS.find((name) => name === field(document, 'review_target'))
  if (wanted === null || target === undefined || target === wanted) return
  report.add(
    'review.target',
    '/review_target',
    `this scope reviews a ${showName(wanted)}, not a ${showName(target)}`,
    `write ${showName(wanted)}`,
  )
}

/** Checks the score gate (see the header). It applies to a score out of range as well. */
function checkScoreGate({ document, report }: Subject): void {
  const score = field(document, 'total_score')
  const action = REVIEW_ACTIONS.find((name) => name === field(document, 'action_required'))
  if (typeof score !== 'number' || !Number.isInteger(score) || action === undefined) return
  if ((action === 'APPROVE') === score >= APPROVE_SCORE_MIN) return
  const [rule, legal] =
    action === 'APPROVE'
      ? ([`below ${APPROVE_SCORE_MIN} is never APPROVE`, 'MODIFY'] as const)
      : ([`${APPROVE_SCORE_MIN} or more is APPROVE`, 'APPROVE'] as const)
  report.add(
    'review.score_gate',
    '/action_required',
    `${rule}: the score is ${show(score, '')}, the action ${showName(action)}`,
    `write ${showName(legal)}`,
  )
}

export const xiaojingReview: Contract = {
  name: REVIEW_VERSION,
  title: 'What a reviewer answers about a plan or a task.',
  prefix: 'review',
  schema: XiaojingReviewSchema,
  checks: [checkTarget, checkScoreGate],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
