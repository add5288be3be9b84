/**
 * What is known of an act after each step of its lifecycle. Each step takes one of these values and
 * returns the next; none of them is changed afterwards.
 */
import type { Digest } from '../../base/index.ts'
import type {
  Decision,
  Evaluation,
  Obstacle,
  Promotion,
  Proposal,
  RunMark,
  SandboxResult,
  SessionMark,
  Violation,
} from '../../contracts/index.ts'
import type {
  Change,
  Comparison,
  HeldMark,
  Manifest,
  PendingQuestion as Pending,
} from '../../gate/index.ts'
import type { LawBook } from '../laws/law-book.ts'
import type { Approvers } from '../questions/approvers.ts'
import type { KnownAct, Questions } from '../questions/questions.ts'
import type { HostReadings } from '../readings/host-readings.ts'
import type { KeptBodies } from '../records/kept-bodies.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import type { Rehearsal } from '../rehearsal/rehearsal.ts'
import type { GateContext } from '../surface/context.ts'
import type { ProposeOptions, Question, SentRequest } from '../surface/surface.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** How a document is proposed: by whom, through which door, and who watches. */
export type Terms = Omit<ProposeOptions, 'confirm'> & {
  /** Whose act it is, where that is not the caller's own. */
  readonly actorKind?: Evaluation['actor_kind']
  /** Effects stay staged until a later call asks for their promotion. */
  readonly held?: HeldMark
  /** The attempt of a run whose act it is. */
  readonly run?: RunMark
  /** The coding agent whose session this is, and at which settle of it. */
  readonly agent?: string
  readonly session?: SessionMark
}

/** A document with what was found out about it before anything ran. */
export interface Admitted {
  readonly terms: Terms
  readonly evaluation: Evaluation
  /** Null when the document broke its contract. */
  readonly proposal: Proposal | null
  readonly violations: readonly Violation[]
  /** The BLOCK that ends it here; null when it may be rehearsed. */
  readonly refusal: Decision | null
}

/** What a coding agent changed in its session, as far as it is judged now. */
export interface RanInSession {
  readonly document: unknown
  readonly terms: Terms
  readonly rehearsal: Rehearsal
  /** Hosts that the person gave the session. */
  readonly egress: readonly string[]
}

/** What ran, or, with the reason in the evaluation, that nothing did. */
export interface Rehearsed {
  readonly admitted: Admitted
  readonly rehearsal: Rehearsal | null
}

/** What the run did, against what was declared. */
export interface Compared extends Admitted {
  /** Null when nothing ran. */
  readonly seen: Seen | null
}

export interface Seen {
  readonly proposal: Proposal
  readonly rehearsal: Rehearsal
  readonly result: SandboxResult
  readonly comparison: Comparison
  readonly readings: HostReadings
  /** The list of changes as it was written. */
  readonly manifest: KnownManifest
  /** Bodies that the facts will name; they are written meanwhile. */
  readonly bodies: KeptBodies
}

type KnownManifest = Manifest & { readonly digest: Digest }

/** An act as its decision, its evaluation and its result tell it. */
export interface Act {
  readonly actionId: string
  readonly proposal: Proposal | null
  readonly proposalDigest: Digest
  readonly evaluation: Evaluation
  readonly result: SandboxResult | null
  readonly decision: Decision
  readonly changes: readonly Change[]
  /** Absent where the act was read from the ledger. */
  readonly manifest?: KnownManifest
  readonly violations: readonly Violation[]
}

/** Decided, and on no record yet. */
export interface Decided extends Act {
  readonly compared: Compared
}

/** Decided, with the bytes that the decision is about on their way to the disk. */
export interface Staged {
  readonly decided: Decided
  /** Resolves when the bytes are durable; null when the decision is about none. */
  readonly bytes: Promise<void> | null
}

/** On the ledger, so that any process can go on with it. */
export interface Recorded extends Act {
  /** When there was nothing to promote, that is a fact already. */
  readonly promotion: Promotion | null
}

export type Outcome = Blocked | Asked | Promoted

/** Refused, denied or superseded: nothing of it is promoted, and it takes a new proposal. */
export interface Blocked {
  readonly kind: 'blocked'
  readonly act: Recorded
  readonly supersededBy?: string
  /** What was sent before something stopped the rest. */
  readonly requests?: readonly SentRequest[]
}

/** A human has to answer; no process has to live until then. */
export interface Asked {
  readonly kind: 'waiting'
  readonly act: Recorded
  readonly pending: Pending
  /** What to show; null where the act was asked about before, and others have to answer. */
  readonly question: Question | null
}

interface Promoted {
  readonly kind: 'promoted'
  readonly act: Recorded
  readonly promotion: Promotion
  readonly changes: readonly Change[]
  readonly requests: readonly SentRequest[]
}

/** Returns an act that was decided before, as its record tells it. */
export function recordedAct(actionId: string, known: KnownAct): Recorded {
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

export function blocked(act: Recorded): Blocked {
  return { kind: 'blocked', act }
}

/** There was nothing to promote, and that is on the record already. */
export function promotedNothing(act: Recorded, promotion: Promotion): Promoted {
  return { kind: 'promoted', act, promotion, changes: [], requests: [] }
}

/** Adds what keeps an act from going on to what will be on its record. */
export function withObstacles<T extends Admitted>(admitted: T, obstacles: readonly Obstacle[]): T {
  const { evaluation } = admitted
  const known = { ...evaluation, obstacles: [...evaluation.obstacles, ...obstacles] }
  return { ...admitted, evaluation: known }
}

/** A part of an act that was shown to a person; a yes names it by the digest of its result. */
export interface PreparedPart {
  readonly act: Recorded
  /** Everything that the run changed, and what of it is not promoted. */
  readonly manifest: Manifest
}

/** What every step of the lifecycle works with: whose gate it is, its ledger, its laws, its tree. */
export interface GateParts {
  readonly context: GateContext
  readonly view: LedgerView
  readonly book: LawBook
  readonly workspace: Workspace
  readonly questions: Questions
  readonly approvers: Approvers
  /** Parts of questions that were shown, by the digests of their results. */
  readonly prepared: Map<string, PreparedPart>
}
