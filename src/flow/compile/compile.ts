/**
 * Compiles a flow that its contract accepts. Checks every expression against the names that a flow
 * may use, and returns all faults at once. Linear in the size of the flow.
 *
 * Deliberately absent: whether every node can be reached or left. `check/` does that; a run does not
 * need it.
 */
import { digestDocument } from '../../base/index.ts'
import type { Flow, FlowEdge, FlowNode } from '../../contracts/index.ts'
import { compileExpression, type Environment, type Expression } from '../../expression/index.ts'
import { flowEnvironment, type Policy } from '../../policy/index.ts'
import { type KnownLists, layOut, NO_LISTS } from '../map/lay-out.ts'
import { callNodesOf, isCallFirst } from './calls.ts'
import { CheckOrder } from './check-order.ts'
import type {
  Arrival,
  Awaited,
  CalledNode,
  CompiledEdge,
  CompiledInvariant,
  CompiledNode,
  CompileFault,
  FlowCompilation,
} from './compiled-flow.ts'
import { EdgeEnds, EdgesByNode, isTried, MARK } from './edge-ends.ts'
import { type NodeNames, type NodePlaces, readNodes } from './node-places.ts'
import {
  areEdgesAlike,
  areNodesAlike,
  EdgePart,
  type EdgeRules,
  NONE,
  NodePart,
  type NodeSort,
  Sorts,
} from './parts.ts'
import { RULES_NOW } from './rules.ts'
import { WholeFlow } from './whole-flow.ts'

/** `lists` are those that a run has read for its maps. */
export function compileFlow(
  base: Flow,
  rules = RULES_NOW,
  lists: KnownLists = NO_LISTS,
): FlowCompilation {
  // Runs first: its short-lived objects would make the garbage collector move the compiled parts.
  const digest = digestDocument(base)
  const hasMaps = rules >= 3 && base.nodes.some(({ map }) => map !== undefined)
  const laid = hasMaps ? layOut(base, lists, rules) : { ...NOT_MAPPED, document: base }
  const { document } = laid
  const sources = new Sources(flowEnvironment(document))
  const read = readNodes(document.nodes)
  const { names, places } = read
  const named = readNames(document.edges)
  const policies = compilePolicies(document, sources)
  const invariants = compileInvariants(document, named, sources)
  const rulesOf = rulesByEdge(named, policies, invariants)
  const ends = new EdgeEnds(document.nodes.length, document.edges.length)
  // Looks names up in the index only if some node is called.
  const isCalled = document.nodes.some(({ call }) => call === true)
  const callNodes = isCalled ? callNodesOf(document, names.index) : NONE
  const edges = compileEdges(document, rules, names, places, sources, rulesOf, ends, callNodes)
  if (sources.faults.length > 0) return { ok: false, faults: sources.faults }
  const nodes = compileNodes(document, rules, edges, ends, places)
  const starts = startsOf(document.nodes, ends, places)
  return {
    ok: true,
    flow: new WholeFlow(
      { base, digest, lists, laid },
      read,
      nodes,
      edges,
      invariants,
      starts,
      callNodes,
    ),
  }
}

const NOT_MAPPED = { maps: [], items: new Map<string, never>(), fault: null, collision: null }

