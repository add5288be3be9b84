/**
 * What `flow check` has to say about the programs of participants, which takes the workspace: programs
 * that a node declares to write, reviewers in the root, and one program as executor and reviewer.
 */
import { showName, showPath } from '../../base/index.ts'
import { type Flow, type FlowNode, matchesPath, parseGlob } from '../../contracts/index.ts'
import type { FlowProblem } from '../../flow/index.ts'
import { commandOf, namedBy } from './named-programs.ts'
import { protectedPrograms } from './protected-programs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

export function programWarnings(
  flow: Flow,
  workspace: string,
  searchPath: string,
): readonly FlowProblem[] {
  const files = new WorkspaceFiles(workspace)
  const { pins, readOnly } = protectedPrograms(files, flow, searchPath)
  const places = readOnly.filter((path) => files.isFile(path) || files.isDirectory(path))
  const parts = [...new Set([...pins.map(({ path }) => path), ...places])]
  return flow.nodes.flatMap((node, index) => [
    ...writableParts(node, index, parts),
    ...inRoot(files, node, index),
    ...sameProgram(files, flow, node, index),
  ])
}

function writableParts(
  { writes = [] }: FlowNode,
  index: number,
  parts: readonly string[],
): readonly FlowProblem[] {
  return writes.flatMap((pattern, place) => {
    const glob = parseGlob(`/${pattern}`)
    const first = glob === null ? undefined : parts.find((path) => matchesPath(glob, `/${path}`))
    if (first === undefined) return []
    const message = `${showName(pattern)} covers ${showPath(first)}, a part of a participant of this flow, and a stage that changes it is blocked`
    const hint = 'name what the work makes, or put the programs of participants elsewhere'
    return [
      { code: 'flow.program_writable', path: `/nodes/${index}/writes/${place}`, message, hint },
    ]
  })
}

function programsOf(files: WorkspaceFiles, node: FlowNode): readonly string[] {
  const command = commandOf(node.kind === 'CHECK' ? node.reviewer : node.executor)
  return command === null ? [] : namedBy(files, command, []).programs
}

function inRoot(files: WorkspaceFiles, node: FlowNode, index: number): readonly FlowProblem[] {
  if (node.kind !== 'CHECK') return []
  const program = programsOf(files, node).find((path) => !path.includes('/'))
  if (program === undefined) return []
  const message = `the reviewer's program ${showPath(program)} lies in the root of the workspace: no code can be added there, and other files that it reads there are not protected`
  const hint = 'put it in a directory of its own, or outside the workspace'
  return [{ code: 'flow.program_in_root', path: `/nodes/${index}/reviewer`, message, hint }]
}

function sameProgram(
  files: WorkspaceFiles,
  flow: Flow,
  node: FlowNode,
  index: number,
): readonly FlowProblem[] {
  const judged = flow.nodes.find(({ node_id }) => node_id === node.target)
  if (node.kind !== 'CHECK' || judged === undefined) return []
  const digests = programsOf(files, judged).map((path) => files.digest(path))
  const program = programsOf(files, node).find((path) => digests.includes(files.digest(path)))
  // One declaration for both is known without the workspace, and told by the check of the flow.
  const isOne = JSON.stringify(judged.executor) === JSON.stringify(node.reviewer)
  if (program === undefined || isOne) return []
  const message = `the program ${showPath(program)} is executor of ${showName(judged.node_id)} and its reviewer`
  const hint = 'let another program judge: evidence of the same one does not count either'
  return [{ code: 'flow.same_participant', path: `/nodes/${index}/reviewer`, message, hint }]
}
