/**
 * Nodes of a plan under repair (seed 001 §3): their aliases, their fields, and the nodes that must
 * be there because something refers to them.
 */
import type { JsonObject } from '../kernel/contract.ts'
import type { Items, ObjectDraft } from './draft.ts'
import { isBlank, isStringList, readInteger, readWord } from './loose-values.ts'
import { NODE_TYPES, REQUIREMENT_KINDS, REQUIREMENT_SOURCES } from './plan.ts'
import { isMark } from './plan-edges.ts'
import { type Ids, idText, type PlanTop, repairOwner } from './plan-head.ts'

const NODE_ALIASES: readonly (readonly [name: string, aliases: readonly string[]])[] = [
  ['task_id', ['id', 'taskId', 'node_id', 'nodeId']],
  ['title', ['name', 'label']],
  ['node_type', ['type', 'kind']],
  ['owner_agent_id', ['owner', 'agent']],
  ['priority', ['prio']],
  ['goal_statement', ['goal', 'objective']],
  ['rationale', ['reason', 'why']],
  ['tags', ['labels']],
]

export function readNodeAliases(node: ObjectDraft): void {
  for (const [name, aliases] of NODE_ALIASES) node.rename(name, aliases, 'plan.node_alias')
}

export function assignNodeIds(node: ObjectDraft, { planId }: PlanTop, ids: Ids): void {
  node.set('task_id', ids.require(node.get('task_id')), 'plan.id')
  node.set('plan_id', planId, 'plan.plan_id')
  const reviewed = node.get('review_target_task_id')
  if (idText(reviewed) !== null) {
    node.set('review_target_task_id', ids.resolve(reviewed), 'plan.id')
  }
}

export function repairNode(node: ObjectDraft, index: number, head: PlanTop): void {
  const isRoot = node.get('task_id') === head.rootId
  const word = readWord(node.get('node_type'))
  const type = NODE_TYPES.find((name) => name === word) ?? (isRoot ? 'GOAL' : 'ACTION')
  node.set('node_type', type, 'plan.node_type')
  if (isBlank(node.get('title'))) node.set('title', `Task ${index + 1}`, 'plan.node_title')
  if (isRoot && type === 'GOAL' && head.topLine !== null && isBlank(node.get('goal_statement'))) {
    node.set('goal_statement', head.topLine, 'plan.goal_statement')
  }
  repairOwner(node, head.owners)
  node.set('priority', readInteger(node.get('priority')) ?? 0, 'plan.priority')
  if (!isStringList(node.get('tags'))) node.set('tags', [], 'plan.tags')
}

/** Adds the root, and one placeholder for every other id in `wanted` that no node has. */
export function addMissingNodes(nodes: Items, wanted: Iterable<string>, head: PlanTop): void {
  const known = new Set(nodes.drafts.map((node) => node.get('task_id')))
  if (!known.has(head.rootId)) nodes.append(rootNode(head), 'plan.root_added')
  known.add(head.rootId)
  for (const id of wanted) {
    if (known.has(id)) continue
    known.add(id)
    const title = `AUTO: missing node ${id.slice(0, 8)}`
    nodes.append({ ...madeNode(id, head), node_type: 'ACTION', title }, 'plan.placeholder')
  }
}

function rootNode(head: PlanTop): JsonObject {
  const root = { ...madeNode(head.rootId, head), node_type: 'GOAL', title: 'Root Task' }
  return head.topLine === null ? root : { ...root, goal_statement: head.topLine }
}

function madeNode(id: string, { planId, owners }: PlanTop): JsonObject {
  return {
    task_id: id,
    plan_id: planId,
    owner_agent_id: owners.fallback,
    priority: 0,
    tags: ['autofix', 'placeholder'],
  }
}

const KIND_WORDS: ReadonlyMap<string | null, string> = new Map([
  ...REQUIREMENT_KINDS.map((name) => [name, name] as const),
  ...['FILES', 'DOC', 'DOCS', 'DOCUMENT', 'DOCUMENTS'].map((word) => [word, 'FILE'] as const),
  ['CONFIRM', 'CONFIRMATION'],
  ...['SKILL', 'SKILL_RESULT', 'SKILL_ARTIFACT'].map((word) => [word, 'SKILL_OUTPUT'] as const),
])

const NO_WORDS: ReadonlySet<string | null> = new Set(['0', 'NO', 'FALSE', 'N'])

/**
 * Requirements of a plan under repair (seed 001 §3): what a task must be given before it starts. A
 * requirement that names no task asks for something of the plan as a whole, and is left so.
 */
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
