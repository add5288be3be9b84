/**
 * Normalisation of reviews (seed 001 §2). A review that names another version is handed back as it
 * is: repairing a document by the rules of a version it does not follow would lose what it says.
 *
 * INVARIANT (score gate): see `review.ts`; what comes out here never breaks it.
 */
import { at } from '../../base/index.ts'
import {
  type Context,
  elements,
  field,
  isObject,
  type JsonObject,
  type Normalise,
} from '../kernel/contract.ts'
import { ObjectDraft, Repairs } from './draft.ts'
import {
  firstFilled,
  isBlank,
  isFilled,
  isStringList,
  readInteger,
  readWord,
  spellsInteger,
} from './loose-values.ts'
import {
  APPROVE_SCORE_MIN,
  REVIEW_ACTIONS,
  REVIEW_VERSION,
  SUGGESTION_PRIORITIES,
  targetOfScope,
} from './review.ts'

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

const IMPACT = 'The reviewer marked this down.'
const REMEDY = 'Do what the comment asks for.'

/**
 * The `review_result` wrapper that some reviewers add (seed 001 §2). It fills gaps of the review and
 * never overrules it; the wrapper itself stays where it is, as an unknown key does.
 */
function fillFromResult(draft: ObjectDraft): void {
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

const PRIORITY_WORDS: ReadonlyMap<string | null, string> = new Map([
  ...SUGGESTION_PRIORITIES.map((name) => [name, name] as const),
  ...['H', 'HI', 'URGENT', 'CRITICAL'].map((word) => [word, 'HIGH'] as const),
  ...['M', 'MID', 'MEDIUM', 'NORMAL'].map((word) => [word, 'MED'] as const),
  ...['L', 'MINOR', 'TRIVIAL'].map((word) => [word, 'LOW'] as const),
])

const KEYS: ReadonlySet<string> = new Set(['priority', 'change', 'steps', 'acceptance_criteria'])

const NO_CHANGE = 'Revise the work as the review asks.'
const NO_CRITERIA = 'The next review finds nothing left to object to here.'

interface Suggestion {
  readonly priority: string
  readonly change: string
  readonly steps: readonly string[]
  readonly acceptance_criteria: string
}

/**
 * Suggestions of a review (seed 001 §2): exactly priority, change, steps and acceptance criteria.
 * What a reviewer added is dropped and written down; what is missing gets a sentence. Repairs
 * `suggestions` in place of the draft: each change of each suggestion is one repair.
 */
function cleanSuggestions(draft: ObjectDraft): void {
  const given = draft.get('suggestions')
  if (!Array.isArray(given)) {
    draft.set('suggestions', [], 'review.suggestions')
    return
  }
  const clean: unknown[] = []
  let isSame = true
  for (const item of given) {
    const path = at('/suggestions', clean.length)
    if (!isObject(item)) {
      draft.repairs.add('review.suggestion_dropped', path, item, null)
      isSame = false
      continue
    }
    const suggestion = cleanSuggestion(item)
    const isChanged = recordChanges(item, suggestion, path, draft.repairs)
    clean.push(isChanged ? suggestion : item)
    isSame &&= !isChanged
  }
  if (!isSame) draft.replace('suggestions', clean)
}

/** The suggestions of a list that are objects, made complete. */
function readSuggestions(list: unknown): readonly Suggestion[] {
  return elements(list).filter(isObject).map(cleanSuggestion)
}

function cleanSuggestion(item: JsonObject): Suggestion {
  const steps = field(item, 'steps')
  return {
    priority: PRIORITY_WORDS.get(readWord(field(item, 'priority'))) ?? 'MED',
    change: firstFilled(field(item, 'change'))?.trim() ?? NO_CHANGE,
    steps: isStringList(steps) ? steps.filter(isFilled).map((step) => step.trim()) : [],
    acceptance_criteria: firstFilled(field(item, 'acceptance_criteria'))?.trim() ?? NO_CRITERIA,
  }
}

/** Writes down where the two differ; false when they do not. */
function recordChanges(
  item: JsonObject,
  clean: Suggestion,
  path: string,
  repairs: Repairs,
): boolean {
  const before = repairs.list.length
  for (const key of ['priority', 'change', 'steps', 'acceptance_criteria'] as const) {
    const from = field(item, key)
    if (!isSameField(from, clean[key])) {
      repairs.add(`review.suggestion_${key}`, at(path, key), from, clean[key])
    }
  }
  for (const key of Object.keys(item)) {
    if (!KEYS.has(key)) repairs.add('review.suggestion_key', at(path, key), item[key], null)
  }
  return repairs.list.length > before
}

function isSameField(from: unknown, to: string | readonly string[]): boolean {
  if (typeof to === 'string' || !Array.isArray(from)) return from === to
  return from.length === to.length && to.every((step, index) => from[index] === step)
}
