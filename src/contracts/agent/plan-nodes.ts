/**
 * Nodes of a plan under repair (seed 001 §3): their aliases, their fields, and the nodes that must
 * be there because something refers to them.
 */
import type { JsonObject } from '../kernel/contract.ts'
import type { ObjectDraft } from './draft.ts'
import type { Items } from './items.ts'
import { isBlank, isStringList, readInteger, readWord } from './loose-values.ts'
import { NODE_TYPES } from './plan.ts'
import { type PlanTop, repairOwner } from './plan-head.ts'
import { type Ids, idText } from './plan-ids.ts'

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
