/**
 * What a side file adds to the edges of a table: nodes, guards, state, policies, invariants, access,
 * claims. The side file wins over the table. The singular `access_rule` and
 * `claim_verification` are read too.
 */
import { showName } from '../../base/index.ts'
import type { Flow, FlowEdge, FlowNode, FlowSide } from '../../contracts/index.ts'
import { classOf } from './columns.ts'
import type { ImportReport } from './report.ts'

/** The `max_attempts` of a node for which the side file gives none. */
const ATTEMPTS_USUAL = 3

/** Nodes in the order in which the table names them, then those of the side file alone. */
export function nodesOf(edges: readonly FlowEdge[], side: FlowSide): FlowNode[] {
  const said = new Map((side.nodes ?? []).map((node) => [node.node_id, node]))
  const names = new Set(edges.flatMap(({ source, target }) => [source, target]))
  for (const name of said.keys()) names.add(name)
  return [...names].map((name) => ({
    node_id: name,
    kind: 'WORK' as const,
    title: name,
    phase_id: name,
    actor: name,
    max_attempts: ATTEMPTS_USUAL,
    ...said.get(name),
  }))
}

/** Applies what the side file says about edges over the edges of the table. */
export function withSide(
  edges: readonly FlowEdge[],
  side: FlowSide,
  report: ImportReport,
): readonly FlowEdge[] {
  const byId = new Map(edges.map(({ edge_id }, index) => [edge_id, index]))
  const joined = [...edges]
  for (const [place, { affected_edge, v2_primary_class, ...guard }] of (
    side.edges ?? []
  ).entries()) {
    const index = byId.get(affected_edge)
    const edge = index === undefined ? undefined : joined[index]
    if (index === undefined || edge === undefined) {
      const message = `the table has no edge ${showName(affected_edge)}, so what is said of it is lost`
      report.tellSide('error', 'flow.table_edge', `/edges/${place}/affected_edge`, message)
      continue
    }
    const kind = v2_primary_class === undefined ? null : classOf(v2_primary_class)
    joined[index] = { ...edge, ...guard, ...(kind === null ? {} : { class: kind }) }
  }
  return joined
}

/** The parts of a flow that are not its graph. */
export function partsOf(
  side: FlowSide,
  edges: readonly FlowEdge[],
  nodes: readonly FlowNode[],
  report: ImportReport,
): Partial<Flow> {
  const fields = side.state?.fields
  const rules = [...(side.access_rules ?? []), ...several(side.access_rule)]
  const claims = placed(side, edges, nodes, report)
  return {
    ...(fields === undefined ? {} : { state: { fields } }),
    ...(side.policies === undefined ? {} : { policies: side.policies }),
    ...(side.text_policies === undefined ? {} : { text_policies: side.text_policies }),
    ...(rules.length === 0 ? {} : { access_rules: rules }),
    ...(claims.length === 0 ? {} : { claims }),
    ...(side.invariants === undefined ? {} : { invariants: side.invariants }),
    ...(side.budgets === undefined ? {} : { budgets: side.budgets }),
  }
}

function several<T>(one: T | T[] | undefined): readonly T[] {
  if (one === undefined) return []
  return Array.isArray(one) ? one : [one]
}

type SideClaim = NonNullable<FlowSide['claims']>[number]

/**
 * A claim belongs to a node. One that names none belongs to the node whose leaving asks for
 * verification, and when there is no such node, or several, to the first of the table.
 */
function placed(
  side: FlowSide,
  edges: readonly FlowEdge[],
  nodes: readonly FlowNode[],
  report: ImportReport,
): NonNullable<Flow['claims']> {
  const asking = new Set(
    edges
      .filter(({ trust_requirement }) => trust_requirement === 'independent_verification_required')
      .map(({ source }) => source),
  )
  const [only] = asking.size === 1 ? asking : [nodes[0]?.node_id]
  const place = (claim: SideClaim, path: string) => {
    const { node_id = only ?? 'unknown', actor = 'unknown' } = claim
    if (claim.node_id === undefined) {
      const message = `the claim ${showName(claim.claim_id)} names no node, so it is one of ${showName(node_id)}`
      report.tellSide('warning', 'flow.claim_unplaced', path, message, 'say `node_id` and `actor`')
    }
    return { ...claim, node_id, actor }
  }
  const singular = side.claim_verification
  return [
    ...(side.claims ?? []).map((claim, index) => place(claim, `/claims/${index}`)),
    ...several(singular).map((claim, index) =>
      place(
        claim,
        Array.isArray(singular) ? `/claim_verification/${index}` : '/claim_verification',
      ),
    ),
  ]
}
