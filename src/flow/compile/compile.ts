/**
 * Compiles a flow that its contract accepts. Every expression is checked against what a flow may
 * speak of, and all that are wrong are told. Linear in the size of the flow.
 *
 * Deliberately absent: whether every node can be reached or left; those are checks, not needs.
 */
import { digestDocument } from '../../base/index.ts'
import type { Flow, FlowNode } from '../../contracts/index.ts'
import { compileExpression, type Environment, type Expression } from '../../expression/index.ts'
import { flowEnvironment, type Policy } from '../../policy/index.ts'
import type {
  Awaited,
  CompiledEdge,
  CompiledInvariant,
  CompiledNode,
  CompiledSpan,
  CompileFault,
  FlowCompilation,
} from './compiled-flow.ts'

export function compileFlow(document: Flow): FlowCompilation {
  const sources = new Sources(flowEnvironment(document))
  const nodeIndex = new Map(document.nodes.map(({ node_id }, index) => [node_id, index]))
  const phases = spansOf(document.nodes, ({ phase_id }) => phase_id)
  const subphases = spansOf(document.nodes, ({ subphase_id }) => subphase_id ?? null)
  const policies = compilePolicies(document, sources)
  const invariants = compileInvariants(document, sources)
  const edges = compileEdges(document, nodeIndex, sources, policies, invariants)
  if (sources.faults.length > 0) return { ok: false, faults: sources.faults }
  const nodes = compileNodes(document, nodeIndex, edges, [placesIn(phases), placesIn(subphases)])
  return {
    ok: true,
    flow: {
      document,
      digest: digestDocument(document),
      nodes,
      edges,
      nodeIndex,
      edgeById: new Map(edges.map((edge) => [edge.document.edge_id, edge])),
      phaseIndex: new Map(phases.map(({ name, index }) => [name, index])),
      subphaseIndex: new Map(subphases.map(({ name, index }) => [name, index])),
      phases,
      subphases,
      minimumDuration: phases.reduce((sum, { minimumDuration }) => sum + minimumDuration, 0),
      invariants,
      periodic: invariants.filter(
        ({ isNamed, document: { check_timing } }) => !isNamed && check_timing === 'periodic',
      ),
      starts: startsOf(nodes),
    },
  }
}

