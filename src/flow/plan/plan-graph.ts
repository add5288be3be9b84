/** What the edges of a plan say about each task: what it needs, whose part it is, what it judges. */
import { field, type PlanJson } from '../../contracts/index.ts'

export type PlanNode = PlanJson['nodes'][number]
export type PlanEdge = PlanJson['edges'][number]

export class PlanGraph {
  readonly plan: PlanJson
  readonly nodeById: ReadonlyMap<string, PlanNode>
  /** By dependent: its prerequisites. */
  readonly #needs = new Map<string, string[]>()
  /** By child: its parents, and by parent: its children, by DECOMPOSE. */
  readonly #parents = new Map<string, string[]>()
  readonly #children = new Map<string, string[]>()
  /** By parent: whether it needs all of its children or one. */
  readonly #joins = new Map<string, 'AND' | 'OR'>()
  readonly #parentSets = new Map<string, ReadonlySet<string>>()
  readonly #ids: Set<string>

  constructor(plan: PlanJson) {
    this.plan = plan
    this.nodeById = new Map(plan.nodes.map((node) => [node.task_id, node]))
    this.#ids = new Set([...this.nodeById.keys(), ...plan.edges.map(({ edge_id }) => edge_id)])
    for (const { edge_type, from_task_id: from, to_task_id: to, metadata } of plan.edges) {
      if (edge_type === 'DEPENDS_ON') push(this.#needs, to, from)
      if (edge_type !== 'DECOMPOSE') continue
      push(this.#parents, to, from)
      push(this.#children, from, to)
      this.#joins.set(from, field(metadata, 'and_or') === 'OR' ? 'OR' : 'AND')
    }
  }

  needsOf(task: string): readonly string[] {
    return this.#needs.get(task) ?? []
  }

  parentsOf(task: string): readonly string[] {
    return this.#parents.get(task) ?? []
  }

  /** A parent that both have; the shorter list is walked, so that many edges stay cheap. */
  sharedParent(one: string, other: string): string | null {
    const [left, right] = [this.parentsOf(one), this.parentsOf(other)]
    const isFirst = left.length <= right.length
    const known = this.#parentSet(isFirst ? other : one)
    return (isFirst ? left : right).find((parent) => known.has(parent)) ?? null
  }

  #parentSet(task: string): ReadonlySet<string> {
    const known = this.#parentSets.get(task) ?? new Set(this.parentsOf(task))
    this.#parentSets.set(task, known)
    return known
  }

  childrenOf(task: string): readonly string[] {
    return this.#children.get(task) ?? []
  }

  joinOf(parent: string): 'AND' | 'OR' {
    return this.#joins.get(parent) ?? 'AND'
  }

  /** What a CHECK judges: as it says, else the one ACTION it depends on. */
  targetOf(check: PlanNode): string | null {
    const said = field(check, 'review_target_task_id')
    if (typeof said === 'string' && said.trim() !== '') return said
    const actions = new Set(
      this.needsOf(check.task_id).filter((id) => this.nodeById.get(id)?.node_type === 'ACTION'),
    )
    const [only] = actions
    return actions.size === 1 && only !== undefined ? only : null
  }

  /** An id that nothing else has. */
  freshId(wanted: string): string {
    let id = wanted
    for (let number = 2; this.#ids.has(id); number++) id = `${wanted}:${number}`
    this.#ids.add(id)
    return id
  }
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
