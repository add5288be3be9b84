/**
 * Suggestions of a review (seed 001 §2): exactly priority, change, steps and acceptance criteria.
 * What a reviewer added is dropped and written down; what is missing gets a sentence.
 */
import { at } from '../../base/index.ts'
import { elements, field, isObject, type JsonObject } from '../kernel/contract.ts'
import type { ObjectDraft, Repairs } from './draft.ts'
import { firstFilled, isFilled, isStringList, readWord } from './loose-values.ts'
import { SUGGESTION_PRIORITIES } from './review.ts'

const PRIORITY_WORDS: ReadonlyMap<string | null, string> = new Map([
  ...SUGGESTION_PRIORITIES.map((name) => [name, name] as const),
  ...['H', 'HI', 'URGENT', 'CRITICAL'].map((word) => [word, 'HIGH'] as const),
  ...['M', 'MID', 'MEDIUM', 'NORMAL'].map((word) => [word, 'MED'] as const),
  ...['L', 'MINOR', 'TRIVIAL'].map((word) => [word, 'LOW'] as const),
])

const KEYS: ReadonlySet<string> = new Set(['priority', 'change', 'steps', 'acceptance_criteria'])

const NO_CHANGE = 'Revise the work as the review asks.'
export const NO_CRITERIA = 'The next review finds nothing left to object to here.'

export interface Suggestion {
  readonly priority: string
  readonly change: string
  readonly steps: readonly string[]
  readonly acceptance_criteria: string
}

/** Repairs `suggestions` in place of the draft: each change of each suggestion is one repair. */
export function cleanSuggestions(draft: ObjectDraft): void {
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
export function readSuggestions(list: unknown): readonly Suggestion[] {
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
