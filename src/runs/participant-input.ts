/** The documents that participants get (F-12b). */
import { APPROVE_SCORE_MIN } from '../contracts/index.ts'
import {
  type CompiledFlow,
  type CompiledNode,
  decideAccess,
  elementAt,
  type FlowCommand,
  type RunState,
} from '../flow/index.ts'

export type RunCommand = Extract<FlowCommand, { type: 'run_participant' }>

/** What is asked again about the same attempt, and why. */
export interface Again {
  readonly ask: number
  readonly errors: readonly unknown[]
}

export function participantInput(
  flow: CompiledFlow,
  state: RunState,
  node: CompiledNode,
  command: RunCommand,
  again: Again | null,
  isRemote: boolean,
): Readonly<Record<string, unknown>> {
  const { caller } = command
  const called = caller === undefined ? {} : { caller }
  const head = { run_id: state.runId, node: nodeView(node), attempt: command.attempt, ...called }
  const lastError = again === null ? command.input.last_error : again.errors
  const errors = lastError === null || lastError === undefined ? {} : { last_error: lastError }
  if (command.review !== null)
    return { ...head, ...reviewInput(flow, state, node, command, isRemote), ...errors }
  const { previous_output_path: previous, last_review: review } = command.input
  return {
    ...head,
    inputs: inputsOf(flow, state, node, isRemote),
    ...(previous === null ? {} : { previous_output_path: previous }),
    ...(review === null ? {} : { last_review: review }),
    ...errors,
  }
}

function nodeView({ document }: CompiledNode): unknown {
  const { executor: _executor, reviewer: _reviewer, ...rest } = document
  return rest
}

function reviewInput(
  flow: CompiledFlow,
  state: RunState,
  node: CompiledNode,
  { review }: RunCommand,
  isRemote: boolean,
): Readonly<Record<string, unknown>> {
  if (review === null) return {}
  const { review_id, target, artifact_path: path, artifact_digest: digest } = review
  const subject = flow.nodes[flow.nodeIndex.get(target) ?? -1]
  const artifact =
    subject === undefined ? null : elementAt(state.nodes, subject.index).work.artifact
  const mayRead =
    path !== null && decideAccess(flow.document, node.document.actor, path, 'read').isAllowed
  const content = isRemote && mayRead && artifact !== null ? { content: artifact.content } : {}
  return {
    review_id,
    artifact_digest: digest,
    artifact: path === null ? null : { id: target, path, digest, ...content },
    criteria: {
      score_min: APPROVE_SCORE_MIN,
      title: subject?.document.title ?? '',
      required_files: subject?.document.required_files ?? [],
    },
  }
}

/** Artifacts of the nodes that led here, as far as the actor may read them. */
function inputsOf(
  flow: CompiledFlow,
  state: RunState,
  node: CompiledNode,
  isRemote: boolean,
): readonly unknown[] {
  return node.incoming.flatMap((edge) => {
    if (elementAt(state.fired, edge.index) === 0) return []
    if (edge.isCall && elementAt(state.nodes, node.index).call !== edge.index) return []
    const source = flow.nodes[edge.source]
    const subject = source === undefined || source.target === -1 ? edge.source : source.target
    const { artifact } = elementAt(state.nodes, subject).work
    if (artifact === null) return []
    const { path, digest, format, content } = artifact
    if (!decideAccess(flow.document, node.document.actor, path, 'read').isAllowed) return []
    const node_id = flow.nodes[subject]?.document.node_id ?? ''
    return [{ node_id, path, digest, format, ...(isRemote ? { content } : {}) }]
  })
}
