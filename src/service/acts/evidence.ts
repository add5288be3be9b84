/**
 * Keeps screenshots as evidence: their bytes become bodies under the digests that the result's diff
 * names, whether or not the act is promoted. A screenshot that is too large for a body is only a file.
 */
import { closeSync, fstatSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { digestBytes } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import { type Change, leavesOf, textOfRaw } from '../../gate/index.ts'
import { openEntry } from '../../machine/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import type { ObjectStore } from '../../store/index.ts'

const BYTES_MAX = 16 * 1024 * 1024

export async function keepEvidence(
  proposal: Proposal,
  changes: readonly Change[],
  layers: readonly Layer[],
  objects: Pick<ObjectStore, 'put'>,
): Promise<void> {
  const wanted = screenshotPaths(proposal)
  if (wanted.size === 0) return
  for (const { path, after } of changes) {
    const text = textOfRaw(path)
    if (text === null || after?.kind !== 'file' || after.size > BYTES_MAX || !wanted.has(text))
      continue
    const bytes = readStaged(text, layers)
    const digest = bytes === null ? null : digestBytes(bytes)
    if (bytes !== null && digest !== null && digest === after.digest)
      await objects.put({ digest, bytes })
  }
}

function screenshotPaths(proposal: Proposal): ReadonlySet<string> {
  const paths = leavesOf(proposal).flatMap(({ proposal: { operation } }) =>
    operation?.type === 'UI_AUTOMATION'
      ? operation.steps.flatMap((step) => (step.action === 'screenshot' ? [step.save_to] : []))
      : [],
  )
  return new Set(paths)
}

/** From the layer itself, without following a link that the run may have left. */
function readStaged(path: string, layers: readonly Layer[]): Buffer | null {
  const inner = [...layers].sort((one, other) => other.root.length - one.root.length)
  const layer = inner.find(({ root }) => path.startsWith(`${root}/`))
  if (layer === undefined) return null
  const file = join(layer.merged, relative(layer.root, path))
  try {
    const handle = openEntry(file, 'read')
    try {
      return fstatSync(handle).isFile() ? readFileSync(handle) : null
    } finally {
      closeSync(handle)
    }
  } catch {
    return null
  }
}