/** Compiles expressions and keeps what is wrong with them. */
class Sources {
  readonly faults: CompileFault[] = []
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Null when the source is wrong, which is then among the faults. */
  compile(source: string, path: string): Expression | null {
    const compilation = compileExpression(source, this.#environment)
    if (compilation.ok) return compilation.expression
    for (const fault of compilation.faults) this.faults.push({ ...fault, path })
    return null
  }
}

function compilePolicies(document: Flow, sources: Sources): ReadonlyMap<string, Policy> {
  const policies = new Map<string, Policy>()
  for (const [index, policy] of (document.policies ?? []).entries()) {
    const expression = sources.compile(policy.policy_expr, `/policies/${index}/policy_expr`)
    if (expression === null) continue
    policies.set(policy.policy_id, {
      policyId: policy.policy_id,
      priority: policy.priority,
      conflictsWith: policy.conflicts_with ?? [],
      overrideMode: policy.override_mode,
      expression,
      action: policy.violation_action,
    })
  }
  return policies
}

function compileInvariants(document: Flow, sources: Sources): readonly CompiledInvariant[] {
  const named = new Set(document.edges.flatMap((edge) => edge.audit_invariant_refs ?? []))
  return (document.invariants ?? []).flatMap((invariant, index) => {
    const path = `/invariants/${index}/invariant_expr`
    const expression = sources.compile(invariant.invariant_expr, path)
    const isNamed = named.has(invariant.invariant_id)
    return expression === null ? [] : [{ document: invariant, expression, isNamed }]
  })
}

function compileEdges(
  { nodes, edges }: Flow,
  nodeIndex: ReadonlyMap<string, number>,
  sources: Sources,
  policies: ReadonlyMap<string, Policy>,
  invariants: readonly CompiledInvariant[],
): readonly CompiledEdge[] {
  const named = new Set(edges.flatMap((edge) => edge.policy_refs ?? []))
  const everywhere = [...policies.values()].filter(({ policyId }) => !named.has(policyId))
  const byId = new Map(invariants.map((invariant) => [invariant.document.invariant_id, invariant]))
  const always = invariants.filter(
    ({ isNamed, document }) => !isNamed && document.check_timing === 'on_transition',
  )
  return edges.map((document, index) => {
    const source = nodeIndex.get(document.source) ?? 0
    const target = nodeIndex.get(document.target) ?? 0
    const guard = document.guard_expr
    const own = gather(document.policy_refs, policies)
    const audits = gather(document.audit_invariant_refs, byId)
    return {
      index,
      document,
      source,
      target,
      guard: guard === undefined ? null : sources.compile(guard, `/edges/${index}/guard_expr`),
      policies: own.length === 0 ? everywhere : [...own, ...everywhere],
      invariants: audits.length === 0 ? always : [...audits, ...always],
      isLeaving: nodes[source]?.phase_id !== nodes[target]?.phase_id,
      isReview: nodes[target]?.kind === 'CHECK' && nodes[target]?.target === document.source,
    }
  })
}

function gather<T>(ids: readonly string[] | undefined, known: ReadonlyMap<string, T>): T[] {
  return (ids ?? []).flatMap((id) => {
    const item = known.get(id)
    return item === undefined ? [] : [item]
  })
}

/** For each node, by index, the place of its span; -1 when it is in none. */
type Places = (node: number) => number

function placesIn(spans: readonly CompiledSpan[]): Places {
  const places = new Map(spans.flatMap(({ index, nodes }) => nodes.map((node) => [node, index])))
  return (node) => places.get(node) ?? -1
}

function compileNodes(
  { nodes }: Flow,
  nodeIndex: ReadonlyMap<string, number>,
  edges: readonly CompiledEdge[],
  [phaseOf, subphaseOf]: readonly [Places, Places],
): readonly CompiledNode[] {
  const lists = () => nodes.map((): CompiledEdge[] => [])
  const [outgoing, incoming] = [lists(), lists()]
  const checks = nodes.map((): number[] => [])
  for (const edge of edges) {
    outgoing[edge.source]?.push(edge)
    incoming[edge.target]?.push(edge)
  }
  const targetOf = (node: FlowNode): number =>
    node.target === undefined ? -1 : (nodeIndex.get(node.target) ?? -1)
  for (const [index, node] of nodes.entries()) checks[targetOf(node)]?.push(index)
  const isLate = (check: number): boolean =>
    (incoming[check] ?? []).some((edge) => isForward(edge) && !edge.isReview)
  return nodes.map((document, index) => {
    const runner = document.kind === 'CHECK' ? document.reviewer : document.executor
    return {
      index,
      document,
      phase: phaseOf(index),
      subphase: subphaseOf(index),
      outgoing: outgoing[index] ?? [],
      incoming: incoming[index] ?? [],
      awaits: awaitedOf(incoming[index] ?? []),
      checks: checks[index] ?? [],
      target: targetOf(document),
      isJudgedLate: (checks[index] ?? []).some(isLate),
      isBare: document.kind === 'GOAL' || (document.kind === 'WORK' && runner === undefined),
      hasChoice: (outgoing[index] ?? []).some(isChoice),
      isCandidate: (incoming[index] ?? []).some(isChoice),
      readsEvidence: (outgoing[index] ?? []).some(
        (edge) => edge.document.guard_evidence_source !== undefined,
      ),
      participant: runner === undefined ? null : digestDocument(runner),
    }
  })
}

/** An edge that leads on: not back, not out of a failure, not a remark. */
export function isForward({ document }: CompiledEdge): boolean {
  return FORWARD.has(document.class)
}

/** An edge to one of several alternatives. */
export function isChoice({ document }: CompiledEdge): boolean {
  return document.class === 'Decision' && document.group_id !== undefined
}

/** How an edge counts among those that its target waits for. */
export function arrivalOf(edge: CompiledEdge): 'sync' | 'join' | 'other' | null {
  if (edge.document.class === 'Sync') return 'sync'
  if (edge.document.class === 'Exception') return 'other'
  if (!isForward(edge)) return null
  return edge.document.join === 'AND' ? 'join' : 'other'
}

function awaitedOf(incoming: readonly CompiledEdge[]): Awaited {
  const sorts = incoming.map(arrivalOf)
  const count = (sort: string): number => sorts.filter((one) => one === sort).length
  return {
    syncs: count('sync'),
    isAnySync: incoming.some(({ document }) => document.class === 'Sync' && document.join === 'OR'),
    joins: count('join'),
    others: count('other'),
  }
}

const FORWARD: ReadonlySet<string> = new Set(['Progress', 'Gate', 'Decision', 'Sync'])

function spansOf(
  nodes: readonly FlowNode[],
  nameOf: (node: FlowNode) => string | null,
): readonly CompiledSpan[] {
  const members = new Map<string, number[]>()
  for (const [index, node] of nodes.entries()) {
    const name = nameOf(node)
    if (name === null) continue
    const list = members.get(name)
    if (list === undefined) members.set(name, [index])
    else list.push(index)
  }
  return [...members].map(([name, list], index) => ({
    index,
    name,
    nodes: list,
    minimumDuration: list.reduce((sum, node) => sum + (nodes[node]?.minimum_duration ?? 0), 0),
  }))
}

/**
 * Nodes that nothing leads to but ways back. When there are none the first one, unless a goal begins
 * with its alternatives.
 */
function startsOf(nodes: readonly CompiledNode[]): readonly number[] {
  const starts = nodes.filter(
    ({ index, incoming, target }) =>
      target === -1 &&
      incoming.every(
        (edge) =>
          edge.source === index || (!isForward(edge) && edge.document.class !== 'Exception'),
      ),
  )
  const hasChoice = nodes.some((node) => node.hasChoice && node.document.kind === 'GOAL')
  if (starts.length === 0 && nodes.length > 0 && !hasChoice) return [0]
  return starts.map(({ index }) => index)
}
