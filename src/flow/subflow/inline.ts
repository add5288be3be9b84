/**
 * Sub-flows: a node whose work is another flow. The other flow is put in the node's place before the
 * whole is checked, compiled and run, so that one digest pins all of it.
 *
 * `X` with a sub-flow becomes `X/begin`, the nodes of the sub-flow as `X/…`, and `X` itself, which is
 * done when the sub-flow has come to its one end. What led to `X` leads to `X/begin`.
 */
import { at, digestDocument, showName } from '../../base/index.ts'
import type { Flow, FlowEdge, FlowNode, Violation } from '../../contracts/index.ts'
import { compileFlow } from '../compile/compile.ts'

interface InlinedFlow {
  readonly flow: Flow
  readonly violations: readonly Violation[]
}

/** Puts sub-flows, by the node that names them, in the places of these nodes. */
export function inlineFlows(flow: Flow, children: ReadonlyMap<string, Flow>): InlinedFlow {
  const violations: Violation[] = []
  let whole = flow
  for (const [index, node] of flow.nodes.entries()) {
    const child = children.get(node.node_id)
    if (node.flow === undefined || child === undefined) continue
    const wrong = faultsOf(whole, node, child)
    for (const message of wrong)
      violations.push({ code: 'flow.subflow', path: at(`/nodes/${index}`, 'flow'), message })
    if (wrong.length === 0) whole = withChild(whole, node, child)
  }
  return { flow: whole, violations }
}

/** Parts of a flow that are about the whole run. */
const OUTER = ['policies', 'text_policies', 'invariants', 'budgets', 'table'] as const
/** What a node says about its own work, and a node with a sub-flow has none. */
const OWN = ['executor', 'reviewer', 'target', 'timeout', 'deadline', 'retry'] as const

function faultsOf(flow: Flow, node: FlowNode, child: Flow): readonly string[] {
  const faults = OUTER.filter((part) => child[part] !== undefined).map(
    (part) => `the sub-flow has ${showName(part)}, which belongs to the outer flow`,
  )
  for (const part of OWN) {
    if (node[part] === undefined) continue
    faults.push(`a node with a sub-flow has no ${showName(part)} of its own`)
  }
  if (node.kind !== 'WORK') faults.push(`a ${node.kind} node has no sub-flow`)
  if (node.flow_digest !== undefined && node.flow_digest !== digestDocument(child))
    faults.push(`the sub-flow is not the pinned one: its digest is ${digestDocument(child)}`)
  const ends = endsOf(child)
  if (ends.length !== 1) faults.push(`a sub-flow ends at one node, and this one at ${ends.length}`)
  for (const [name, { type, initial }] of Object.entries(child.state?.fields ?? {})) {
    const own = flow.state?.fields[name]
    if (own === undefined || (own.type === type && own.initial === initial)) continue
    faults.push(`both flows declare the state field ${showName(name)}, and not alike`)
  }
  return faults
}

const ON: ReadonlySet<string> = new Set(['Progress', 'Gate', 'Decision', 'Sync'])

/** Goals that lead no further, or all nodes that lead no further if there is no such goal. */
function endsOf({ nodes, edges }: Flow): readonly string[] {
  const judging = new Set(
    nodes.flatMap(({ node_id, target }) => (target === undefined ? [] : [node_id])),
  )
  const leading = new Set(edges.flatMap((edge) => (ON.has(edge.class) ? [edge.source] : [])))
  const last = nodes.filter(({ node_id }) => !leading.has(node_id) && !judging.has(node_id))
  const goals = last.filter(({ kind }) => kind === 'GOAL')
  return (goals.length > 0 ? goals : last).map(({ node_id }) => node_id)
}

function startsOf(child: Flow): readonly string[] {
  const compilation = compileFlow(child)
  if (!compilation.ok) return []
  return compilation.flow.starts.map((index) => child.nodes[index]?.node_id ?? '')
}

function withChild(flow: Flow, node: FlowNode, child: Flow): Flow {
  const { flow: _, flow_digest: __, call, after, signal, ...end } = node
  const name = (id: string): string => `${node.node_id}/${id}`
  const begin: FlowNode = {
    node_id: name('begin'),
    kind: 'WORK',
    title: node.title,
    phase_id: node.phase_id,
    actor: node.actor,
    max_attempts: node.max_attempts,
    ...(call === undefined ? {} : { call }),
    ...(after === undefined ? {} : { after }),
    ...(signal === undefined ? {} : { signal }),
  }
  const joining = { class: 'Progress' as const }
  const edges: readonly FlowEdge[] = [
    ...flow.edges.map((edge) =>
      edge.target === node.node_id && edge.class !== 'Meta'
        ? { ...edge, target: begin.node_id }
        : edge,
    ),
    ...startsOf(child).map((id) => ({
      edge_id: name(`begin>${id}`),
      source: begin.node_id,
      target: name(id),
      ...joining,
    })),
    ...child.edges.map((edge) => renamedEdge(edge, name)),
    ...endsOf(child).map((id) => ({
      edge_id: name(`${id}>end`),
      source: name(id),
      target: node.node_id,
      ...joining,
    })),
  ]
  // Where the outer flow ends with it, the node is the goal of both.
  const isLast = !flow.edges.some(
    ({ source, class: sort }) => source === node.node_id && ON.has(sort),
  )
  const isJudged = flow.nodes.some(({ target }) => target === node.node_id)
  const last: FlowNode = isLast && !isJudged ? { ...end, kind: 'GOAL' } : end
  const nodes = flow.nodes.flatMap((one) =>
    one.node_id === node.node_id
      ? [begin, ...child.nodes.map((part) => renamedNode(part, name)), last]
      : [one],
  )
  return { ...flow, nodes, edges: [...edges], ...joinedParts(flow, child, name) }
}

function renamedEdge(edge: FlowEdge, name: (id: string) => string): FlowEdge {
  const { edge_id, source, target, group_id, ...rest } = edge
  const group = group_id === undefined ? {} : { group_id: name(group_id) }
  const ends = { edge_id: name(edge_id), source: name(source), target: name(target) }
  return { ...rest, ...ends, ...group }
}

function renamedNode(node: FlowNode, name: (id: string) => string): FlowNode {
  const { target, subphase_id, inputs } = node
  return {
    ...node,
    node_id: name(node.node_id),
    phase_id: name(node.phase_id),
    ...(subphase_id === undefined ? {} : { subphase_id: name(subphase_id) }),
    ...(target === undefined ? {} : { target: name(target) }),
    ...(inputs === undefined
      ? {}
      : { inputs: inputs.map((input) => ({ ...input, from: name(input.from) })) }),
  }
}

function joinedParts(flow: Flow, child: Flow, name: (id: string) => string): Partial<Flow> {
  const fields = { ...flow.state?.fields, ...child.state?.fields }
  const rules = [...(flow.access_rules ?? []), ...(child.access_rules ?? [])]
  const claims = (child.claims ?? []).map((claim) => ({
    ...claim,
    claim_id: name(claim.claim_id),
    node_id: name(claim.node_id),
  }))
  const all = [...(flow.claims ?? []), ...claims]
  return {
    ...(Object.keys(fields).length === 0 ? {} : { state: { fields } }),
    ...(rules.length === 0 ? {} : { access_rules: rules }),
    ...(all.length === 0 ? {} : { claims: all }),
  }
}
