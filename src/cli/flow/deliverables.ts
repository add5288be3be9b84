/**
 * Approved deliverables as files: of each node the last version that was approved, byte for byte as it
 * was reviewed, and a manifest with their digests.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { canonicalJson, digestBytes } from '../../base/index.ts'
import { artifactsOf } from '../../flow/index.ts'
import type { WalkedRun } from '../../runs/index.ts'
import { contentsByDigest } from './report-parts.ts'

interface Delivered {
  readonly run_id: string
  readonly flow_id: string
  readonly flow_digest: string
  readonly files: readonly {
    readonly path: string
    readonly node_id: string
    readonly bytes: number
    readonly sha256: string
  }[]
  /** What was approved and is not kept any more; absent when everything is there. */
  readonly missing?: readonly {
    readonly path: string
    readonly node_id: string
    readonly sha256: string
  }[]
}

const MANIFEST = 'manifest.json'

export async function exportDeliverables(
  { runId, flow, facts }: WalkedRun,
  folder: string,
): Promise<Delivered> {
  const contents = contentsByDigest(facts)
  const files = []
  const missing = []
  for (const { node_id, approved } of artifactsOf(flow, facts)) {
    if (approved === null) continue
    // Paths of artifacts lead nowhere else: they were refused when they did. All are of one run.
    const path = approved.path.replace(/^artifacts\/(?:run-[0-9a-f-]+\/)?/, '')
    const content = contents.get(approved.digest)
    if (content === undefined) {
      missing.push({ path, node_id, sha256: approved.digest })
      continue
    }
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
    const bytes = new TextEncoder().encode(content)
    files.push({ path, node_id, bytes: bytes.length, sha256: digestBytes(bytes) })
  }
  const { flow_id } = flow.document
  const made: Delivered = {
    run_id: runId,
    flow_id,
    flow_digest: flow.digest,
    files,
    ...(missing.length === 0 ? {} : { missing }),
  }
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, MANIFEST), `${canonicalJson(made)}\n`)
  return made
}
