/**
 * The workspace of a test: files by path, the changes that attempts have staged, and what promotions
 * replaced. Nothing of it is on a disk.
 */
import { digestBytes } from '../../base/index.ts'
import {
  type FlowNode,
  matchesPath,
  parseGlob,
  type ScriptedAttempt,
} from '../../contracts/index.ts'
import type { CompiledFlow, CompiledNode } from '../compile/compiled-flow.ts'
import { stagesSeen } from '../runtime/stage.ts'
import type { StageBase } from '../state/command.ts'
import type { RunStage, RunState } from '../state/state.ts'
import { elementAt } from '../state/vector.ts'

/** A text, or null for a file that is not there. */
type FileText = string | null
export type StagedFiles = ReadonlyMap<string, FileText>

/** A file of a test as text: other JSON than a text is written as JSON. */
export function fileText(value: unknown): FileText {
  if (value === null || typeof value === 'string') return value
  return `${JSON.stringify(value, null, 2)}\n`
}

export class TestWorkspace {
  readonly #files = new Map<string, string>()
  readonly #stages = new Map<string, StagedFiles>()
  /** By act: what the files were before it. */
  readonly #before = new Map<string, Map<string, FileText>>()

  write(files: Readonly<Record<string, unknown>>): void {
    for (const [path, value] of Object.entries(files)) this.#put(path, fileText(value))
  }

  #put(path: string, text: FileText): void {
    if (text === null) this.#files.delete(path)
    else this.#files.set(path, text)
  }

  /** Required files of a node that are not there. */
  missing({ document }: CompiledNode, view: readonly StagedFiles[]): readonly string[] {
    return (document.required_files ?? []).filter((path) => this.read(path, view) === null)
  }

  /** The bytes of a file; null where `read` finds none. */
  bytes(path: string, view: readonly StagedFiles[]): Uint8Array | null {
    const text = this.read(path, view)
    return text === null ? null : new TextEncoder().encode(text)
  }

  /** Returns a file as it is seen through stages, the last of which is on top. */
  read(path: string, view: readonly StagedFiles[]): FileText {
    const top = view.findLast((stage) => stage.has(path))
    return top === undefined ? (this.#files.get(path) ?? null) : (top.get(path) ?? null)
  }

  /** The paths of files at a place: the file itself, or what lies in the folder. */
  filesAt(place: string): readonly string[] {
    const inside = `${place}/`
    return [...this.#files.keys()].filter(
      (path) =>
        path === place || (path.startsWith(inside) && !path.slice(inside.length).includes('/')),
    )
  }

  /** Keeps what an attempt changed; returns the manifest that names it. */
  stage(nodeId: string, attempt: number, files: StagedFiles): string {
    const manifest = digestBytes(JSON.stringify([nodeId, attempt, ...files]))
    this.#stages.set(stageKey({ node_id: nodeId, manifest }), files)
    return manifest
  }

  staged(bases: readonly StageBase[]): readonly StagedFiles[] {
    return bases.flatMap((base) => this.#stages.get(stageKey(base)) ?? [])
  }

  /** What a node sees: its own unpromoted stage, or of a CHECK its work's, over those that it was made on. */
  viewOf(flow: CompiledFlow, { nodes }: RunState, named: string): readonly StagedFiles[] {
    const stageOf = (id: string): RunStage | null => {
      const index = flow.nodeIndex.get(id)
      return index === undefined ? null : elementAt(nodes, index).work.stage
    }
    const nodeId = flow.nodes[flow.nodeIndex.get(named) ?? -1]?.document.target ?? named
    const stage = stageOf(nodeId)
    if (stage === null || stage.actionId !== null) return []
    const below = stage.standsOn.filter(({ node_id }) => stageOf(node_id)?.actionId === null)
    return this.staged([...below, { node_id: nodeId, manifest: stage.manifest }])
  }

  /** What a node sees for which no participant runs. */
  viewUnder(flow: CompiledFlow, state: RunState, nodeId: string): readonly StagedFiles[] {
    return this.staged(stagesSeen(flow, state, nodeId))
  }

  promote(actionId: string, base: StageBase): void {
    const before = new Map<string, FileText>()
    for (const [path, text] of this.staged([base])[0] ?? []) {
      before.set(path, this.#files.get(path) ?? null)
      this.#put(path, text)
    }
    this.#before.set(actionId, before)
  }

  rollBack(actionId: string): void {
    for (const [path, text] of this.#before.get(actionId) ?? []) this.#put(path, text)
    this.#before.delete(actionId)
  }
}

function stageKey({ node_id, manifest }: StageBase): string {
  return `${manifest}\n${node_id}`
}

/** What an attempt writes; without a word about it, the files that its node requires. */
export function writtenFiles(
  { required_files = [], node_id }: FlowNode,
  { files }: ScriptedAttempt,
  attempt: number,
): readonly (readonly [path: string, text: FileText])[] {
  const usual = required_files.map(
    (path) => [path, `What ${node_id} made in attempt ${attempt}.\n`] as const,
  )
  if (files === undefined) return usual
  return Object.entries(files).map(([path, value]) => [path, fileText(value)] as const)
}

/** Returns whether a node declares to write a path. */
export function isDeclared({ writes = ['**'] }: FlowNode, path: string): boolean {
  return writes.some((pattern) => {
    const glob = parseGlob(`/${pattern}`)
    return glob !== null && matchesPath(glob, `/${path}`)
  })
}
