/**
 * The artifacts of a run as its facts record them, by path (F-5c).
 *
 * INVARIANT (by digest): a file in the place of an artifact is handed on only if its bytes have the digest
 * that was recorded when its node handed it in.
 */
import { digestBytes, FaultError, fault, showName, showPath } from '../../base/index.ts'
import type { FlowFact, HostFinding } from '../../flow/index.ts'

interface RecordedArtifact {
  readonly nodeId: string
  readonly digest: string
}

export class RecordedArtifacts {
  readonly #known = new Map<string, RecordedArtifact>()

  /** Facts are handed in as they come. */
  observe({ type, payload }: FlowFact): void {
    if (type !== 'flow_event_v1' || payload.kind !== 'artifact') return
    const { path, node_id: nodeId, digest } = payload
    this.#known.set(path, { nodeId, digest })
  }

  /**
   * Returns the bytes; fails if the path is of an artifact and they are not what was handed in. The file of
   * work that was rejected or undone is gone: null is returned as it is.
   */
  checked(path: string, bytes: Uint8Array | null): Uint8Array | null {
    const recorded = this.#known.get(path)
    if (recorded === undefined || bytes === null) return bytes
    if (digestBytes(bytes) === recorded.digest) return bytes
    throw changedArtifact(path, recorded, bytes)
  }
}

/** `bytes` are null where the file is gone. */
export function changedArtifact(
  path: string,
  { nodeId, digest }: RecordedArtifact,
  bytes: Uint8Array | null,
) {
  const found = bytes === null ? 'nothing' : digestBytes(bytes)
  const details = { made_by: nodeId, recorded: digest, found }
  const message = `${showPath(path)} is not what the node ${showName(nodeId)} handed in: recorded ${digest}, found ${found}`
  return new FaultError(fault('flow.artifact_changed', path, details, { message }))
}

/** Returns what stops a node that would be handed a changed artifact; null for any other error. */
export function changedFinding(error: unknown): HostFinding | null {
  if (!(error instanceof FaultError) || error.fault.code !== 'flow.artifact_changed') return null
  const { code, at: path, details } = error.fault
  return { code, path, ...details }
}
