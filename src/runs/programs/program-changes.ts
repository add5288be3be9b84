/**
 * What a migration pins otherwise than the run did, with the bytes of both versions for a person to look
 * at. Bytes of pinned programs are kept by their digest; large ones, and those of earlier runs, are not.
 */
import { faultCode, isDigest } from '../../base/index.ts'
import type { PinnedFile, ProgramChange } from '../../flow/index.ts'
import type { Ledger, LedgerReader } from '../../store/index.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

/** A larger file is no text that a person reads through. */
const KEPT_BYTES_MAX = 256 * 1024
const KEPT_FILES_MAX = 500

export function programChanges(
  before: readonly PinnedFile[],
  after: readonly PinnedFile[],
): readonly ProgramChange[] {
  const old = new Map(before.map(({ path, digest }) => [path, digest]))
  const now = new Map(after.map(({ path, digest }) => [path, digest]))
  return [...new Set([...old.keys(), ...now.keys()])]
    .sort()
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }))
    .filter((change) => change.before !== change.after)
}

/** Keeps the bytes of pinned files, so that a later migration can show what differs from them. */
export async function keepPrograms(
  { objects }: Pick<Ledger, 'objects'>,
  files: WorkspaceFiles,
  pins: readonly PinnedFile[],
): Promise<void> {
  for (const { path, digest } of pins.slice(0, KEPT_FILES_MAX)) {
    const bytes = files.bytes(path)
    if (bytes === null || bytes.length > KEPT_BYTES_MAX) continue
    // A file that is changed at this moment is not the one that was pinned.
    if (isDigest(digest) && files.digest(path) === digest) await objects.put({ digest, bytes })
  }
}

/** The text of a pinned file; null where it is not kept, or no text. */
export async function keptText(
  { objects }: Pick<LedgerReader, 'objects'>,
  digest: string | null,
): Promise<string | null> {
  if (digest === null || !isDigest(digest)) return null
  try {
    return textOf(await objects.get(digest))
  } catch (error) {
    if (faultCode(error) === 'body.missing') return null
    throw error
  }
}

export function textOf(bytes: Uint8Array | null): string | null {
  if (bytes === null || bytes.length > KEPT_BYTES_MAX) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
