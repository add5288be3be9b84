/**
 * What a plan says to those who work and judge, besides its graph: goals, descriptions, criteria,
 * constraints, and every other word of a task. Handed on as it is; nothing of it binds the host.
 */
import { type Flow, type FlowNode, field, isObject, type PlanJson } from '../../contracts/index.ts'
import type { PlanNode } from './plan-graph.ts'

/** Fields of a task that other parts of the flow hold. */
const PLACED: ReadonlySet<string> = new Set([
  'task_id',
  'plan_id',
  'node_type',
  'title',
  'owner_agent_id',
  'priority',
  'review_target_task_id',
  'description',
  'instructions',
  'tools',
  'runs_work',
])

const CRITERIA = ['criteria', 'acceptance_criteria', 'success_criteria', 'definition_of_done']

const GOALS = ['goal', 'goal_statement', 'description']

/** What only a person's file can say: which participants have no tools, and which reviewers run the work. */
export function ignoredWords(ignored: readonly string[] = []): readonly string[] {
  return [
    ...(ignored.includes('tools') ? ['tools: none'] : []),
    ...(ignored.includes('runs_work') ? ['runs_work: true'] : []),
  ]
}

type NodeWords = Pick<FlowNode, 'description' | 'instructions' | 'criteria' | 'details' | 'ignored'>

export function nodeWords(node: PlanNode, plan: PlanJson): NodeWords {
  const [description, instructions] = [textIn(node, 'description'), textIn(node, 'instructions')]
  const criteria = CRITERIA.flatMap((key) => textsOf(field(node, key)) ?? [])
  const details = Object.fromEntries(
    Object.entries(node).filter(([key, value]) => isDetail(key, value)),
  )
  const parts = [node, plan.plan]
  const isWaived =
    node.node_type === 'ACTION' && parts.some((part) => field(part, 'tools') === 'none')
  const isRun = node.node_type !== 'GOAL' && parts.some((part) => field(part, 'runs_work') === true)
  const ignored = [...(isWaived ? ['tools'] : []), ...(isRun ? ['runs_work'] : [])]
  return {
    ...(description === null ? {} : { description }),
    ...(instructions === null ? {} : { instructions }),
    ...(criteria.length === 0 ? {} : { criteria }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
    ...(ignored.length === 0 ? {} : { ignored }),
  }
}

/** Texts become `criteria` of the node; other values stay details. */
function isDetail(key: string, value: unknown): boolean {
  if (PLACED.has(key) || isEmpty(value)) return false
  return !CRITERIA.includes(key) || textsOf(value) === null
}

export function planWords(plan: PlanJson): Pick<Flow, 'goal' | 'constraints'> {
  const root = plan.nodes.find(({ task_id }) => task_id === plan.plan.root_task_id)
  const [goal] = [plan.plan, root].flatMap((part) =>
    GOALS.flatMap((key) => textIn(part, key) ?? []),
  )
  const { constraints } = plan.plan
  return {
    ...(goal === undefined ? {} : { goal }),
    ...(isEmpty(constraints) ? {} : { constraints: { ...constraints } }),
  }
}

function textIn(part: unknown, key: string): string | null {
  const value = field(part, key)
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** Null if the value is neither a text nor a list of texts. */
function textsOf(value: unknown): readonly string[] | null {
  if (typeof value === 'string' && value.trim() !== '') return [value]
  if (!Array.isArray(value)) return null
  return value.every((item: unknown): item is string => typeof item === 'string') ? value : null
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}
