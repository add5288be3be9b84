/**
 * The `plan` object of a plan under repair (seed 001 §3): title, ids, time, owner, constraints. What
 * the rest of the repair needs to know about the plan comes out as `PlanTop`.
 */
import { isUuid } from '../../base/index.ts'
import { type Context, field, isObject, type Sources } from '../kernel/contract.ts'
import { ObjectDraft } from './draft.ts'
import { cutText, firstFilled, firstLine, isIsoTime, isStringList } from './loose-values.ts'

export interface PlanTop {
  readonly planId: string
  readonly rootId: string
  /** The first line of the top task, null when the context has none. */
  readonly topLine: string | null
  readonly owners: Owners
}

const TITLE_LENGTH_MAX = 120
const UNTITLED = 'Untitled Task'

export function readHead(
  document: ObjectDraft,
  context: Context,
  sources: Sources,
  ids: Ids,
): PlanTop {
  const given = document.get('plan')
  if (!isObject(given)) document.set('plan', {}, 'plan.head')
  const head = new ObjectDraft(isObject(given) ? given : {}, '/plan', document.repairs)
  const topLine = firstLine(field(context, 'top_task'))
  const owners = ownersOf(context)
  head.set('title', titleOf(head, topLine), 'plan.title')
  const planId = planIdOf(head, context) ?? ids.fresh()
  head.set('plan_id', planId, 'plan.id')
  const rootId = ids.require(head.get('root_task_id'))
  head.set('root_task_id', rootId, 'plan.id')
  const created = head.get('created_at')
  if (typeof created !== 'string' || !isIsoTime(created)) {
    head.set('created_at', new Date(sources.nowMs).toISOString(), 'plan.created_at')
  }
  repairOwner(head, owners)
  if (!isObject(head.get('constraints'))) {
    head.set('constraints', { deadline: null, priority: 'HIGH' }, 'plan.constraints')
  }
  document.replace('plan', head.object)
  return { planId, rootId, topLine, owners }
}

function titleOf(head: ObjectDraft, topLine: string | null): string {
  const title = firstFilled(head.get('title'))?.trim()
  // Trimmed again: the cut may fall behind a space.
  return title ?? (topLine === null ? UNTITLED : cutText(topLine, TITLE_LENGTH_MAX).trim())
}

/** The plan's own UUID, else the one under which the caller knows the plan. */
function planIdOf(head: ObjectDraft, context: Context): string | null {
  for (const value of [head.get('plan_id'), field(context, 'plan_id')]) {
    const text = idText(value)
    if (text !== null && isUuid(text)) return text
  }
  return null
}

/** Replaces an unknown owner with the fallback owner. */
export function repairOwner(draft: ObjectDraft, owners: Owners): void {
  const owner = draft.get('owner_agent_id')
  const name = typeof owner === 'string' ? owner.trim() : ''
  const legal = owners.names.has(name) ? name : owners.fallback
  draft.set('owner_agent_id', legal, 'plan.owner_agent_id')
}

/**
 * Ids of a plan. Planners name tasks as they like; the plan wants UUIDs. Each distinct foreign id
 * gets one fresh UUID, the same wherever it is used. START and END are no tasks: see
 * `plan-edges.ts`. An id as text: a string that is not blank, or a number; null for what names
 * nothing.
 */
export function idText(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return null
  const text = value.trim()
  return text === '' ? null : text
}

export class Ids {
  readonly #newId: () => string
  readonly #idOf: (name: string) => string
  readonly #byText = new Map<string, string>()

  /** `kind` keeps names of tasks and of edges apart. */
  constructor({ newId, idOf }: Sources, kind: 'task' | 'edge') {
    this.#newId = newId
    this.#idOf = (name) => idOf?.(`${kind} ${name}`) ?? newId()
  }

  fresh(): string {
    return this.#newId()
  }

  /** Returns the UUID of an id; null when the value is no id. */
  resolve(value: unknown): string | null {
    const text = idText(value)
    if (text === null || isUuid(text)) return text
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    const id = this.#idOf(text)
    this.#byText.set(text, id)
    return id
  }

  /** As `resolve`, but returns a fresh UUID where the value is no id. */
  require(value: unknown): string {
    return this.resolve(value) ?? this.#newId()
  }
}

const DEFAULT_OWNERS = ['xiaobo', 'xiaojing', 'xiaoxie'] as const

interface Owners {
  readonly names: ReadonlySet<string>
  /** The owner of a task whose own owner is unknown. */
  readonly fallback: string
}

/** Who may own a task: three agents by default, or those that `context.owners` lists. */
export function ownersOf(context: Context): Owners {
  const given = field(context, 'owners')
  const names = new Set<string>(isStringList(given) ? given : [])
  const [first] = names
  if (first === undefined) return DEFAULTS
  return { names, fallback: names.has(DEFAULTS.fallback) ? DEFAULTS.fallback : first }
}

const DEFAULTS: Owners = { names: new Set(DEFAULT_OWNERS), fallback: DEFAULT_OWNERS[0] }
