/**
 * What a plan says has to be there before a node runs (`requirements`): files of the user below
 * `inputs/`, or a human's word. The host asks for what is missing as if the participant had asked for it,
 * so that no participant runs in vain.
 */
import { readdirSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FlowNode, FlowRequirement, XiaoboAction } from '../contracts/index.ts'
import type { FlowFact } from '../flow/index.ts'
import { plainName } from './run-files.ts'

/** Who says it, in the place of what a participant said. */
export const SAID_BY_HOST = '(the host: what the plan requires is not there)'

/** The answer that asks for what is missing; null when nothing is. */
export function missingInput(
  { node_id, requirements = [] }: FlowNode,
  workspace: string,
  facts: readonly FlowFact[],
): XiaoboAction | null {
  const missing = requirements.filter(
    (requirement) => requirement.required && !isMet(requirement, node_id, workspace, facts),
  )
  if (missing.length === 0) return null
  return {
    schema_version: 'xiaobo_action_v1',
    task_id: node_id,
    result_type: 'NEEDS_INPUT',
    needs_input: { required_docs: missing.map(neededOf) },
  }
}

function neededOf(requirement: FlowRequirement) {
  const { name, description, allowed_types: types, min_count: count, kind } = requirement
  const words = description ?? name
  if (kind === 'CONFIRMATION') return { name, description: words, accepted_types: [] }
  const amount = count > 1 ? ` (at least ${count} files)` : ''
  const suggested_path = placesOf(requirement)[0] ?? ''
  return { name, description: `${words}${amount}`, accepted_types: types, suggested_path }
}

/** One file of a known type has a name of its own; everything else goes into a folder. */
function placesOf({ name, allowed_types: types, min_count }: FlowRequirement): readonly string[] {
  const place = `inputs/${plainName(name)}`
  const files = types.map((type) => `${place}.${type.replace(/^\./, '')}`)
  return min_count === 1 && files.length === 1 ? [...files, place] : [place, ...files]
}

function isMet(
  requirement: FlowRequirement,
  nodeId: string,
  workspace: string,
  facts: readonly FlowFact[],
): boolean {
  const { kind, source } = requirement
  if (kind === 'CONFIRMATION') return facts.some((fact) => isGiven(fact, nodeId))
  // What agents hand to one another is judged where it is made.
  if (kind === 'SKILL_OUTPUT' || source === 'AGENT') return true
  const found = placesOf(requirement).flatMap((place) => filesAt(join(workspace, place)))
  const types = requirement.allowed_types.map((type) => `.${type.replace(/^\./, '').toLowerCase()}`)
  const fitting = found.filter(
    (file) => types.length === 0 || types.includes(extname(file).toLowerCase()),
  )
  return new Set(fitting).size >= requirement.min_count
}

function isGiven({ type, payload }: FlowFact, nodeId: string): boolean {
  if (type !== 'flow_event_v1' || payload.kind !== 'event') return false
  const { event } = payload
  return event.type === 'human_answer' && event.node_id === nodeId && event.answer === 'provided'
}

/** The file itself, or those in the folder; none when there is nothing. */
function filesAt(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return []
  if (found.isFile()) return [path]
  if (!found.isDirectory()) return []
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(path, entry.name))
}
