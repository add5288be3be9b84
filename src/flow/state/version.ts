/**
 * The version of work that a CHECK judges: the artifact together with the changes that are staged. The digest
 * of the artifact alone says nothing about the files that the same attempt wrote.
 */
import { digestDocument } from '../../base/index.ts'
import type { ReviewPin } from './command.ts'
import type { WorkState } from './state.ts'

/**
 * Returns the digest of the artifact of some work, its stage and the stages under that; null if it has left
 * nothing. By rules before version 6 it is the digest of the artifact.
 */
export function versionOf(
  { artifact, stage }: Pick<WorkState, 'artifact' | 'stage'>,
  rules: number,
): string | null {
  if (rules < 6 || (artifact === null && stage === null)) return artifact?.digest ?? null
  const { manifest = null, standsOn = [] } = stage ?? {}
  return digestDocument({ artifact: artifact?.digest ?? null, manifest, stands_on: standsOn })
}

/** Returns the version that a review was asked about; null if the work had left nothing. */
export function pinnedVersion(pin: ReviewPin | null): string | null {
  return pin?.version ?? pin?.artifact_digest ?? null
}
