/**
 * Claims and what they are worth (F-6). The host computes the status; whatever a file or a participant
 * says about it is where a claim begins.
 *
 * INVARIANT (another's word): only evidence of another principal and of another participant counts, and
 * participants are told apart by digest, so that a second name for the same one verifies nothing.
 */
import type { Claim } from '../../contracts/index.ts'
import type { ClaimState } from './state.ts'

export interface ClaimStanding {
  readonly claim_id: string
  readonly node_id: string
  readonly trust_level: Claim['trust_level']
  readonly verification_status: Claim['verification_status']
  readonly evidence_ids: readonly string[]
}

/** One independent contradiction outweighs any support. */
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

/** Nobody declares himself verified. */
function unverifiedLevel({ trust_level }: Claim): Claim['trust_level'] {
  return trust_level === 'verified_independent' ? 'external_unverified' : trust_level
}

export function unverifiedClaims(claims: readonly ClaimState[]): readonly ClaimStanding[] {
  return claims
    .map(standingOf)
    .filter(({ verification_status }) => verification_status !== 'verified')
}
