/**
 * What a table shows by its shape and cannot say: nodes that are called, Exception edges that are the
 * No of a check, gates next to a way to the same node, Rollback edges that lead forward. Each is a proposal for the side file, with its
 * reason; a person takes it or not.
 */
import { showName } from '../../base/index.ts'
import type { Flow, FlowSide } from '../../contracts/index.ts'
import { areExclusive, type Branches, branchesOf } from '../check/branches.ts'
import { edgeAt, type Graph, graphOf, leadsBack, leadsOn, listAt, nodeAt } from '../check/graph.ts'
import { saysNo } from '../check/says-no.ts'
import { isForwardBack } from '../check/shape.ts'

type SideNode = NonNullable<FlowSide['nodes']>[number]
type SideEdge = NonNullable<FlowSide['edges']>[number]

export type SideProposal =
  | { readonly node: SideNode; readonly why: string }
  | { readonly edge: SideEdge; readonly why: string }

interface Proposals {
  readonly proposals: readonly SideProposal[]
  /** The given side file with the proposals in it. */
  readonly side: FlowSide
}

/** Proposes for a flow that came from a table and this side file. */
export function proposeSide(flow: Flow, side: FlowSide): Proposals {
  const graph = graphOf(flow)
  const called = calledNodes(graph)
  const turned = turnedRollbacks(graph)
  const noes = noEdges(
    graph,
    new Set(turned.filter(({ kind }) => kind === 'Exception').map(({ edge }) => edge)),
  )
  const proposals: SideProposal[] = [
    ...called.map((node) => callProposal(graph, node)),
    ...checkProposals(graph, noes, called),
    ...noes.flatMap((edge) => rejectProposal(graph, edge)),
    ...joinProposals(graph),
    ...turned.map(({ edge, kind }) => rollbackProposal(graph, edge, kind, noes.includes(edge))),
  ]
  return { proposals, side: taken(side, proposals) }
}

/** Nodes that several Gate edges lead to, from nodes that lead on elsewhere as well. */
function calledNodes(graph: Graph): readonly number[] {
  const branches = branchesOf(graph)
  return graph.nodes.flatMap(({ call, target }, node) => {
    if (call !== undefined || target !== undefined) return []
    const gates = [...listAt(graph.incoming, node)].filter((edge) => isSideGate(graph, edge))
    return areTogether(graph, branches, gates) ? [node] : []
  })
}

function isSideGate(graph: Graph, edge: number): boolean {
  if (edgeAt(graph, edge).class !== 'Gate') return false
  return [...listAt(graph.outgoing, graph.source[edge] ?? 0)].some(
    (other) => other !== edge && leadsOn(edgeAt(graph, other)),
  )
}

function areTogether(graph: Graph, branches: Branches, edges: readonly number[]): boolean {
  return edges.some((one, place) =>
    edges.slice(place + 1).some((other) => !areExclusive(graph, branches, one, other)),
  )
}

function callProposal(graph: Graph, node: number): SideProposal {
  const gates = [...listAt(graph.incoming, node)].filter((edge) => isSideGate(graph, edge))
  const { node_id } = nodeAt(graph, node)
  const why = `${gates.length} Gate edges lead to it from nodes that also lead on: without it the run enters it once, and they go past it`
  return { node: { node_id, call: true }, why }
}

/** Exception edges that are the No of a question, and Rollback edges that become such. */
function noEdges(graph: Graph, turned: ReadonlySet<number>): readonly number[] {
  return graph.edges.flatMap((edge, index) => {
    if (graph.source[index] === -1 || edge.on !== undefined) return []
    return turned.has(index) || (edge.class === 'Exception' && saysNo(edge)) ? [index] : []
  })
}

function rejectProposal(graph: Graph, edge: number): readonly SideProposal[] {
  const { edge_id, label = '', class: kind } = edgeAt(graph, edge)
  if (kind !== 'Exception') return []
  const why = `its label ${showName(label)} is the No of a check: without it the edge fires on a failure only`
  return [{ edge: { affected_edge: edge_id, on: 'reject' }, why }]
}

/** A node that says No has to be a CHECK; who judges there is for the user to say. */
function checkProposals(
  graph: Graph,
  noes: readonly number[],
  called: readonly number[],
): readonly SideProposal[] {
  const sources = [...new Set(noes.map((edge) => graph.source[edge] ?? 0))]
  return sources.flatMap((node): readonly SideProposal[] => {
    const { node_id, kind, reviewer } = nodeAt(graph, node)
    if (kind !== 'WORK' || listAt(graph.checks, node).length > 0) return []
    const isCalled = called.includes(node) || nodeAt(graph, node).call === true
    const judged = isCalled ? null : judgedBy(graph, node, noes, sources)
    const target = judged === null ? {} : { target: judged }
    const check = { node_id, kind: 'CHECK' as const, ...target }
    const why = 'an edge out of it is the No of a check'
    if (reviewer !== undefined) return [{ node: check, why }]
    const person = { ...check, reviewer: { human: true as const } }
    return [{ node: person, why: `${why}; put your reviewer in place of \`human\`` }]
  })
}

