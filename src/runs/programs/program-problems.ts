/**
 * What `flow check` has to say about the programs of participants, which takes the workspace: programs
 * that are not there, that a node declares to write, open reviewers, reviewers in the root, and one program
 * as executor and reviewer.
 */
import { showName, showPath } from '../../base/index.ts'
import { type Flow, type FlowNode, matchesPath, parseGlob } from '../../contracts/index.ts'
import { type FlowProblem, openWorkOf } from '../../flow/index.ts'
import { UNREAD_MODULE } from './closed-programs.ts'
import { namedBy } from './named-programs.ts'
import { missingPrograms, type PartsAround } from './needed-parts.ts'
import { insidePath, openReason } from './open-reviewers.ts'
import { runsWork } from './participant-command.ts'
import { protectedPrograms } from './protected-programs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

interface ProgramProblems {
  readonly violations: readonly FlowProblem[]
  readonly warnings: readonly FlowProblem[]
  /** What a person's file says, and `flow check` repeats. */
  readonly notes: readonly string[]
}

export function programProblems(flow: Flow, around: PartsAround): ProgramProblems {
  const { workspace, searchPath } = around
  const files = new WorkspaceFiles(workspace)
  const { pins, readOnly } = protectedPrograms(files, flow, searchPath)
  const places = readOnly.filter((path) => files.isFile(path) || files.isDirectory(path))
  const parts = [...new Set([...pins.map(({ path }) => path), ...places])]
  const inside = insidePath(files, searchPath)
  const missing = flow.nodes.map((node, index) => missingAt(flow, node, index, around))
  const isThere = (index: number): boolean => missing[index]?.length === 0
  const told = missing.flat().map(({ isOfMachine, ...problem }) => ({ isOfMachine, problem }))
  const toldAs = (isOf: boolean): readonly FlowProblem[] =>
    told.flatMap(({ isOfMachine, problem }) => (isOfMachine === isOf ? [problem] : []))
  return {
    violations: toldAs(false),
    warnings: [
      ...toldAs(true),
      ...openReviewers(flow, around),
      ...flow.nodes.flatMap((node, index) => [
        ...(isThere(index) ? unfoundAt(files, node, index, inside) : []),
        ...writableParts(node, index, parts),
        ...inRoot(files, node, index),
        ...sameProgram(files, flow, node, index),
      ]),
    ],
    notes: flow.nodes.flatMap(answeredAt),
  }
}

type MissingProblem = FlowProblem & { readonly isOfMachine: boolean }

function missingAt(
  flow: Flow,
  node: FlowNode,
  index: number,
  around: PartsAround,
): readonly MissingProblem[] {
  const path = `/nodes/${index}/${node.kind === 'CHECK' ? 'reviewer' : 'executor'}`
  return missingPrograms(flow, node, showName(node.node_id), around).map(
    ({ code, says, hint, isOfMachine = false }) => {
      const elsewhere = `${hint}; a flow that runs elsewhere: writ flow check --workspace DIR`
      return { code, path, message: says, hint: isOfMachine ? hint : elsewhere, isOfMachine }
    },
  )
}

/** The way out of a program that cannot be found. */
const NAME_THEM =
  'list the files, directories or patterns that the program is made of in `programs` of the participant, or start one file: `command: [node, agents/work.mjs]`'

/** An executor whose programs are no files here: others could change them, and its evidence is none. */
function unfoundAt(
  files: WorkspaceFiles,
  { node_id, kind, executor }: FlowNode,
  index: number,
  inside: readonly string[],
): readonly FlowProblem[] {
  if (kind !== 'WORK' || namedBy(files, executor, inside)?.isUnfound !== true) return []
  const message = `no file of the workspace is what the executor of ${showName(node_id)} runs, so it is not pinned, and other participants could change it`
  const path = `/nodes/${index}/executor`
  return [{ code: 'flow.program_unpinned', path, message, hint: NAME_THEM }]
}

