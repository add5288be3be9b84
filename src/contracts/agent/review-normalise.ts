/**
 * Normalisation of reviews (seed 001 §2). A review that names another version is handed back as it
 * is: repairing a document by the rules of a version it does not follow would lose what it says.
 *
 * INVARIANT (score gate): see `review.ts`; what comes out here never breaks it.
 */

import type { Normalise } from '../kernel/contract.ts'
import { type Context, field, isObject, type JsonObject } from '../kernel/contract.ts'
import { ObjectDraft, Repairs } from './draft.ts'
import { firstFilled, isBlank, readInteger, readWord, spellsInteger } from './loose-values.ts'
import { APPROVE_SCORE_MIN, REVIEW_ACTIONS, REVIEW_VERSION, targetOfScope } from './review.ts'
import { fillFromResult } from './review-result.ts'
import { cleanSuggestions } from './review-suggestions.ts'

/** What the version means under the alias keys `schema` and `version`. */
const VERSION_WORDS: ReadonlySet<string> = new Set([
  REVIEW_VERSION,
  'v1',
  'v01',
  '1',
  'review1',
  'review_v1',
  'review_v01',
  'xiaojing_review',
  'xiaojing_review_v0',
  'xiaojing_review_v1.0',
])

const PLAN_WORDS: ReadonlySet<string> = new Set(['PLAN_REVIEW', 'PLAN_JSON', 'TOP_TASK'])

const NO_SUMMARY = 'The reviewer gave no summary.'

export const normaliseReview: Normalise = (raw, context) => {
  const repairs = new Repairs()
  if (!isObject(raw)) return { document: null, repairs: repairs.list }
  if (namesAnotherVersion(raw)) return { document: raw, repairs: repairs.list }
  const draft = new ObjectDraft(raw, '', repairs)
  readVersion(draft)
  readTarget(draft, context)
  fillTaskId(draft, context)
  fillFromResult(draft)
  readScore(draft)
  readAction(draft)
  fillSummary(draft)
  fillBreakdown(draft)
  return { document: draft.object, repairs: repairs.list }
}

function namesAnotherVersion(raw: JsonObject): boolean {
  const version = firstFilled(field(raw, 'schema_version'))
  return version !== null && version.trim() !== REVIEW_VERSION
}

function readVersion(draft: ObjectDraft): void {
  const given = draft.get('schema_version') ?? ''
  // Blank counts as absent: only a version that says something can be another one.
  if (typeof given === 'string' && isBlank(given)) {
    const alias = ['schema', 'version'].find((key) => (draft.get(key) ?? null) !== null)
    if (alias !== undefined) draft.move(alias, 'schema_version', 'review.alias')
    const version = firstFilled(draft.get('schema_version'))
    if (version !== null && !VERSION_WORDS.has(version.trim().toLowerCase())) return
  }
  draft.set('schema_version', REVIEW_VERSION, 'review.version')
}

function readTarget(draft: ObjectDraft, context: Context): void {
  const word = readWord(draft.get('review_target'))
  const target = word === null ? targetOfScope(context) : PLAN_WORDS.has(word) ? 'PLAN' : word
  if (target !== null) draft.set('review_target', target, 'review.target')
}

/** A plan is reviewed under its own id, a node under the id of its task. */
function fillTaskId(draft: ObjectDraft, context: Context): void {
  const given = draft.get('task_id')
  if (typeof given === 'string' && given !== '') return
  const target = targetOfScope(context) ?? draft.get('review_target')
  const names = target === 'PLAN' ? ['plan_id', 'task_id'] : ['task_id']
  const known = names
    .map((name) => field(context, name))
    .find((id) => typeof id === 'string' && id !== '')
  if (known !== undefined) draft.set('task_id', known, 'review.task_id')
}

function readScore(draft: ObjectDraft): void {
  const given = draft.get('total_score')
  const score = readInteger(given)
  // A number too large to hold is out of range however it is read: left to validation.
  if (score === null && spellsInteger(given)) return
  draft.set('total_score', score ?? 0, 'review.total_score')
}

function readAction(draft: ObjectDraft): void {
  const word = readWord(draft.get('action_required'))
  const action = REVIEW_ACTIONS.find((name) => name === word) ?? 'MODIFY'
  draft.set('action_required', action, 'review.action_required')
  const score = draft.get('total_score')
  const approves = typeof score === 'number' && score >= APPROVE_SCORE_MIN
  if (approves) draft.set('action_required', 'APPROVE', 'review.score_gate')
  else if (action === 'APPROVE') draft.set('action_required', 'MODIFY', 'review.score_gate')
}

function fillSummary(draft: ObjectDraft): void {
  if (!isBlank(draft.get('summary'))) return
  const feedback = firstFilled(draft.get('feedback'))
  draft.set('summary', feedback?.trim() ?? NO_SUMMARY, 'review.summary')
}

function fillBreakdown(draft: ObjectDraft): void {
  const breakdown = draft.get('breakdown')
  if (!Array.isArray(breakdown) || breakdown.length === 0) {
    const score = readInteger(draft.get('total_score')) ?? 0
    const overall = { dimension: 'overall', score, max_score: 100, issues: [] }
    draft.set('breakdown', [overall], 'review.breakdown')
  }
  cleanSuggestions(draft)
}
