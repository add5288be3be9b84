/**
 * The documents that participants get (F-12b): what the flow and the node say, what earlier nodes left,
 * and for a reviewer what it judges by. Participants elsewhere also get texts, up to a limit; a program
 * reads the files itself.
 */
import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'
import { digestBytes } from '../base/index.ts'
import { APPROVE_SCORE_MIN, type FlowNode, type NodeInput } from '../contracts/index.ts'
import {
  type CompiledFlow,
  type CompiledNode,
  decideAccess,
  elementAt,
  type FlowCommand,
  type RunState,
} from '../flow/index.ts'
import { changedArtifact } from './files/recorded-artifacts.ts'

export type RunCommand = Extract<FlowCommand, { type: 'run_participant' }>

/** What is asked again about the same attempt, and why. */
export interface Again {
  readonly ask: number
  readonly errors: readonly unknown[]
}

/** What the run has of the workspace for this participant. */
interface InputFiles {
  /** A file as the participant itself finds it; null when there is none. Fails for an artifact that changed. */
  readonly read: (path: string) => Promise<Uint8Array | null>
  /** The digest of a file as a node left it; null if it left none, or a later node changed it. */
  readonly left: (nodeId: string, path: string) => Promise<string | null>
  /** What the judged work changed, relative to the workspace. */
  readonly judged: readonly string[]
}

interface ParticipantInput {
  readonly document: Readonly<Record<string, unknown>>
  /** What the node has to be given and is not there, in words; null when nothing is missing. */
  readonly missing: string | null
}

interface Asked {
  readonly flow: CompiledFlow
  readonly state: RunState
  readonly node: CompiledNode
  readonly command: RunCommand
  readonly isRemote: boolean
  readonly files: InputFiles
}

/** The most of one text that is sent to a participant elsewhere. */
const TEXT_BYTES_MAX = 256 * 1024
/** Of so many files of the judged work texts are sent; the others are named. */
const FILES_MAX = 64

export async function participantInput(
  asked: Asked,
  again: Again | null,
): Promise<ParticipantInput> {
  const { flow, state, node, command } = asked
  const { caller, signals } = command
  const head = {
    run_id: state.runId,
    flow: flowView(flow),
    node: nodeView(node),
    attempt: command.attempt,
    ...flow.items.get(node.index),
    ...(caller === undefined ? {} : { caller }),
    ...(signals === undefined ? {} : { signals }),
  }
  const lastError = again === null ? command.input.last_error : again.errors
  const errors = lastError === null || lastError === undefined ? {} : { last_error: lastError }
  const named = await namedInputs(asked)
  const missing = missingOf(named)
  if (command.review !== null) {
    const inputs = named.length === 0 ? {} : { inputs: named }
    const document = { ...head, ...(await reviewInput(asked)), ...inputs, ...errors }
    return { document, missing }
  }
  const { previous_output_path: previous, last_review: review } = command.input
  const document = {
    ...head,
    inputs: [...(await inputsOf(asked)), ...named],
    ...(previous === null ? {} : { previous_output_path: previous }),
    ...(review === null ? {} : { last_review: review }),
    ...errors,
  }
  return { document, missing }
}

function flowView({ document }: CompiledFlow): unknown {
  const { flow_id, title, goal, constraints } = document
  return {
    flow_id,
    title,
    ...(goal === undefined ? {} : { goal }),
    ...(constraints === undefined ? {} : { constraints }),
  }
}

/** The node without its participants and without what is looked up for them. */
function nodeView({ document }: CompiledNode): unknown {
  const { executor: _executor, reviewer: _reviewer, inputs: _inputs, ...rest } = document
  return rest
}