/** The one node before a check, if the No leads back to it, or to a node that goes back to it. */
function judgedBy(
  graph: Graph,
  check: number,
  noes: readonly number[],
  checks: readonly number[],
): string | null {
  const before = [...listAt(graph.incoming, check)].filter((edge) => leadsOn(edgeAt(graph, edge)))
  const [only] = before
  if (only === undefined || before.length > 1) return null
  const work = graph.source[only] ?? 0
  if (nodeAt(graph, work).kind !== 'WORK' || checks.includes(work)) return null
  const handlers = noes
    .filter((edge) => graph.source[edge] === check)
    .map((edge) => graph.target[edge] ?? 0)
  const isBack = handlers.some(
    (handler) =>
      handler === work ||
      [...listAt(graph.outgoing, handler)].some(
        (edge) => leadsBack(edgeAt(graph, edge)) && graph.target[edge] === work,
      ),
  )
  return isBack ? nodeAt(graph, work).node_id : null
}

/** Where a node leads on to the same node as the gate next to it: that node waits for both. */
function joinProposals(graph: Graph): readonly SideProposal[] {
  const branches = branchesOf(graph)
  return graph.nodes.flatMap((_, node) => {
    const ways = [...listAt(graph.incoming, node)].filter((edge) => isPlainWay(graph, edge))
    const isGated = ways.some((edge) => ways.some((gate) => isGateBeside(graph, edge, gate)))
    if (!isGated || !areAllTogether(graph, branches, ways)) return []
    const why =
      'a gate next to its source leads to the same node: without it the first way is enough'
    return ways.map((edge) => {
      const { edge_id } = edgeAt(graph, edge)
      return { edge: { affected_edge: edge_id, join: 'AND' as const }, why }
    })
  })
}

function isPlainWay(graph: Graph, edge: number): boolean {
  const { class: kind, join } = edgeAt(graph, edge)
  return kind === 'Progress' && join === undefined && graph.source[edge] !== graph.target[edge]
}

/** Returns whether the source of `edge` has a Gate edge to the source of `gate`. */
function isGateBeside(graph: Graph, edge: number, gate: number): boolean {
  return [...listAt(graph.outgoing, graph.source[edge] ?? 0)].some(
    (other) => edgeAt(graph, other).class === 'Gate' && graph.target[other] === graph.source[gate],
  )
}

function areAllTogether(graph: Graph, branches: Branches, edges: readonly number[]): boolean {
  return edges.every((one, place) =>
    edges.slice(place + 1).every((other) => !areExclusive(graph, branches, one, other)),
  )
}

type TurnedClass = 'Progress' | 'Decision' | 'Exception'

interface TurnedEdge {
  readonly edge: number
  readonly kind: TurnedClass
}

/** Rollback edges that lead to nothing earlier, with the class that says what they do. */
function turnedRollbacks(graph: Graph): readonly TurnedEdge[] {
  const forward = isForwardBack(graph)
  const isTurned = (edge: number): boolean =>
    edgeAt(graph, edge).class === 'Rollback' && forward(edge)
  return graph.edges.flatMap((_, edge) => {
    if (!isTurned(edge)) return []
    const ways = [...listAt(graph.outgoing, graph.source[edge] ?? 0)]
    const isOther = ways.some((other) => leadsOn(edgeAt(graph, other)))
    const count = ways.filter(isTurned).length
    return [{ edge, kind: isOther ? 'Exception' : count > 1 ? 'Decision' : 'Progress' }]
  })
}

const TURNED: Readonly<Record<TurnedClass, string>> = {
  Progress: 'it is the only way on of its source',
  Decision: 'it is one of several ways of its source: give each a guard_expr',
  Exception: 'its source has other ways on, so it is the way out',
}

function rollbackProposal(
  graph: Graph,
  edge: number,
  kind: TurnedClass,
  isReject: boolean,
): SideProposal {
  const { edge_id, target } = edgeAt(graph, edge)
  const why = `a Rollback leads back, and no way leads from ${showName(target)} to its source; ${TURNED[kind]}`
  const on = isReject ? { on: 'reject' as const } : {}
  return { edge: { affected_edge: edge_id, v2_primary_class: kind, ...on }, why }
}

/** What the side file says itself wins over a proposal for the same field. */
function taken(side: FlowSide, proposals: readonly SideProposal[]): FlowSide {
  const nodes = new Map((side.nodes ?? []).map((node) => [node.node_id, node]))
  const edges = new Map((side.edges ?? []).map((edge) => [edge.affected_edge, edge]))
  for (const proposal of proposals) {
    if ('node' in proposal) {
      const { node } = proposal
      nodes.set(node.node_id, { ...node, ...nodes.get(node.node_id) })
    } else {
      const { edge } = proposal
      edges.set(edge.affected_edge, { ...edge, ...edges.get(edge.affected_edge) })
    }
  }
  return {
    ...side,
    ...(nodes.size === 0 ? {} : { nodes: [...nodes.values()] }),
    ...(edges.size === 0 ? {} : { edges: [...edges.values()] }),
  }
}
