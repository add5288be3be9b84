/**
 * Turns the alternatives of a plan into groups of Decision edges. A group belongs to one GOAL: the
 * source of its edges, or the common parent if the edges lead from one candidate to another.
 *
 * The run enters a candidate when it is chosen, not when its prerequisites are done. So the choice
 * itself waits for the prerequisites. The parent waits for one of the group, even if its join is AND.
 */
import { showName } from '../../base/index.ts'
import { type FlowEdge, type FlowNode, field, type Violation } from '../../contracts/index.ts'
import type { PlanEdge, PlanGraph } from './plan-graph.ts'

interface Alternatives {
  readonly nodes: readonly Pick<FlowNode, 'node_id' | 'kind' | 'title'>[]
  /** With the index of the plan's edge that each comes from. */
  readonly edges: readonly { readonly edge: FlowEdge; readonly origin: number }[]
  /** The edge of the plan at this index is said by these edges. */
  readonly replaces: (index: number) => boolean
}

interface Group {
  readonly name: string
  /** The GOAL that needs one of the candidates. */
  readonly parent: string
  /** By candidate: the index of the first edge of the plan that names it. */
  readonly candidates: Map<string, number>
}

export function alternativesOf(graph: PlanGraph, violations: Violation[]): Alternatives {
  const groups = groupsOf(graph)
  const parts = new Parts(graph, groups)
  for (const group of groups) {
    tellGoals(graph, group, violations)
    parts.add(group)
  }
  return parts
}

function groupsOf(graph: PlanGraph): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const [index, edge] of graph.plan.edges.entries()) {
    if (edge.edge_type !== 'ALTERNATIVE') continue
    const name = String(field(edge.metadata, 'group_id'))
    const { parent, members } = placed(graph, edge)
    const key = JSON.stringify([parent, name])
    const group = groups.get(key) ?? { name, parent, candidates: new Map<string, number>() }
    groups.set(key, group)
    for (const member of members) {
      if (!group.candidates.has(member)) group.candidates.set(member, index)
    }
  }
  return [...groups.values()]
}

/** From a parent to a candidate, or from one candidate to another. */
function placed(
  graph: PlanGraph,
  { from_task_id: from, to_task_id: to }: PlanEdge,
): { readonly parent: string; readonly members: readonly string[] } {
  const shared = graph.sharedParent(from, to)
  const isGoal = graph.nodeById.get(from)?.node_type === 'GOAL'
  if (isGoal && shared === null) return { parent: from, members: [to] }
  const parent = shared ?? graph.parentsOf(from)[0] ?? graph.plan.plan.root_task_id
  return { parent, members: [from, to] }
}

/** Refuses a GOAL as a candidate: its parts start by themselves and cannot wait for the choice. */
function tellGoals(graph: PlanGraph, { name, candidates }: Group, violations: Violation[]): void {
  for (const [candidate, index] of candidates) {
    const node = graph.nodeById.get(candidate)
    if (node?.node_type !== 'GOAL') continue
    const message = `${showName(node.title)} is a GOAL, and the parts of a GOAL cannot wait for the choice in ${showName(name)}`
    const hint = 'let the alternatives be ACTIONs'
    violations.push({ code: 'flow.plan_alternative', path: `/edges/${index}`, message, hint })
  }
}

class Parts implements Alternatives {
  readonly nodes: Pick<FlowNode, 'node_id' | 'kind' | 'title'>[] = []
  readonly edges: { readonly edge: FlowEdge; readonly origin: number }[] = []
  readonly #graph: PlanGraph
  readonly #groupsOfParent = new Map<string, number>()
  readonly #memberOf = new Map<string, Set<string>>()
  readonly #candidates = new Set<string>()
  readonly #others = new Map<string, boolean>()

