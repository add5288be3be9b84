/**
 * The intent of a proposal (G-18): two proposals that want the same have the same intent. Ids, times
 * and wording are no part of it. The intent of a composite holds the intents of its children.
 */
import { type Digest, digestDocument } from '../../base/index.ts'
import type { Proposal } from './proposal.ts'

/** The document whose digest is the intent. */
export function intentOf(proposal: Proposal): Readonly<Record<string, unknown>> {
  const { action_type, scope, effects } = proposal.descriptor
  if (proposal.children !== undefined) {
    return { action_type, scope, effects, children: proposal.children.map(intentOf) }
  }
  return { action_type, scope, effects, operation: proposal.operation }
}

export function intentDigest(proposal: Proposal): Digest {
  return digestDocument(intentOf(proposal))
}
