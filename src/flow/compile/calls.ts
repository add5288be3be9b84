/**
 * Call nodes and their regions. The region of a call node is what a call may come to: the node, all
 * that its edges lead to, and the CHECK nodes of these. It ends before the callers, so that what the
 * call leads back to is the caller's and not the call's.
 */
import type { FlowEdge, FlowNode } from '../../contracts/index.ts'
import type { CalledNode, CompiledEdge } from './compiled-flow.ts'

interface FlowGraph {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
}

export function callNodesOf(
  { nodes, edges }: FlowGraph,
  indexOf: ReadonlyMap<string, number>,
): readonly CalledNode[] {
  const called = nodes.flatMap(({ call }, index) => (call === true ? [index] : []))
  if (called.length === 0) return []
  const [after, callers] = [new Map<number, number[]>(), new Map<number, Set<number>>()]
  for (const edge of edges) {
    if (edge.class === 'Meta') continue
    const [source, target] = [indexOf.get(edge.source) ?? 0, indexOf.get(edge.target) ?? 0]
    after.set(source, [...(after.get(source) ?? []), target])
    if (edge.class === 'Loop' || edge.class === 'Rollback') continue
    callers.set(target, (callers.get(target) ?? new Set()).add(source))
  }
  for (const [check, { target }] of nodes.entries()) {
    const judged = target === undefined ? undefined : indexOf.get(target)
    if (judged !== undefined) after.set(judged, [...(after.get(judged) ?? []), check])
  }
  return called.map((node) => ({ node, region: regionOf(node, after, callers.get(node)) }))
}

function regionOf(
  node: number,
  after: ReadonlyMap<number, readonly number[]>,
  callers: ReadonlySet<number> | undefined,
): readonly number[] {
  const region = new Set([node])
  for (const inside of region) {
    for (const next of after.get(inside) ?? []) if (callers?.has(next) !== true) region.add(next)
  }
  return [...region].sort((one, other) => one - other)
}

/**
 * Returns whether the other ways of the source wait for the call. They do not for a Decision, which is
 * one of the ways, nor for an Exception.
 */
export function isCallFirst({ isCall, document }: CompiledEdge): boolean {
  return isCall && (document.class === 'Gate' || document.class === 'Progress')
}
