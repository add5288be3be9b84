/** What is known of a proposal on its way: admitted, then decided. */
import type { Digest } from '../base/index.ts'
import type {
  Decision,
  Evaluation,
  Promotion,
  Proposal,
  SandboxResult,
  Violation,
} from '../contracts/index.ts'
import type { Change, HeldMark, Manifest } from '../gate/index.ts'
import type { ProposeOptions } from './surface.ts'

/** What became of a proposal before anybody was asked or anything was promoted. */
export interface Decided {
  readonly actionId: string
  readonly proposal: Proposal | null
  readonly proposalDigest: Digest
  readonly evaluation: Evaluation
  readonly result: SandboxResult | null
  readonly decision: Decision
  readonly changes: readonly Change[]
  /** The manifest of the diff as it was written; absent where it was read from the ledger. */
  readonly known?: Manifest & { readonly digest: Digest }
  readonly violations: readonly Violation[]
  /** When there was nothing to promote, that is a fact already. */
  readonly promotion: Promotion | null
}

export type KnownAct = Pick<Decided, 'proposal' | 'result' | 'decision' | 'evaluation' | 'changes'>

/** Returns an act that was decided before, as its record tells it. */
export function decidedOf(actionId: string, known: KnownAct): Decided {
  const { proposal, result, decision, evaluation, changes } = known
  return {
    actionId,
    proposal,
    // The digest of a fact is one.
    proposalDigest: decision.proposal_digest as Digest,
    evaluation,
    result,
    decision,
    changes,
    violations: [],
    promotion: null,
  }
}

/** What is about to be recorded. */
export interface Judged
  extends Pick<Decided, 'proposal' | 'decision' | 'result' | 'changes' | 'known'> {
  readonly draft: Evaluation
}

export type ProposingOptions = Omit<ProposeOptions, 'confirm'> & {
  /** Whose act it is, where that is not the caller's own. */
  readonly actorKind?: Evaluation['actor_kind']
  /** Effects stay staged until somebody asks for their promotion. */
  readonly held?: HeldMark
  /** Called when bytes are about to be staged that nothing stands against any more. */
  readonly onStaging?: () => void
}

/** A document with what was found out about it before anything ran. */
export interface Admitted {
  readonly draft: Evaluation
  /** Null when the document broke its contract. */
  readonly proposal: Proposal | null
  readonly violations: readonly Violation[]
  /** The BLOCK that ends it here; null when it may be rehearsed. */
  readonly early: Decision | null
}