/** Compiles expressions and keeps what is wrong with them. */
class Sources {
  readonly faults: CompileFault[] = []
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Returns null and adds the faults if the source does not compile. */
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

function compileInvariants(
  document: Flow,
  named: Names,
  sources: Sources,
): readonly CompiledInvariant[] {
  return (document.invariants ?? []).flatMap((invariant, index) => {
    const path = `/invariants/${index}/invariant_expr`
    const expression = sources.compile(invariant.invariant_expr, path)
    const isNamed = named.invariants.has(invariant.invariant_id)
    return expression === null ? [] : [{ document: invariant, expression, isNamed }]
  })
}

function compileEdges(
  document: Flow,
  rules: number,
  names: NodeNames,
  { phases, judged }: NodePlaces,
  sources: Sources,
  rulesOf: (edge: FlowEdge) => EdgeRules,
  ends: EdgeEnds,
  callNodes: readonly CalledNode[],
): readonly CompiledEdge[] {
  const called = new Map(callNodes.map(({ node, region }) => [node, region]))
  const sorts = new Sorts(areEdgesAlike)
  let [source, target] = [0, 0]
  return document.edges.map((edge, index) => {
    source = names.near(edge.source, source)
    target = names.near(edge.target, target)
    const written = edge.guard_expr
    const guard =
      written === undefined ? null : sources.compile(written, `/edges/${index}/guard_expr`)
    const judging = rulesOf(edge)
    const sort = sorts.of({
      guard,
      policies: judging.policies,
      invariants: judging.invariants,
      isFree: guard === null && isFree(edge, judging),
      isGuardPlain: guard !== null && isPlain(guard),
      isLeaving: phases[source] !== phases[target],
      isReview:
        judged[target] === source ||
        (rules > 1 && FORWARD.has(edge.class) && isFollowing(judged, source, target)),
      isForward: FORWARD.has(edge.class),
      isBack: edge.class === 'Loop' || edge.class === 'Rollback',
      isCall: isCall(edge, source, called.get(target)),
      arrival: arrivalOf(edge),
    })
    const part = new EdgePart(index, edge, source, target, sort)
    ends.add(part)
    return part
  })
}

/** An edge from inside the region of a call is no further call. */
function isCall(edge: FlowEdge, source: number, region: readonly number[] | undefined): boolean {
  const leadsOn = FORWARD.has(edge.class) || edge.class === 'Exception'
  return region !== undefined && leadsOn && !region.includes(source)
}

/** Returns whether two CHECK nodes judge the same node. */
function isFollowing(judged: Int32Array, source: number, target: number): boolean {
  const subject = judged[target] ?? -1
  return subject !== -1 && subject === judged[source] && source !== target
}

function isFree({ class: sort, trust_requirement }: FlowEdge, rules: EdgeRules): boolean {
  const isTrusting = trust_requirement !== 'independent_verification_required'
  return sort !== 'Gate' && isTrusting && rules.policies.length + rules.invariants.length === 0
}

/** At an edge what it names is judged, and what no edge names. */
function rulesByEdge(
  named: Names,
  policies: ReadonlyMap<string, Policy>,
  invariants: readonly CompiledInvariant[],
): (edge: FlowEdge) => EdgeRules {
  const common: EdgeRules = {
    policies: [...policies.values()].filter(({ policyId }) => !named.policies.has(policyId)),
    invariants: invariants.filter(
      ({ isNamed, document }) => !isNamed && document.check_timing === 'on_transition',
    ),
  }
  const byId = new Map(invariants.map((invariant) => [invariant.document.invariant_id, invariant]))
  return (edge) => {
    const own = gather(edge.policy_refs, policies)
    const audits = gather(edge.audit_invariant_refs, byId)
    if (own.length + audits.length === 0) return common
    return {
      policies: [...own, ...common.policies],
      invariants: [...audits, ...common.invariants],
    }
  }
}

/** The ids of policies and invariants that edges name. */
interface Names {
  readonly policies: ReadonlySet<string>
  readonly invariants: ReadonlySet<string>
}

function readNames(edges: readonly FlowEdge[]): Names {
  const [policies, invariants] = [new Set<string>(), new Set<string>()]
  edges.forEach(({ policy_refs, audit_invariant_refs }) => {
    for (const id of policy_refs ?? NONE) policies.add(id)
    for (const id of audit_invariant_refs ?? NONE) invariants.add(id)
  })
  return { policies, invariants }
}

function isPlain({ names, source }: Expression): boolean {
  const isOfState = !names.has('event') && !names.has('node') && !names.has('edge')
  return isOfState && !source.includes('phase_completed')
}

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

function compileNodes(
  { nodes }: Flow,
  rules: number,
  edges: readonly CompiledEdge[],
  ends: EdgeEnds,
  { phases, subphases, targets, judged }: NodePlaces,
): readonly CompiledNode[] {
  const leaving = new EdgesByNode(nodes.length, edges, ends.sources)
  const arriving = new EdgesByNode(nodes.length, edges, ends.targets)
  const checksOf = checksByTarget(targets)
  const isLate = (check: number): boolean =>
    arriving
      .of(check)
      .some((edge) => edge.isForward && !edge.isReview && (rules < 6 || edge.source !== check))
  const order = new CheckOrder(rules, judged, arriving, isLate)
  const sorts = new Sorts(areNodesAlike)
  return nodes.map((document, index) => {
    const runner = document.kind === 'CHECK' ? document.reviewer : document.executor
    const outgoing = leaving.of(index)
    const checks = checksOf.get(index) ?? NONE
    const sort = sorts.of({
      phase: phases[index] ?? -1,
      subphase: subphases[index] ?? -1,
      target: targets[index] ?? -1,
      ways: ends.leavesBy(index, MARK.NOT_WITHIN)
        ? waysOf(outgoing, rules >= 4 && checks.length > 0)
        : null,
      awaits: awaitedAt(index, rules, ends, arriving),
      checks,
      firstChecks: checks.length === 0 ? NONE : order.firstOf(checks),
      isStandIn: order.isStandIn(index),
      participant: runner === undefined ? null : digestDocument(runner),
      arriving,
      isBare: document.kind === 'GOAL' || (document.kind === 'WORK' && runner === undefined),
      isAtBorder: ends.leavesBy(index, MARK.LEAVING),
      hasDecision: ends.leavesBy(index, MARK.DECISION),
      isJudgedLate: checks.some(isLate),
      hasChoice: ends.leavesBy(index, MARK.CHOICE),
      isCandidate: ends.isReachedBy(index, MARK.CHOICE),
      readsEvidence: ends.leavesBy(index, MARK.EVIDENCE),
    })
    return new NodePart(index, document, outgoing, sort)
  })
}

/**
 * Nodes that nothing leads to but ways back. When there are none the first one, unless a goal begins
 * with its alternatives.
 */
function startsOf(nodes: readonly FlowNode[], ends: EdgeEnds, { targets }: NodePlaces): number[] {
  const starts: number[] = []
  for (let node = 0; node < nodes.length; node++) {
    if (targets[node] === -1 && !ends.isReachedBy(node, MARK.LED_TO)) starts.push(node)
  }
  if (starts.length > 0 || nodes.length === 0) return starts
  const beginsWithChoice = nodes.some(
    ({ kind }, node) => kind === 'GOAL' && ends.leavesBy(node, MARK.CHOICE),
  )
  return beginsWithChoice ? [] : [0]
}

/** CHECK nodes by the node that they judge. */
function checksByTarget(targets: Int32Array): ReadonlyMap<number, readonly number[]> {
  const checks = new Map<number, number[]>()
  targets.forEach((target, index) => {
    if (target === -1) return
    const list = checks.get(target)
    if (list === undefined) checks.set(target, [index])
    else list.push(index)
  })
  return checks
}

/**
 * Null when every edge is tried, and none leads out of the phase. The CHECK nodes of work that is judged
 * wait for its calls, so the end of the phase cannot come first.
 */
function waysOf(outgoing: readonly CompiledEdge[], isJudged: boolean): NodeSort['ways'] {
  const tried = outgoing.filter(isTried)
  const calls = tried.filter(isCallFirst)
  const ways = tried.filter((edge) => !isCallFirst(edge))
  const waysWithin = ways.filter(({ isLeaving }) => !isLeaving)
  return {
    waysWithin,
    waysOut: ways.filter(({ isLeaving }) => isLeaving),
    calls,
    callsLate: !isJudged && waysWithin.length === 0 && calls.some(({ isLeaving }) => isLeaving),
  }
}

function arrivalOf({ class: sort, join }: FlowEdge): Arrival | null {
  if (sort === 'Sync') return 'sync'
  if (sort === 'Exception') return 'other'
  if (!FORWARD.has(sort)) return null
  return join === 'AND' ? 'join' : 'other'
}

/** Most nodes wait for one edge, or begin. */
function awaitedAt(node: number, rules: number, ends: EdgeEnds, arriving: EdgesByNode): Awaited {
  if (ends.isReachedBy(node, MARK.GATHERED)) return gatheredOf(rules, arriving.of(node))
  return ends.isReachedBy(node, MARK.ONE) ? AWAITS_ONE : AWAITS_NOTHING
}

/** A join waits for no Exception edge; before version 4 a Sync did. */
function gatheredOf(rules: number, incoming: readonly CompiledEdge[]): Awaited {
  let [syncs, joins, others] = [0, 0, 0]
  let isAnySync = false
  for (const { arrival, document } of incoming) {
    if (arrival === 'sync') {
      syncs += 1
      isAnySync ||= document.join === 'OR'
    } else if (arrival === 'join') joins += 1
    else if (arrival === 'other' && (rules < 4 || document.class !== 'Exception')) others += 1
  }
  return { syncs, isAnySync, joins, others }
}

const AWAITS_NOTHING: Awaited = Object.freeze({ syncs: 0, isAnySync: false, joins: 0, others: 0 })
const AWAITS_ONE: Awaited = Object.freeze({ ...AWAITS_NOTHING, others: 1 })

const FORWARD: ReadonlySet<string> = new Set(['Progress', 'Gate', 'Decision', 'Sync'])