  constructor(graph: PlanGraph, groups: readonly Group[]) {
    this.#graph = graph
    for (const { parent, candidates } of groups) {
      this.#groupsOfParent.set(parent, (this.#groupsOfParent.get(parent) ?? 0) + 1)
      const members = this.#memberOf.get(parent) ?? new Set()
      this.#memberOf.set(parent, members)
      for (const candidate of candidates.keys()) {
        members.add(candidate)
        this.#candidates.add(candidate)
      }
    }
  }

  readonly replaces = (index: number): boolean => {
    const edge = this.#graph.plan.edges[index]
    if (edge === undefined || edge.edge_type === 'ALTERNATIVE') return true
    const { from_task_id: from, to_task_id: to } = edge
    if (edge.edge_type === 'DECOMPOSE') return this.#memberOf.get(from)?.has(to) === true
    // Prerequisites of a candidate are what the choice waits for.
    return this.#candidates.has(to)
  }

  add(group: Group): void {
    const { parent, candidates } = group
    const goal = this.#goalOf(group)
    const source = this.#sourceOf(group, goal)
    for (const [candidate, origin] of byPriority(this.#graph, candidates)) {
      const [choice, done] = ['choice', 'done'].map((word) => this.#id(origin, candidate, word))
      this.#push(origin, {
        edge_id: choice ?? '',
        source,
        target: candidate,
        class: 'Decision',
        group_id: group.name,
      })
      this.#push(origin, {
        edge_id: done ?? '',
        source: candidate,
        target: goal,
        class: 'Sync',
        join: 'OR',
      })
    }
    if (goal === parent) return
    const [origin] = candidates.values()
    this.#push(origin ?? 0, {
      edge_id: this.#graph.freshId(`${goal}:done`),
      source: goal,
      target: parent,
      class: 'Sync',
      join: this.#graph.joinOf(parent),
    })
  }

  /** The parent itself, when it waits for nothing else; else a GOAL of the group's own. */
  #goalOf({ name, parent }: Group): string {
    const others = this.#hasOthers(parent)
    const isGoal = this.#graph.nodeById.get(parent)?.node_type === 'GOAL'
    if (isGoal && !others && this.#groupsOfParent.get(parent) === 1) return parent
    const node_id = this.#graph.freshId(`${parent}:${name}`)
    this.nodes.push({ node_id, kind: 'GOAL', title: `One of ${name}` })
    return node_id
  }

  /** The parent has parts that are no candidates. */
  #hasOthers(parent: string): boolean {
    const members = this.#memberOf.get(parent)
    const known = this.#others.get(parent)
    if (known !== undefined) return known
    const found = this.#graph.childrenOf(parent).some((child) => !members?.has(child))
    this.#others.set(parent, found)
    return found
  }

  /** The GOAL, or a node before the choice that waits for what the candidates need. */
  #sourceOf({ name, parent, candidates }: Group, goal: string): string {
    const needs = new Map<string, number>()
    for (const [candidate, origin] of candidates) {
      for (const need of this.#graph.needsOf(candidate)) {
        if (!candidates.has(need) && !needs.has(need)) needs.set(need, origin)
      }
    }
    if (needs.size === 0) return goal
    const node_id = this.#graph.freshId(`${parent}:${name}:choice`)
    this.nodes.push({ node_id, kind: 'WORK', title: `Choose ${name}` })
    for (const [need, origin] of needs) {
      const edge_id = this.#graph.freshId(`${node_id}:${need}`)
      this.#push(origin, { edge_id, source: need, target: node_id, class: 'Progress', join: 'AND' })
    }
    return node_id
  }

  #id(origin: number, candidate: string, word: string): string {
    const edge = this.#graph.plan.edges[origin]
    return this.#graph.freshId(`${edge?.edge_id ?? candidate}:${candidate}:${word}`)
  }

  #push(origin: number, edge: FlowEdge): void {
    this.edges.push({ edge, origin })
  }
}

/** The order of the flow is the order of trying: the highest priority first. */
function byPriority(
  { nodeById }: PlanGraph,
  candidates: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  const rank = (id: string): number => nodeById.get(id)?.priority ?? 0
  return [...candidates].toSorted(([one], [other]) => rank(other) - rank(one))
}