async function reviewInput(asked: Asked): Promise<Readonly<Record<string, unknown>>> {
  const { flow, state, command, isRemote } = asked
  if (command.review === null) return {}
  const { review_id, target, artifact_path: path, artifact_digest: digest } = command.review
  const subject = flow.nodes[flow.nodeIndex.get(target) ?? -1]
  const artifact =
    subject === undefined ? null : elementAt(state.nodes, subject.index).work.artifact
  const isSent = isRemote && path !== null && mayRead(asked, path) && artifact !== null
  const content = isSent ? { content: artifact.content } : {}
  // Fails if the reviewer would find another one than its pins are of.
  if (path !== null) await asked.files.read(path)
  return {
    review_id,
    artifact_digest: digest,
    artifact: path === null ? null : { id: target, path, digest, ...content },
    criteria: criteriaOf(subject?.document),
    files: await judgedFiles(asked, path),
  }
}

/** By what the work is judged: what its node says about it. */
function criteriaOf(judged: FlowNode | undefined): unknown {
  const { title = '', required_files = [], criteria = [] } = judged ?? {}
  const { description, instructions, details } = judged ?? {}
  return {
    score_min: APPROVE_SCORE_MIN,
    title,
    ...(description === undefined ? {} : { description }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(details === undefined ? {} : { details }),
    criteria,
    required_files,
  }
}

/** Without the artifact, which has its own field. A program gets paths, others the texts too. */
async function judgedFiles(asked: Asked, artifactPath: string | null): Promise<readonly unknown[]> {
  const paths = asked.files.judged.filter((path) => path !== artifactPath && mayRead(asked, path))
  if (!asked.isRemote) return paths.map((path) => ({ path }))
  return Promise.all(
    paths.map(async (path, index) => {
      const bytes = index < FILES_MAX ? await asked.files.read(path) : null
      return bytes === null ? { path } : { path, ...fileView(bytes, path, true) }
    }),
  )
}

function mayRead({ flow, node }: Asked, path: string): boolean {
  return decideAccess(flow.document, node.document.actor, path, 'read').isAllowed
}

/** Artifacts of the nodes that led here, as far as the actor may read them; those with a name follow. */
async function inputsOf(asked: Asked): Promise<readonly unknown[]> {
  const { flow, state, node } = asked
  const { inputs = [] } = node.document
  const named = new Set(inputs.flatMap(({ from, file }) => (file === undefined ? [from] : [])))
  const subjects = node.incoming.flatMap((edge) => {
    if (elementAt(state.fired, edge.index) === 0) return []
    if (edge.isCall && elementAt(state.nodes, node.index).call !== edge.index) return []
    return madeBy(flow, edge.source)
  })
  const found: unknown[] = []
  for (const subject of subjects) {
    const node_id = flow.nodes[subject]?.document.node_id ?? ''
    const view = named.has(node_id) ? null : await artifactView(asked, node_id)
    if (view !== null && !('is_withheld' in view)) found.push({ node_id, ...view })
  }
  return found
}

/** The nodes whose artifacts come over an edge from a node: of a CHECK its work, of a map its items. */
function madeBy(flow: CompiledFlow, source: number): readonly number[] {
  const { target = -1, incoming = [] } = flow.nodes[source] ?? {}
  if (target !== -1) return [target]
  const map = flow.maps.find(
    ({ join, begin, followers }) =>
      join === source || begin === source || followers.includes(source),
  )
  if (map === undefined) return [source]
  if (map.begin !== source) return lastsOf(map)
  // What led to the list leads to each item.
  return incoming.flatMap((edge) => (edge.isForward ? madeBy(flow, edge.source) : []))
}

function lastsOf({ items, count }: CompiledFlow['maps'][number]): readonly number[] {
  return items.slice(0, count ?? 0).map(({ last }) => last)
}

type View = Readonly<Record<string, unknown>>

/** What the node asks for by name, in its order. */
function namedInputs(asked: Asked): Promise<readonly View[]> {
  const inputs = asked.node.document.inputs ?? []
  return Promise.all(
    inputs.map(async (input) => ({ ...nameOf(input), ...(await viewOf(asked, input)) })),
  )
}

function nameOf({ as: name, from }: NodeInput): View {
  return { name, node_id: from }
}

async function viewOf(asked: Asked, { from, file, optional }: NodeInput): Promise<View> {
  const absent = optional === true ? { path: null } : { path: null, is_missing: true }
  if (file === undefined)
    return (await itemViews(asked, from)) ?? (await artifactView(asked, from)) ?? absent
  if (!mayRead(asked, file)) return WITHHELD
  const bytes = await asked.files.read(file)
  const digest = bytes === null ? null : await asked.files.left(from, file)
  if (bytes !== null && digest !== null && digestBytes(bytes) !== digest)
    throw changedArtifact(file, { nodeId: from, digest }, bytes)
  return bytes === null
    ? { ...absent, file }
    : { path: file, ...fileView(bytes, file, asked.isRemote) }
}

/** What the items of a mapped node are, each with its artifact; null for another node. */
async function itemViews(asked: Asked, nodeId: string): Promise<View | null> {
  const { flow, state } = asked
  const map = flow.maps.find((one) => one.nodeId === nodeId)
  if (map === undefined) return null
  const items: unknown[] = []
  for (const last of lastsOf(map)) {
    const node_id = flow.nodes[last]?.nodeId ?? ''
    const { title = '' } = flow.nodes[last]?.document ?? {}
    const { status } = elementAt(state.nodes, last)
    const item = flow.items.get(last)
    items.push({ node_id, title, status, ...item, ...(await artifactView(asked, node_id)) })
  }
  return { path: null, items }
}

/** An access rule keeps it from the actor. */
const WITHHELD = { path: null, is_withheld: true } as const

const NO_WORK = { artifact: null, stage: null } as const

/** What a node handed in last; null if it handed in nothing. */
async function artifactView(asked: Asked, nodeId: string): Promise<View | null> {
  const { flow, state, isRemote } = asked
  const index = flow.nodeIndex.get(nodeId)
  const { artifact, stage } = index === undefined ? NO_WORK : elementAt(state.nodes, index).work
  if (artifact === null) return null
  const { path, digest, format, content } = artifact
  if (!mayRead(asked, path)) return WITHHELD
  // Fails if the participant would find another one. The file of work that was rejected is gone.
  const bytes = await asked.files.read(path)
  if (bytes === null && stage !== null && stage.actionId !== null)
    throw changedArtifact(path, { nodeId, digest }, null)
  const text = isRemote ? cutText(content) : {}
  return { path, digest, format, media_type: mediaTypeOf(path), ...text }
}

function fileView(bytes: Uint8Array, path: string, isSent: boolean): View {
  const text = isSent && isUtf8(bytes) ? cutText(new TextDecoder().decode(bytes)) : {}
  return {
    digest: digestBytes(bytes),
    media_type: mediaTypeOf(path),
    bytes: bytes.length,
    ...text,
  }
}

/** A text that is cut says so: its digest is of the whole. */
function cutText(text: string): View {
  const bytes = Buffer.from(text)
  if (bytes.length <= TEXT_BYTES_MAX) return { content: text }
  const content = new TextDecoder()
    .decode(bytes.subarray(0, TEXT_BYTES_MAX))
    .replace(/\uFFFD+$/, '')
  return { content, is_cut: true }
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.txt': 'text/plain',
  '.json': 'application/json',
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.ts': 'text/x-typescript',
  '.csv': 'text/csv',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.svg': 'image/svg+xml',
  '.pdf': 'application/pdf',
}

function mediaTypeOf(path: string): string {
  return MEDIA_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream'
}

function missingOf(named: readonly View[]): string | null {
  const lacking = named.find((view) => view['is_missing'] === true || view['is_withheld'] === true)
  if (lacking === undefined) return null
  const what = `the input ${JSON.stringify(lacking['name'])} from ${JSON.stringify(lacking['node_id'])}`
  if (lacking['is_withheld'] === true) return `${what} is kept from this actor by an access rule`
  return `${what} is not there${lacking['file'] === undefined ? '' : `: no file ${JSON.stringify(lacking['file'])}`}`
}