/** Each open reviewer of a flow with its reason and the ways out. */
export function openReviewers(flow: Flow, around: PartsAround): readonly FlowProblem[] {
  const files = new WorkspaceFiles(around.workspace)
  const inside = insidePath(files, around.searchPath)
  const unnamed = wildcardsIn(flow)
  return flow.nodes.flatMap((node, index) => {
    const why = openReason(files, node, inside)
    if (why === null) return []
    const message = `the reviewer of ${showName(node.node_id)} is open, since writ cannot tell what it starts or loads: ${why}; so each stage of this flow may add, change or remove only its artifact, and data (text, JSON, tables, images, …) at paths that the flow names without a wildcard${unnamed}`
    const line = `reviewer: ${JSON.stringify({ ...node.reviewer, runs_work: true })}`
    const other = why.includes(UNREAD_MODULE)
      ? 'let it import only modules of Node or Python that read, and files of its own directory'
      : 'make it one program that only reads, started as `node FILE` or `python3 FILE`'
    const hint = `name each file that work makes in \`required_files\` or \`writes\`; if the work holds code, write \`${line}\` (in a file of participants: \`runs_work: true\` at the participant), with which you answer for what it runs; or ${other}`
    return [{ code: 'flow.reviewer_open', path: `/nodes/${index}/reviewer`, message, hint }]
  })
}

const WILDCARDS_TOLD = 3

/** What `writes` of work names with a wildcard, which counts for nothing while a reviewer is open. */
function wildcardsIn({ nodes }: Flow): string {
  const wild = nodes.flatMap(({ kind, node_id, writes = [] }) =>
    writes
      .filter((pattern) => kind === 'WORK' && pattern.includes('*'))
      .map((pattern) => `${showName(pattern)} of ${showName(node_id)}`),
  )
  if (wild.length === 0) return ''
  const more = wild.length > WILDCARDS_TOLD ? ` and ${wild.length - WILDCARDS_TOLD} more` : ''
  return `, which ${wild.slice(0, WILDCARDS_TOLD).join(', ')}${more} does not`
}

/** What a person answers for, as `runs_work` says. */
function answeredAt({ node_id, kind, reviewer }: FlowNode): readonly string[] {
  if (kind !== 'CHECK' || !runsWork(reviewer)) return []
  return [
    `the reviewer of ${showName(node_id)} may run the work that it judges (\`runs_work: true\`): a person answers for that`,
  ]
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

const TITLES_SAID = 3

/**
 * Work that a command judges and that may change everything, also what the search does not find. A plan
 * has no word for what its tasks write, so it is said once of all of them.
 */
export function openWork(flow: Flow, isPlan: boolean): readonly FlowProblem[] {
  const open = openWorkOf(flow)
  const [first] = open
  if (isPlan && first !== undefined) {
    const titles = open.map(({ node_id }) => {
      const node = flow.nodes.find((one) => one.node_id === node_id)
      return showName(node?.title ?? node_id)
    })
    const more = titles.length > TITLES_SAID ? ` and ${titles.length - TITLES_SAID} more` : ''
    const message = `a plan does not say what its tasks write, so the work of ${titles.slice(0, TITLES_SAID).join(', ')}${more} can change files that a reviewer loads and writ does not find`
    const hint = 'a flow can say it: `writ flow export PLAN --format yaml`'
    return [{ code: 'flow.program_writable', path: '', message, hint }]
  }
  return open.map(({ node_id, check_id }) => {
    const index = flow.nodes.findIndex((node) => node.node_id === node_id)
    const { required_files = [] } = flow.nodes[index] ?? {}
    const makes = required_files.length === 0 ? ['out/**'] : required_files
    const message = `${showName(node_id)} says nothing of what it writes, so its work can change files that the reviewer of ${showName(check_id)} loads and writ does not find`
    const hint = `add what the work makes, such as \`writes: ${JSON.stringify(makes)}\``
    return { code: 'flow.program_writable', path: `/nodes/${index}`, message, hint }
  })
}

function programsOf(files: WorkspaceFiles, node: FlowNode): readonly string[] {
  return namedBy(files, node.kind === 'CHECK' ? node.reviewer : node.executor, [])?.programs ?? []
}

function inRoot(files: WorkspaceFiles, node: FlowNode, index: number): readonly FlowProblem[] {
  if (node.kind !== 'CHECK') return []
  const program = programsOf(files, node).find((path) => !path.includes('/'))
  if (program === undefined) return []
  const message = `the reviewer's program ${showPath(program)} lies in the root of the workspace: no code can be added there, and work cannot change a file that is there when a run begins unless a node has it in \`writes\``
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
