/** The versions of artifacts in a run, and which of them its reviewers approved. */
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { FlowFact } from '../state/fact.ts'

interface ArtifactVersion {
  readonly node_id: string
  readonly path: string
  readonly digest: string
  readonly format: string
  readonly seq: number
  /** The difference from the version before; null for the first. */
  readonly delta: unknown
}

export interface ArtifactReport {
  readonly node_id: string
  readonly versions: readonly ArtifactVersion[]
  /** The last version, approved or not. */
  readonly candidate: ArtifactVersion | null
  /** The last version that every reviewer of it approved. */
  readonly approved: ArtifactVersion | null
}

/** The versions of one node, and how reviewers judged the last one. */
interface Judged {
  readonly versions: ArtifactVersion[]
  /** CHECK nodes that approved the last version, and those that the node called about it. */
  readonly approvals: Set<string>
  readonly called: Set<string>
  /** The last version before it that was approved. */
  before: ArtifactVersion | null
}

/** Returns the versions of each artifact in order, the last one, and the last approved one. */
export function artifactsOf(
  flow: CompiledFlow,
  facts: readonly FlowFact[],
): readonly ArtifactReport[] {
  const judged = new Map<string, Judged>()
  for (const { type, payload } of facts) {
    if (type !== 'flow_event_v1') continue
    if (payload.kind === 'artifact') {
      const { node_id, path, digest, format, seq, delta } = payload
      const one = judged.get(node_id) ?? newJudged()
      one.before = approvedOf(flow, node_id, one)
      one.approvals.clear()
      one.called.clear()
      one.versions.push({ node_id, path, digest, format, seq, delta })
      judged.set(node_id, one)
    } else if (payload.kind === 'fired') {
      noteCall(flow, payload.edge_id, judged)
    } else if (payload.kind === 'reviewed') {
      const { node_id, check_id, verdict, artifact_digest } = payload
      const one = judged.get(node_id)
      if (one === undefined || one.versions.at(-1)?.digest !== artifact_digest) continue
      if (verdict === 'APPROVE') one.approvals.add(check_id)
      else one.approvals.clear()
    }
  }
  return [...judged].map(([node_id, one]) => ({
    node_id,
    versions: one.versions,
    candidate: one.versions.at(-1) ?? null,
    approved: approvedOf(flow, node_id, one),
  }))
}

function newJudged(): Judged {
  return { versions: [], approvals: new Set(), called: new Set(), before: null }
}

/** Notes that a node has called a CHECK, which judges the last version of the node too. */
function noteCall(flow: CompiledFlow, edgeId: string, judged: ReadonlyMap<string, Judged>): void {
  const edge = flow.edgeById.get(edgeId)
  if (edge === undefined || !flow.nodes[edge.source]?.calls.includes(edge)) return
  const target = flow.nodes[edge.target]?.document
  if (target?.kind !== 'CHECK' || target.target !== undefined) return
  judged.get(edge.document.source)?.called.add(target.node_id)
}

function approvedOf(
  { nodes, nodeIndex }: CompiledFlow,
  nodeId: string,
  { versions, approvals, called, before }: Judged,
): ArtifactVersion | null {
  const checks = nodes[nodeIndex.get(nodeId) ?? -1]?.checks.length ?? 0
  const isApproved = approvals.size > 0 && approvals.size >= checks + called.size
  return isApproved ? (versions.at(-1) ?? null) : before
}
