/**
 * The `review_result` wrapper that some reviewers add (seed 001 §2). It fills gaps of the review and
 * never overrules it; the wrapper itself stays where it is, as an unknown key does.
 */
import { elements, field, isObject, type JsonObject } from '../kernel/contract.ts'
import type { ObjectDraft } from './draft.ts'
import { firstFilled, isBlank, isFilled, readInteger } from './loose-values.ts'
import { NO_CRITERIA, readSuggestions, type Suggestion } from './review-suggestions.ts'

const IMPACT = 'The reviewer marked this down.'
const REMEDY = 'Do what the comment asks for.'

export function fillFromResult(draft: ObjectDraft): void {
  const result = draft.get('review_result')
  if (!isObject(result)) return
  const score = readInteger(field(result, 'total_score')) ?? readInteger(field(result, 'score'))
  if (score !== null && (readInteger(draft.get('total_score')) ?? 0) === 0) {
    if (score !== 0) draft.set('total_score', score, 'review.result_score')
  }
  const action = firstFilled(field(result, 'action_required'), field(result, 'action'))
  if (action !== null && isBlank(draft.get('action_required'))) {
    draft.set('action_required', action, 'review.result_action')
  }
  fillList(draft, 'breakdown', breakdownOf(result), 'review.result_breakdown')
  // A list that only holds what will be dropped is a gap as well.
  fillList(draft, 'suggestions', suggestionsOf(result), 'review.result_suggestions')
}

function fillList(draft: ObjectDraft, name: string, list: readonly unknown[], rule: string): void {
  const given = elements(draft.get(name))
  const isGap = name === 'suggestions' ? !given.some(isObject) : given.length === 0
  if (isGap && list.length > 0) draft.set(name, list, rule)
}

function breakdownOf(result: JsonObject): readonly unknown[] {
  const scores = objectsOf(field(result, 'dimension_scores'))
  const items = scores.length > 0 ? scores : objectsOf(field(result, 'scores'))
  return items.map((item) => ({
    dimension: firstFilled(field(item, 'dimension')) ?? 'overall',
    score: readInteger(field(item, 'score')) ?? 0,
    max_score: 100,
    issues: issuesOf(field(item, 'comment')),
  }))
}

function issuesOf(comment: unknown): readonly unknown[] {
  if (!isFilled(comment)) return []
  return [
    {
      problem: comment,
      evidence: comment,
      impact: IMPACT,
      suggestion: REMEDY,
      acceptance_criteria: NO_CRITERIA,
    },
  ]
}

function suggestionsOf(result: JsonObject): readonly Suggestion[] {
  const given = objectsOf(field(result, 'suggestions'))
  const items = given.length > 0 ? given : objectsOf(field(result, 'recommendations'))
  return readSuggestions(
    items.map((item) => ({ ...item, change: changeOf(item), priority: 'MED' })),
  )
}

/** What to change, else what is wrong and in which dimension. */
function changeOf(item: JsonObject): string | null {
  const change = firstFilled(field(item, 'change'))
  const problem = firstFilled(field(item, 'problem'))?.trim()
  if (change !== null || problem === undefined) return change
  const dimension = firstFilled(field(item, 'dimension'))?.trim()
  return dimension === undefined ? problem : `${problem} (${dimension})`
}

function objectsOf(list: unknown): readonly JsonObject[] {
  return elements(list).filter(isObject)
}
