/** Requirements of a plan under repair (seed 001 §3): what a task must be given before it starts. */
import type { ObjectDraft } from './draft.ts'
import { isBlank, isStringList, readWord } from './loose-values.ts'
import { REQUIREMENT_KINDS, REQUIREMENT_SOURCES } from './plan.ts'
import { isMark } from './plan-chain.ts'
import type { PlanTop } from './plan-head.ts'
import { type Ids, idText } from './plan-ids.ts'

const KIND_WORDS: ReadonlyMap<string | null, string> = new Map([
  ...REQUIREMENT_KINDS.map((name) => [name, name] as const),
  ...['FILES', 'DOC', 'DOCS', 'DOCUMENT', 'DOCUMENTS'].map((word) => [word, 'FILE'] as const),
  ['CONFIRM', 'CONFIRMATION'],
  ...['SKILL', 'SKILL_RESULT', 'SKILL_ARTIFACT'].map((word) => [word, 'SKILL_OUTPUT'] as const),
])

const NO_WORDS: ReadonlySet<string | null> = new Set(['0', 'NO', 'FALSE', 'N'])

/** A requirement that names no task asks for something of the plan as a whole, and is left so. */
export function assignRequirementTask(requirement: ObjectDraft, head: PlanTop, ids: Ids): void {
  const task = requirement.get('task_id')
  if (isMark(task)) requirement.set('task_id', head.rootId, 'plan.chain_requirement')
  else if (idText(task) !== null) requirement.set('task_id', ids.resolve(task), 'plan.id')
}

export function repairRequirement(requirement: ObjectDraft, index: number): void {
  if (isBlank(requirement.get('name'))) {
    requirement.set('name', `requirement_${index + 1}`, 'plan.requirement_name')
  }
  const kind = KIND_WORDS.get(readWord(requirement.get('kind'))) ?? 'FILE'
  requirement.set('kind', kind, 'plan.requirement_kind')
  const word = readWord(requirement.get('source'))
  const source = REQUIREMENT_SOURCES.find((name) => name === word) ?? 'USER'
  requirement.set('source', source, 'plan.requirement_source')
  requirement.set('required', readFlag(requirement.get('required')), 'plan.requirement_required')
  const count = requirement.get('min_count')
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1) {
    requirement.set('min_count', 1, 'plan.requirement_min_count')
  }
  repairTypes(requirement)
}

/** What is not said to be optional is required. */
function readFlag(value: unknown): 0 | 1 {
  if (value === false || value === 0) return 0
  return NO_WORDS.has(readWord(value)) ? 0 : 1
}

function repairTypes(requirement: ObjectDraft): void {
  const types = requirement.get('allowed_types')
  if (isStringList(types)) return
  const list = typeof types === 'string' ? [types] : []
  requirement.set('allowed_types', list, 'plan.requirement_allowed_types')
}
