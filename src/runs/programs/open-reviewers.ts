/**
 * Reviewers that may start or load what writ does not follow. While one of them judges, no stage may hold
 * code: what cannot be followed is kept from finding any.
 */
import { showPath } from '../../base/index.ts'
import type { Flow, FlowNode } from '../../contracts/index.ts'
import type { OpenReviewer } from '../../flow/index.ts'
import { namedBy } from './named-programs.ts'
import { runsWork } from './participant-command.ts'
import { isDeclared } from './protected-programs.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

/** Directories of the search path that lie in the workspace. */
export function insidePath(files: WorkspaceFiles, searchPath: string): readonly string[] {
  return searchPath.split(':').flatMap((one) => (one === '' ? [] : (files.pathOf(one) ?? [])))
}

/** Why a reviewer is open, in words with their places; empty for one that is followed whole. */
export function openReasons(
  files: WorkspaceFiles,
  nodes: readonly FlowNode[],
  { kind, reviewer }: FlowNode,
  inside: readonly string[],
): readonly string[] {
  if (kind !== 'CHECK' || runsWork(reviewer)) return []
  const named = namedBy(files, reviewer, inside)
  if (named === null) return []
  const made = named.absent.filter((path) => isDeclared(path, nodes))
  return [...named.open, ...made.map((path) => `it starts ${showPath(path)}, which a node makes`)]
}

/** Each open reviewer of a flow, with the first reason. */
export function openReviewersOf(
  files: WorkspaceFiles,
  { nodes }: Flow,
  searchPath: string,
): readonly OpenReviewer[] {
  const inside = insidePath(files, searchPath)
  return nodes.flatMap((node) => {
    const [why] = openReasons(files, nodes, node, inside)
    return why === undefined ? [] : [{ node_id: node.node_id, why }]
  })
}
