/**
 * Compiles a flow that its contract accepts. Every expression is checked against what a flow may
 * speak of, and all that are wrong are told. Linear in the size of the flow.
 *
 * Deliberately absent: whether every node can be reached or left; those are checks, not needs.
 */
import { digestDocument } from '../../base/index.ts'
import type { Flow, FlowEdge, FlowNode } from '../../contracts/index.ts'
import { compileExpression, type Environment, type Expression } from '../../expression/index.ts'
import { flowEnvironment, type Policy } from '../../policy/index.ts'
import type {
  Arrival,
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
  const nodeIndex = new Map<string, number>()
  for (const [index, { node_id }] of document.nodes.entries()) nodeIndex.set(node_id, index)
  const phases = spansOf(document.nodes, ({ phase_id }) => phase_id)
  const subphases = spansOf(document.nodes, ({ subphase_id }) => subphase_id ?? null)
  const policies = compilePolicies(document, sources)
  const invariants = compileInvariants(document, sources)
  const edges = compileEdges(document, nodeIndex, sources, policies, invariants)
  if (sources.faults.length > 0) return { ok: false, faults: sources.faults }
  const count = document.nodes.length
  const places = [placesIn(phases, count), placesIn(subphases, count)] as const
  const nodes = compileNodes(document, nodeIndex, edges, places)
  let byId: ReadonlyMap<string, CompiledEdge> | null = null
  return {
    ok: true,
    flow: {
      document,
      digest: digestDocument(document),
      nodes,
      edges,
      nodeIndex,
      // Made when somebody asks: only facts name edges, and walking makes facts.
      get edgeById() {
        byId ??= edgesById(edges)
        return byId
      },
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

function edgesById(edges: readonly CompiledEdge[]): ReadonlyMap<string, CompiledEdge> {
  const byId = new Map<string, CompiledEdge>()
  for (const edge of edges) byId.set(edge.document.edge_id, edge)
  return byId
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
    const written = document.guard_expr
    const guard =
      written === undefined ? null : sources.compile(written, `/edges/${index}/guard_expr`)
    const own = gather(document.policy_refs, policies)
    const audits = gather(document.audit_invariant_refs, byId)
    return {
      index,
      document,
      source,
      target,
      guard,
      isGuardPlain: guard !== null && isPlain(guard),
      policies: own.length === 0 ? everywhere : [...own, ...everywhere],
      invariants: audits.length === 0 ? always : [...audits, ...always],
      isLeaving: nodes[source]?.phase_id !== nodes[target]?.phase_id,
      isReview: nodes[target]?.kind === 'CHECK' && nodes[target]?.target === document.source,
      isForward: FORWARD.has(document.class),
      isBack: document.class === 'Loop' || document.class === 'Rollback',
      arrival: arrivalOf(document),
    }
  })
}

function isPlain({ names, source }: Expression): boolean {
  const isOfState = !names.has('event') && !names.has('node') && !names.has('edge')
  return isOfState && !source.includes('phase_completed')
}

/** One list for all that have none: most nodes and edges of a large flow have few of anything. */
const NONE: readonly never[] = Object.freeze([])

function gather<T>(
  ids: readonly string[] | undefined,
  known: ReadonlyMap<string, T>,
): readonly T[] {
  if (ids === undefined || ids.length === 0) return NONE
  return ids.flatMap((id) => {
    const item = known.get(id)
    return item === undefined ? [] : [item]
  })
}

/** For each node, by index, the place of its span; -1 when it is in none. */
function placesIn(spans: readonly CompiledSpan[], count: number): Int32Array {
  const places = new Int32Array(count).fill(-1)
  for (const { index, nodes } of spans) for (const node of nodes) places[node] = index
  return places
}

/** Lists by node, made when the first item comes. */
class ByNode<T> {
  readonly #lists: (T[] | undefined)[]

  constructor(count: number) {
    this.#lists = new Array(count)
  }

  add(node: number, item: T): void {
    const list = this.#lists[node]
    if (list === undefined) this.#lists[node] = [item]
    else list.push(item)
  }

  of(node: number): readonly T[] {
    return this.#lists[node] ?? NONE
  }
}

function compileNodes(
  { nodes }: Flow,
  nodeIndex: ReadonlyMap<string, number>,
  edges: readonly CompiledEdge[],
  [phases, subphases]: readonly [Int32Array, Int32Array],
): readonly CompiledNode[] {
  const outgoing = new ByNode<CompiledEdge>(nodes.length)
  const incoming = new ByNode<CompiledEdge>(nodes.length)
  const checks = new ByNode<number>(nodes.length)
  for (const edge of edges) {
    outgoing.add(edge.source, edge)
    incoming.add(edge.target, edge)
  }
  const targetOf = (node: FlowNode): number =>
    node.target === undefined ? -1 : (nodeIndex.get(node.target) ?? -1)
  for (const [index, node] of nodes.entries()) {
    const target = targetOf(node)
    if (target >= 0) checks.add(target, index)
  }
  const isLate = (check: number): boolean =>
    incoming.of(check).some((edge) => edge.isForward && !edge.isReview)
  return nodes.map((document, index) => {
    const runner = document.kind === 'CHECK' ? document.reviewer : document.executor
    const { waysWithin, waysOut, hasDecision } = waysOf(outgoing.of(index))
    return {
      index,
      document,
      phase: phases[index] ?? -1,
      subphase: subphases[index] ?? -1,
      outgoing: outgoing.of(index),
      waysWithin,
      waysOut,
      hasDecision,
      incoming: incoming.of(index),
      awaits: awaitedOf(incoming.of(index)),
      checks: checks.of(index),
      target: targetOf(document),
      isJudgedLate: checks.of(index).some(isLate),
      isBare: document.kind === 'GOAL' || (document.kind === 'WORK' && runner === undefined),
      hasChoice: outgoing.of(index).some(isChoice),
      isCandidate: incoming.of(index).some(isChoice),
      readsEvidence: outgoing
        .of(index)
        .some((edge) => edge.document.guard_evidence_source !== undefined),
      participant: runner === undefined ? null : digestDocument(runner),
    }
  })
}

function waysOf(
  outgoing: readonly CompiledEdge[],
): Pick<CompiledNode, 'waysWithin' | 'waysOut' | 'hasDecision'> {
  const ways = outgoing.every(isWay) ? outgoing : outgoing.filter(isWay)
  const hasDecision = ways.some(({ document: { class: sort } }) => sort === 'Decision')
  if (!ways.some(({ isLeaving }) => isLeaving)) {
    return { waysWithin: ways, waysOut: NONE, hasDecision }
  }
  const waysWithin = ways.filter(({ isLeaving }) => !isLeaving)
  return { waysWithin, waysOut: ways.filter(({ isLeaving }) => isLeaving), hasDecision }
}

/** An edge to one of several alternatives. */
export function isChoice({ document }: CompiledEdge): boolean {
  return document.class === 'Decision' && document.group_id !== undefined
}

/** An edge that is tried when its source is done. */
function isWay({ document, isReview }: CompiledEdge): boolean {
  const isApart = document.class === 'Exception' || document.class === 'Meta'
  return (
    !isApart && !isReview && !(document.class === 'Decision' && document.group_id !== undefined)
  )
}

function arrivalOf({ class: sort, join }: FlowEdge): Arrival | null {
  if (sort === 'Sync') return 'sync'
  if (sort === 'Exception') return 'other'
  if (!FORWARD.has(sort)) return null
  return join === 'AND' ? 'join' : 'other'
}

function awaitedOf(incoming: readonly CompiledEdge[]): Awaited {
  let [syncs, joins, others] = [0, 0, 0]
  let isAnySync = false
  for (const { arrival, document } of incoming) {
    if (arrival === 'sync') {
      syncs += 1
      isAnySync ||= document.join === 'OR'
    } else if (arrival === 'join') joins += 1
    else if (arrival === 'other') others += 1
  }
  // Most nodes wait for one edge, or begin.
  if (syncs === 0 && joins === 0 && others <= 1) return others === 0 ? AWAITS_NOTHING : AWAITS_ONE
  return { syncs, isAnySync, joins, others }
}

const AWAITS_NOTHING: Awaited = Object.freeze({ syncs: 0, isAnySync: false, joins: 0, others: 0 })
const AWAITS_ONE: Awaited = Object.freeze({ ...AWAITS_NOTHING, others: 1 })

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
        (edge) => edge.source === index || (!edge.isForward && edge.document.class !== 'Exception'),
      ),
  )
  const hasChoice = nodes.some((node) => node.hasChoice && node.document.kind === 'GOAL')
  if (starts.length === 0 && nodes.length > 0 && !hasChoice) return [0]
  return starts.map(({ index }) => index)
}
