/** The stages of a run by what its facts call them: node and manifest, and by which id the gate knows them. */
import {
  type CompiledFlow,
  elementAt,
  type FlowFact,
  type ReviewPin,
  type RunState,
  type StageBase,
} from '../flow/index.ts'
import type { FlowRun } from './run.ts'
import { ownPath } from './run-files.ts'
import type { WalkedRun } from './runs.ts'

interface KnownStage {
  readonly actionId: string
  /** Relative to the workspace. */
  readonly paths: readonly string[]
  readonly seq: number
}

export class Stages {
  readonly #known = new Map<string, KnownStage>()
  readonly #ofNode = new Map<string, Set<string>>()

  /** Facts are handed in as they come. */
  observe({ type, payload }: FlowFact): void {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') return
    const { event } = payload
    if (event.type !== 'attempt_ended' || event.stage === null) return
    const { manifest, action_id: actionId, paths = [] } = event.stage
    if (actionId === undefined) return
    this.#known.set(key(event.node_id, manifest), { actionId, paths, seq: payload.seq })
    const ids = this.#ofNode.get(event.node_id) ?? new Set()
    this.#ofNode.set(event.node_id, ids.add(actionId))
  }

  find({ node_id, manifest }: StageBase): KnownStage | null {
    return this.#known.get(key(node_id, manifest)) ?? null
  }

  /** Every attempt of a node that left a stage. */
  ofNode(nodeId: string): readonly string[] {
    return [...(this.#ofNode.get(nodeId) ?? [])]
  }

  /** What nodes have staged now and is not promoted. */
  present(flow: CompiledFlow, state: RunState): ReadonlySet<string> {
    const found = new Set<string>()
    for (const { index, document } of flow.nodes) {
      const { stage } = elementAt(state.nodes, index).work
      if (stage === null || stage.actionId !== null) continue
      const known = this.find({ node_id: document.node_id, manifest: stage.manifest })
      if (known !== null) found.add(known.actionId)
    }
    return found
  }

  /** Ids of what lies under a view, in the order of promotion. */
  bases(below: readonly StageBase[]): readonly string[] {
    return below.flatMap((base) => this.find(base)?.actionId ?? [])
  }

  /** The stages, unpromoted, that a node's own view is made of, its own the last; of a CHECK, its work's. */
  viewOf(flow: CompiledFlow, state: RunState, named: string): readonly string[] {
    const nodeId = flow.nodes[flow.nodeIndex.get(named) ?? -1]?.document.target ?? named
    const index = flow.nodeIndex.get(nodeId)
    const stage = index === undefined ? null : elementAt(state.nodes, index).work.stage
    if (stage === null || stage.actionId !== null) return []
    const below = stage.standsOn.filter(({ node_id }) => isUnpromoted(flow, state, node_id))
    return this.bases([...below, { node_id: nodeId, manifest: stage.manifest }])
  }

  /** Returns the node whose unpromoted stage changes a path, the latest one; null if there is none. */
  holderOf(flow: CompiledFlow, state: RunState, path: string): string | null {
    let found: { readonly nodeId: string; readonly seq: number } | null = null
    for (const { index, document } of flow.nodes) {
      const { stage } = elementAt(state.nodes, index).work
      if (stage === null || stage.actionId !== null) continue
      const known = this.find({ node_id: document.node_id, manifest: stage.manifest })
      if (known === null || !known.paths.includes(path)) continue
      if (found === null || found.seq < known.seq)
        found = { nodeId: document.node_id, seq: known.seq }
    }
    return found?.nodeId ?? null
  }

  /** What the present stage of a node changed, promoted or not. */
  changedBy(flow: CompiledFlow, state: RunState, index: number): readonly string[] {
    const { stage } = elementAt(state.nodes, index).work
    const node_id = flow.nodes[index]?.document.node_id ?? ''
    return stage === null ? [] : (this.find({ node_id, manifest: stage.manifest })?.paths ?? [])
  }

  /** What the work changed that a reviewer judges; nothing where nothing is judged. */
  judgedBy(flow: CompiledFlow, state: RunState, review: ReviewPin | null): readonly string[] {
    const judged = review === null ? undefined : flow.nodeIndex.get(review.target)
    return judged === undefined ? [] : this.changedBy(flow, state, judged)
  }

  /** Paths that attempts changed which ended behind this fact. */
  pathsSince(seq: number): ReadonlySet<string> {
    const later = [...this.#known.values()].filter((stage) => stage.seq > seq)
    return new Set(later.flatMap(({ paths }) => paths))
  }
}

const CHANGED_MAX = 200

interface JudgedFiles {
  readonly changed?: readonly string[]
  readonly changed_count?: number
}

/** The files that judged work changed, for the record of its review. */
export function judgedFiles(
  { stages, flow, state }: Pick<WalkedRun, 'flow' | 'state'> & { readonly stages: Stages },
  { review }: { readonly review: ReviewPin | null },
): JudgedFiles {
  if (review === null) return {}
  const paths = stages.judgedBy(flow, state, review)
  return { changed: paths.slice(0, CHANGED_MAX), changed_count: paths.length }
}

/** Returns the files that a person is asked to judge, but for the artifact, which is a body of the home. */
export function filesAskedAbout(
  { flow, state, facts }: Pick<WalkedRun, 'flow' | 'state' | 'facts'>,
  review: ReviewPin,
): readonly string[] {
  const stages = new Stages()
  for (const fact of facts) stages.observe(fact)
  const { artifact_path: artifact } = review
  return stages.judgedBy(flow, state, review).filter((path) => path !== artifact)
}

/** The act that holds what a node changed last, promoted or not; null when it changed nothing. */
export function stagedBy(
  { flow, state, facts }: Pick<WalkedRun, 'flow' | 'state' | 'facts'>,
  nodeId: string,
): string | null {
  const index = flow.nodeIndex.get(nodeId)
  const stage = index === undefined ? null : elementAt(state.nodes, index).work.stage
  if (stage === null) return null
  const stages = new Stages()
  for (const fact of facts) stages.observe(fact)
  return stages.find({ node_id: nodeId, manifest: stage.manifest })?.actionId ?? null
}

/** Files as a participant over these stages finds them, and as nodes left them. */
export function filesUnder(run: FlowRun, view: readonly string[]) {
  return {
    read: (path: string) => run.readFile(path, view),
    left: (nodeId: string, path: string) => leftBy(run, nodeId, path),
  }
}

/** The digest of a file as a node left it last; null if it left none, or a later attempt changed it. */
async function leftBy(
  { flow, state, stages, options }: FlowRun,
  nodeId: string,
  named: string,
): Promise<string | null> {
  const index = flow.nodeIndex.get(nodeId)
  const stage = index === undefined ? null : elementAt(state.nodes, index).work.stage
  const known = stage && stages.find({ node_id: nodeId, manifest: stage.manifest })
  const path = ownPath(named, state.artifacts)
  if (!known?.paths.includes(path) || stages.pathsSince(known.seq).has(path)) return null
  return options.host.attempts.leftDigest(known.actionId, `${options.workspace}/${path}`)
}

function isUnpromoted(flow: CompiledFlow, state: RunState, nodeId: string): boolean {
  const index = flow.nodeIndex.get(nodeId)
  const stage = index === undefined ? null : elementAt(state.nodes, index).work.stage
  return stage !== null && stage.actionId === null
}

function key(nodeId: string, manifest: string): string {
  return `${manifest}\n${nodeId}`
}
