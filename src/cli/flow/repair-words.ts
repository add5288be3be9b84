/** Repairs of a plan as sentences: one for each kind of repair, with the number of places, the rule after. */
import { showName } from '../../base/index.ts'
import type { Repair } from '../../contracts/index.ts'
import type { FlowProblem } from '../../flow/index.ts'

type Words = (repair: Repair, field: string) => string

const renamed: Words = ({ from, to }) => `${shown(from)} is read as ${shown(to)}`
const word: Words = ({ from, to }, field) =>
  isMissing(from)
    ? `${showName(field)} is missing, so it is ${shown(to)}`
    : `${showName(field)} ${shown(from)} is read as ${shown(to)}`

/** By the rule that asked for the repair. */
const WORDS: Readonly<Record<string, Words>> = {
  'plan.and_or': () => 'a DECOMPOSE edge says neither AND nor OR, so all parts are needed (AND)',
  'plan.chain_edge': () => 'an edge from START, or to END, is left out',
  'plan.chain_entry': () => 'what START leads to becomes a part of the goal',
  'plan.chain_node': () => 'START and END are no tasks and are left out',
  'plan.chain_requirement': () => 'what START or END requires, the goal requires',
  'plan.child_of': () => 'a CHILD_OF edge is turned round: the parent leads to the child',
  'plan.constraints': () => 'the plan names no `constraints`, so the usual ones are set',
  'plan.container': ({ from, to }, field) =>
    typeof from === 'string' && typeof to === 'string'
      ? `the list ${showName(from)} is read as ${showName(to)}`
      : `the list ${showName(field)} is missing, so it is empty`,
  'plan.container_dropped': (_, field) =>
    `${showName(field)} is no list and is left out; the list with another name is read`,
  'plan.created_at': () => 'the plan has no time of creation that can be read, so it is now',
  'plan.edge_alias': renamed,
  'plan.edge_type': word,
  'plan.goal_statement': () => 'the goal has no `goal_statement`, so it gets the task',
  'plan.group_id': () => 'an ALTERNATIVE edge names no group, so all of these are one group',
  'plan.head': () => 'there is no object `plan`, so an empty one is made',
  'plan.id': ({ from }) =>
    isMissing(from)
      ? 'an id is missing, so one is made, the same at each load'
      : 'an id that is no UUID becomes one, the same at each load',
  'plan.item_dropped': () => 'an entry of a list is no object and is left out',
  'plan.metadata': () => 'an edge has no `metadata`, so it is empty',
  'plan.node_alias': renamed,
  'plan.node_title': () => 'a task has no title, so it gets its number',
  'plan.node_type': word,
  'plan.owner_agent_id': word,
  'plan.placeholder': () => 'a task that is named and is not in the plan is added, without content',
  'plan.plan_id': () => '`plan_id` is set to the id of the plan',
  'plan.priority': word,
  'plan.requirement_allowed_types': () => 'a requirement names no types, so any type will do',
  'plan.requirement_kind': word,
  'plan.requirement_min_count': () => 'a requirement says no count, so one is enough',
  'plan.requirement_name': () => 'a requirement has no name, so it gets its number',
  'plan.requirement_required': () => 'a requirement does not say whether it is optional: required',
  'plan.requirement_source': word,
  'plan.root_added': () => 'no task is the goal of the plan, so a goal is added',
  'plan.root_child': () => 'a task that is a part of nothing becomes a part of the goal',
  'plan.root_dependency': () => 'what the goal depends on becomes a part of the goal',
  'plan.tags': () => 'a task has no list of `tags`, so it is empty',
  'plan.title': () => 'the plan has no title and gets one',
}

const KINDS_TOLD = 20
const VALUE_WIDTH = 60

/** Returns a sentence for each kind of repair, at the first place of it. */
export function repairProblems(repairs: readonly Repair[]): readonly FlowProblem[] {
  const places = new Map<string, { readonly repair: Repair; count: number }>()
  for (const repair of repairs) {
    const sentence = repairSentence(repair)
    const known = places.get(sentence)
    if (known === undefined) places.set(sentence, { repair, count: 1 })
    else known.count += 1
  }
  const told = [...places].slice(0, KINDS_TOLD).map(([sentence, { repair, count }]) => {
    const where = count === 1 ? '' : `, here and in ${count - 1} more place${count > 2 ? 's' : ''}`
    return repairOf(repair.path, `${sentence}${where} (${repair.rule})`)
  })
  const more = places.size - KINDS_TOLD
  if (more <= 0) return told
  return [...told, repairOf('', `and ${more} more kinds of repairs: writ normalize --as PLAN_GEN`)]
}

function repairSentence(repair: Repair): string {
  const { rule, path, from, to } = repair
  const words = WORDS[rule]
  if (words === undefined) return `the plan was repaired: ${shown(from)} → ${shown(to)}`
  return words(repair, path.split('/').at(-1) ?? '')
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null
}

function shown(value: unknown): string {
  if (typeof value === 'string' && value.length <= VALUE_WIDTH) return showName(value)
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > VALUE_WIDTH ? `${text.slice(0, VALUE_WIDTH)}…` : text
}

function repairOf(path: string, message: string): FlowProblem {
  return { code: 'flow.plan_repaired', path, message }
}
