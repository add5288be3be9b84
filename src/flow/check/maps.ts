/**
 * Nodes that are mapped over a list: refuses maps that could not be laid out, and lists that are
 * written in the flow and could not be walked.
 */
import { showName } from '../../base/index.ts'
import { type Flow, type FlowNode, listFault } from '../../contracts/index.ts'
import { RULES_NOW } from '../compile/rules.ts'
import { layOut, NO_LISTS } from '../map/lay-out.ts'
import type { FlowProblems } from './problem.ts'

export function checkMaps(flow: Flow, problems: FlowProblems): void {
  if (!flow.nodes.some(({ map }) => map !== undefined)) return
  const ids = new Set(flow.nodes.map(({ node_id }) => node_id))
  for (const [index, node] of flow.nodes.entries()) {
    if (node.map === undefined) continue
    const path = `/nodes/${index}/map`
    for (const message of [
      ...faultsOf(flow, node),
      ...judgeFaults(flow, node),
      ...callFaults(flow, node),
      ...nameFaults(flow, node),
    ])
      problems.refuse('flow.map', path, message)
    checkSource(node, path, ids, problems)
  }
  const laid = layOut(flow, NO_LISTS, RULES_NOW)
  const fault = laid.fault ?? laid.collision
  const at = flow.nodes.findIndex(({ node_id }) => node_id === fault?.nodeId)
  if (fault !== null)
    problems.refuse('flow.map', `/nodes/${Math.max(at, 0)}/map/items`, fault.fault.message)
}

function faultsOf({ edges, nodes }: Flow, node: FlowNode): readonly string[] {
  const { node_id, kind, executor, call, map = {} } = node
  const id = showName(node_id)
  const hasFlow = nodes.some((one) => one.node_id === `${node_id}/begin`)
  const isCandidate = edges.some(
    ({ target, group_id }) => target === node_id && group_id !== undefined,
  )
  const sources = [map.items, map.from, map.artifact].filter((one) => one !== undefined)
  const { minimum = 0, max, items } = map
  return [
    ...(sources.length === 1 ? [] : ['a map has one list: `items`, `from` or `artifact`']),
    ...(kind === 'CHECK'
      ? [`${id} is a CHECK: it judges each item of the node that it judges`]
      : []),
    ...(kind === 'WORK' && executor === undefined && !hasFlow
      ? [`no participant works at ${id}, so there is nothing to do for an item`]
      : []),
    ...(kind === 'GOAL' && !hasFlow ? [`a GOAL does nothing for an item`] : []),
    ...(call === true ? [`${id} is called, and a node that is called has no list`] : []),
    ...(isCandidate ? [`${id} is one of several alternatives, and these have no list`] : []),
    ...(minimum > (items?.length ?? max ?? minimum)
      ? [`the list has fewer items than the ${minimum} that have to be done`]
      : []),
  ]
}

/** CHECK nodes of a mapped node judge item by item, so nothing else can lead to them. */
function judgeFaults({ nodes, edges }: Flow, { node_id }: FlowNode): readonly string[] {
  const judges = new Set(
    nodes.flatMap(({ target, node_id: check }) => (target === node_id ? [check] : [])),
  )
  const others = edges.filter(
    ({ source, target, class: sort }) =>
      judges.has(target) && source !== node_id && !judges.has(source) && sort !== 'Meta',
  )
  return others.map(
    ({ source, target }) =>
      `${showName(target)} judges each item of ${showName(node_id)}, and ${showName(source)} leads there too`,
  )
}

/** Items are in place when the map is done: a CHECK that the map calls would judge them too late. */
function callFaults({ nodes, edges }: Flow, { node_id }: FlowNode): readonly string[] {
  const called = nodes.filter(
    ({ kind, call, target, node_id: id }) =>
      kind === 'CHECK' &&
      call === true &&
      target === undefined &&
      edges.some((edge) => edge.source === node_id && edge.target === id && edge.class !== 'Meta'),
  )
  return called.map(
    (check) =>
      `${showName(node_id)} calls ${showName(check.node_id)}, which cannot judge its items before they are in place: write a CHECK with \`target: ${node_id}\` for the items, and let a node after the map call ${showName(check.node_id)}`,
  )
}

/** Items have ids below the node's: no other node may have these. */
function nameFaults({ nodes }: Flow, { node_id }: FlowNode): readonly string[] {
  const hasFlow = nodes.some((one) => one.node_id === `${node_id}/begin`)
  const judges = nodes.flatMap(({ target, node_id: id }) => (target === node_id ? [id] : []))
  const taken = nodes.find(
    ({ node_id: id }) =>
      (!hasFlow && id.startsWith(`${node_id}/`)) ||
      judges.some((judge) => id.startsWith(`${judge}/`)),
  )
  if (taken === undefined) return []
  return [`the id ${showName(taken.node_id)} is one that an item may get`]
}

function checkSource(
  { map = {} }: FlowNode,
  path: string,
  ids: ReadonlySet<string>,
  problems: FlowProblems,
): void {
  const { items, artifact, from = '', max } = map
  const fault = items === undefined ? null : listFault(items, max)
  if (fault !== null) problems.refuse('flow.map', `${path}/items`, fault.message)
  const named = artifact?.slice(0, artifact.lastIndexOf(':'))
  if (named !== undefined && !ids.has(named))
    problems.refuse('flow.unknown_ref', `${path}/artifact`, `there is no node ${showName(named)}`)
  if (/^\/|(?:^|\/)\.\.(?:\/|$)/.test(from.slice(0, from.lastIndexOf(':'))))
    problems.refuse(
      'flow.outside_workspace',
      `${path}/from`,
      'the list lies outside of the workspace',
    )
}
