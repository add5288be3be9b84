/**
 * What a plan says has to be there before a node runs (`requirements`): files of the user below
 * `inputs/`, or a human's word. The host asks for what is missing as if the participant had asked for it,
 * so that no participant runs in vain.
 */
import type { FlowNode, FlowRequirement, XiaoboAction } from '../../contracts/index.ts'
import type { FlowFact } from '../state/fact.ts'

/** Returns the file at a path below the workspace, or those in the folder there; none without either. */
type FilesAt = (place: string) => readonly string[]

/** Who says it, in the place of what a participant said. */
export const SAID_BY_HOST = '(the host: what the plan requires is not there)'

/** The answer that asks for what is missing; null when nothing is. */
export function missingInput(
  { node_id, requirements = [] }: FlowNode,
  filesAt: FilesAt,
  facts: readonly FlowFact[],
): XiaoboAction | null {
  const missing = requirements.filter(
    (requirement) => requirement.required && !isMet(requirement, node_id, filesAt, facts),
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
  filesAt: FilesAt,
  facts: readonly FlowFact[],
): boolean {
  const { kind, source } = requirement
  if (kind === 'CONFIRMATION') return facts.some((fact) => isGiven(fact, nodeId))
  // What agents hand to one another is judged where it is made.
  if (kind === 'SKILL_OUTPUT' || source === 'AGENT') return true
  const found = placesOf(requirement).flatMap(filesAt)
  const types = requirement.allowed_types.map((type) => `.${type.replace(/^\./, '').toLowerCase()}`)
  const fitting = found.filter(
    (file) => types.length === 0 || types.includes(extensionOf(file).toLowerCase()),
  )
  return new Set(fitting).size >= requirement.min_count
}

function isGiven({ type, payload }: FlowFact, nodeId: string): boolean {
  if (type !== 'flow_event_v1' || payload.kind !== 'event') return false
  const { event } = payload
  return event.type === 'human_answer' && event.node_id === nodeId && event.answer === 'provided'
}

/** As `extname` of Node: from the last point of the file's name, unless the name begins with it. */
function extensionOf(path: string): string {
  return /[^/](\.[^./]*)$/.exec(path)?.[1] ?? ''
}

/** Returns a name as one file name: encodes every character that is not plain, and cuts it. */
export function plainName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_.-]/g, (mark) => encodeURIComponent(mark))
  return plain.startsWith('.') ? `_${plain}`.slice(0, NAME_MAX) : plain.slice(0, NAME_MAX)
}

const NAME_MAX = 120
