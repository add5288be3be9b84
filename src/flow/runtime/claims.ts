/**
 * Computes the trust level and the status of claims (F-6) from their evidence. The status that a file
 * or a participant gives does not count.
 *
 * INVARIANT (another's word): only evidence of another principal and of another participant counts.
 * Participants are compared by digest, so that a second name for the same one verifies nothing.
 */
import type { Claim } from '../../contracts/index.ts'
import type { ClaimState } from '../state/state.ts'

export interface ClaimStanding {
  readonly claim_id: string
  readonly node_id: string
  readonly trust_level: Claim['trust_level']
  readonly verification_status: Claim['verification_status']
  readonly evidence_ids: readonly string[]
}

/** Returns the standing of a claim. One independent contradiction outweighs any support. */
export function standingOf({ claim, principal, participant, evidence }: ClaimState): ClaimStanding {
  const independent = evidence.filter(
    (one) =>
      one.principal !== principal && (one.participant === null || one.participant !== participant),
  )
  const isDenied = independent.some(({ supports }) => !supports)
  const isVerified = !isDenied && independent.length > 0
  return {
    claim_id: claim.claim_id,
    node_id: claim.node_id,
    trust_level: isVerified ? 'verified_independent' : unverifiedLevel(claim),
    verification_status: isDenied ? 'rejected' : isVerified ? 'verified' : 'pending',
    evidence_ids: [
      ...new Set([...claim.evidence_ids, ...evidence.map(({ evidenceId }) => evidenceId)]),
    ],
  }
}

/** Lowers a declared `verified_independent`: only independent evidence verifies a claim. */
function unverifiedLevel({ trust_level }: Claim): Claim['trust_level'] {
  return trust_level === 'verified_independent' ? 'external_unverified' : trust_level
}

export function unverifiedClaims(claims: readonly ClaimState[]): readonly ClaimStanding[] {
  return claims
    .map(standingOf)
    .filter(({ verification_status }) => verification_status !== 'verified')
}
