/**
 * Which questions may be answered together: those of one actor whose acts have the same kind and class,
 * ask for the same reasons, and need the same proof. Two questions differ in shape if only one of them
 * has a deletion, a failure or some finding.
 */
import { type Digest, digestDocument } from '../../base/index.ts'
import type { Decision, Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import { effectClasses } from '../admission/risk.ts'
import type { Need } from './confirmation.ts'

export function questionShape(
  proposal: Proposal,
  { actor_kind, basis, door }: Evaluation,
  { diff, execution, findings }: SandboxResult,
  { codes, law_refs, approvals = 1 }: Decision,
  need: Need,
): Digest {
  const { added, modified, deleted } = diff.counts
  return digestDocument([
    actor_kind,
    basis?.actor ?? '',
    door,
    proposal.descriptor.action_type,
    [...effectClasses(proposal)].sort(),
    [added > 0, modified > 0, deleted > 0],
    execution.status,
    [...new Set(findings.map(({ code }) => code))].sort(),
    [...new Set(codes)].sort(),
    [...new Set(law_refs)].sort(),
    need,
    approvals,
  ])
}
