/** What the callers of the gate hand in and get back, in the shapes that people read as JSON. */
import type { Digest } from '../../base/index.ts'
import type {
  ApprovalAssertion,
  Decision,
  Evaluation,
  Proposal,
  RequestState,
  RiskLevel,
  RunMark,
  SandboxResult,
  SessionFact,
  Violation,
} from '../../contracts/index.ts'
import type { Change, OfferedGrant, RawPath } from '../../gate/index.ts'
import type { ApprovalProof } from '../../home/index.ts'
import type { OnRefused } from '../../network/index.ts'
import type { RunRequest } from '../../sandbox/index.ts'

/** How it was checked that a human approved (G-18a). */
type Assurance = 'terminal' | 'passphrase' | 'passkey' | 'none'

/** What a question needs to be answered with yes. */
type Need = 'plain' | 'passphrase' | 'passkey'

/** The answer of `propose`, `exec --report`, `approve` and `deny`. */
export interface GateAnswer {
  readonly action_id: string
  readonly proposal_digest: string
  readonly decision: Decision
  readonly result: SandboxResult | null
  readonly promoted: boolean
  /** The question expired before anybody answered it. */
  readonly expired?: true
  /** The newer act whose question took the place of this one's. */
  readonly superseded_by?: string
  readonly promotion?: { readonly paths: readonly string[]; readonly snapshot_digest: string }
  readonly pending?: {
    readonly id: string
    readonly expires_at: string
    readonly approvals?: ApprovalsSoFar
  }
  /** What became of requests that were held; absent where there were none. */
  readonly requests?: readonly SentRequest[]
  /** What stopped the sandbox, the staging or the promotion, each with its place; absent without. */
  readonly obstacles?: Evaluation['obstacles']
  /** When the cooldown ends that refused the act or made it a question; absent without one. */
  readonly cooldown_until?: string
  /** Why a document was refused, each with its place; absent when it was not. */
  readonly violations?: readonly Violation[]
  /** Laws that the act broke and that an override set aside for it; absent without. */
  readonly set_aside?: readonly Pick<SetAsideLaw, 'policy_id' | 'override_id'>[]
  /** The laws that the decision names and what they say for people; absent where none has a text. */
  readonly laws?: readonly LawWords[]
}

/** A law that an override keeps from speaking about an act. */
export interface SetAsideLaw {
  readonly policy_id: string
  readonly override_id: string
  readonly reason: string
  /** Until when the override holds; absent where it is for one intent only. */
  readonly until?: string
  /** For how many acts it was given. */
  readonly uses: number
}

/** A law's own text for people. */
export interface LawWords {
  readonly policy_id: string
  readonly text: string
}

/** How far a question has come that several humans have to answer. */
export interface ApprovalsSoFar {
  readonly needed: number
  readonly given: readonly { readonly by: string; readonly at: string }[]
  /** How many humans have a credential of their own, where that is not enough. */
  readonly humans?: number
}

/** A held request after its promotion. */
export interface SentRequest {
  readonly step_id: string
  readonly method: string
  readonly host: string
  /** UNKNOWN: the server may or may not have carried it out; it is not sent again. */
  readonly state: RequestState
  readonly status?: number
  readonly code?: string
  /** Where the answer was kept, and whether it was. */
  readonly saved?: { readonly path: string; readonly ok: boolean }
}

/** Who asks, and since when. */
export interface Asker {
  /** `kind:id@namespace`. */
  readonly principal: string
  readonly kind: Evaluation['actor_kind']
  /** The known agent program that started the command; null when there was none. */
  readonly agent: string | null
  /** The attempt of a run that did it; null outside of runs. */
  readonly run: RunMark | null
  /** The session of a coding agent whose changes these are; null outside of sessions. */
  readonly session: string | null
  /** When the act was proposed. */
  readonly at: string
}

/** A question to a person, with everything needed to show it. */
export interface Question {
  readonly actionId: string
  readonly proposal: Proposal
  readonly proposalDigest: Digest
  readonly result: SandboxResult
  readonly resultDigest: Digest
  readonly decision: Decision
  readonly asker: Asker
  readonly need: Need
  /** Whether the agent that asks runs in a session, or only its hooks report (S-14). */
  readonly confinement: NonNullable<SessionFact['confinement']>
  /** Whether only this user has the history, or witnesses cosigned it too (S-14). */
  readonly custody: NonNullable<SessionFact['custody']>
  readonly door: Evaluation['door']
  /** The name of the other machine that has to carry out a yes; null for this one, empty if not recorded. */
  readonly machine: string | null
  /** Nothing was declared: the approval of the shown effects declares them. */
  readonly isDeclaredByApproval: boolean
  /** What the laws say about themselves for people, by their ids. */
  readonly lawTexts: ReadonlyMap<string, string>
  /** Laws that this act breaks and that a human set aside for it. */
  readonly setAside: readonly SetAsideLaw[]
  /** For how many days it can be taken back; null when it cannot, or not whole. */
  readonly undoDays: number | null
  /** The risk after everything is known. */
  readonly risk: RiskLevel
  /** A plain yes that was given before the effects were shown counts (`--yes`). */
  readonly countsAhead: boolean
  /** When it was asked: part of what an approval is signed for. */
  readonly askedAt: string
  /** Null where one human is enough. */
  readonly approvals: ApprovalsSoFar | null
  /** Questions of one shape can be answered together. */
  readonly shape: Digest
  readonly expiresAt: string
  /** What turned up since the rehearsal and is asked about as well (G-19d). */
  readonly obstacles: Evaluation['obstacles']
  /** All effects that would be promoted, not cut. */
  readonly changes: readonly Change[]
  /** Those of them that other programs run by themselves (G-15a), not cut. */
  readonly deferred: ReadonlySet<RawPath>
  /** Those of them that a build or a test runs, not cut. */
  readonly builds: ReadonlySet<RawPath>
  /** All findings, where the result names the first of each code. */
  readonly findings: SandboxResult['findings']
  /** What the answer "always" would grant; null where it is no answer. */
  readonly always: OfferedGrant | null
  /**
   * Shows a part of it, by absolute paths and globs, judged by itself; nothing is recorded. Null where
   * it is approved whole or not at all.
   */
  readonly part: ((only: readonly string[], decidedAt?: string) => Promise<PartQuestion>) | null
  /** Opens what a changed file held before, or would hold; null where there is no file. */
  readonly read: (change: Change, side: 'before' | 'after') => AsyncIterable<Uint8Array> | null
}

/** A part of a question (N-4). */
export interface PartQuestion extends Question {
  readonly part: null
  /** The result of the question that it is a part of, under which it waits. */
  readonly whole: Digest
  /** What would be promoted with the whole, and is not with the part. */
  readonly left: readonly Change[]
}

/** `wait`: no person can answer now; the question goes to the inbox. */
export type Answered =
  | {
      readonly kind: 'yes'
      readonly assurance: Assurance
      readonly toldFailure?: boolean
      /** Given with the call, not typed after the effects were shown. */
      readonly isAhead?: boolean
      /** By the human's own credential; needed where several have to approve. */
      readonly proof?: ApprovalProof
      /** What the human's passkey signed for this yes. */
      readonly assertion?: ApprovalAssertion
      /** Paths of other acts that were shown and approved with this one: no surprise to anybody. */
      readonly together?: readonly RawPath[]
      /** The part that the person takes, as it was shown, by the digest of its result. */
      readonly part?: Digest
      /** The person wants acts like this one to pass from now on; recorded once it was promoted. */
      readonly always?: OfferedGrant
    }
  | { readonly kind: 'no'; readonly reason?: string; readonly assertion?: ApprovalAssertion }
  | { readonly kind: 'wait' }

export type Confirm = (question: Question) => Promise<Answered>

export interface ProposeOptions {
  /**
   * `propose`: a document of an actor. `exec`: a person's own command, whose declaration is either
   * given (`--write`, `--delete`) or the approval of the shown effects.
   */
  readonly door: 'propose' | 'exec'
  /** Only with `exec`: nothing was declared, the human's approval of the shown effects declares. */
  readonly declaredByApproval: boolean
  readonly dryRun: boolean
  readonly confirm: Confirm
  /** The step of an act that this one undoes; set by the gate itself. */
  readonly compensates?: string
  /** Terminal, input and output of a command that a person watches; absent for documents. */
  readonly live?: Pick<RunRequest, 'stdin' | 'terminal' | 'onOutput'> & {
    /** Called with a way to send signals inside, once there is something running. */
    readonly onStarted?: (signal: (name: NodeJS.Signals) => void) => void
    /** Called with each connection that the proxy refused or could not make. */
    readonly onRefused?: OnRefused
    /** Called once, when a run without a network tries to reach one. */
    readonly onUnreachable?: () => void
    /** Called before the command runs with what it cannot see. */
    readonly onHidden?: (hidden: HiddenFromRun) => void
    /**
     * Called when the command changed the person's home outside the scope. Without it no person can be
     * asked, and those changes are left out.
     */
    readonly chooseHome?: (leftOut: SandboxResult['findings']) => Promise<HomeChoice>
    /** Called when the chosen changes of the home cannot be kept; the scope alone is asked about. */
    readonly onHomeRefused?: (code: string, laws: readonly LawWords[]) => void
    /** Called with the number of entries that the run left in its private `/tmp`. */
    readonly onLeftovers?: (count: number) => void
    /** Called when the command is over, before effects are shown. */
    readonly onEnded?: () => void
  }
  readonly abort: AbortSignal
  /**
   * Of a job that another process takes if this one gives it up or dies: an abort records no decision
   * then. `again`: this very proposal is on the record and nothing was decided about it, so it is
   * rehearsed once more.
   */
  readonly job?: 'first' | 'again'
}

/**
 * Which changes a person wants to keep: all of them, those of the scope, or none. `later` gives no
 * answer: all of them wait.
 */
export type HomeChoice = 'all' | 'scope' | 'none' | 'later'

/** Places that a run finds empty, without those of writ itself. */
export interface HiddenFromRun {
  readonly places: readonly string[]
  /** Those of them that the laws of the home name. */
  readonly byLaws: readonly string[]
  readonly hasNetwork: boolean
}

/** One question of the inbox. */
export interface InboxQuestion {
  readonly id: string
  readonly action_id: string
  readonly kind: string
  readonly proposal_digest: string
  readonly result_digest: string
  readonly effects: { readonly added: number; readonly modified: number; readonly deleted: number }
  readonly expires_at: string
  /** Null if the question cannot be approved any more; see `problem`. */
  readonly needs: Need | null
  /** Questions of one shape can be answered together; null if the shape is unknown. */
  readonly shape: string | null
  /** Where several humans have to approve. */
  readonly approvals?: ApprovalsSoFar
  /** Why the question cannot be approved, or not by enough humans, now. */
  readonly problem?: {
    readonly code: 'body.missing' | 'confirm.few_humans'
    readonly message: string
  }
}

export interface RollbackAnswer {
  /** The act, or the oldest of several. */
  readonly action_id: string
  /** All of several, newest first. */
  readonly action_ids?: readonly string[]
  readonly restored: readonly string[]
  /** What others put into directories after those were taken away; it came back with them. */
  readonly added?: readonly string[]
  readonly verified: boolean
  /** Acts that undid what files do not tell. */
  readonly compensated_by?: readonly string[]
  /** A compensation that waits for a human, or did not come about; nothing was restored. */
  readonly compensation?: GateAnswer
  /** Acts since the moment that stay: other machines of the home did them, and take them back. */
  readonly elsewhere?: readonly { readonly action_id: string; readonly machine: string }[]
}

/** An actor asks that its act is taken back. */
export interface UndoQuestion {
  readonly id: string
  readonly request_id: string
  readonly action_id: string
  readonly asked_by: string
  /** What the act was. */
  readonly what: string
  /** The actor's own words. */
  readonly reason: string
  readonly at: string
  readonly expires_at: string
}

/** What a human says to such a request. */
export type UndoAnswer =
  | { readonly kind: 'yes'; readonly assurance: 'terminal' | 'passphrase' }
  | {
      readonly kind: 'no'
      readonly assurance: 'terminal' | 'passphrase'
      readonly reason?: string
    }

/** One of: an action, everything since a moment (ISO 8601), the last promoted action. */
export type RollbackTarget =
  | { readonly actionId: string }
  | { readonly since: string }
  | { readonly last: true }

export interface RollbackOptions {
  readonly dryRun: boolean
  /** Together with newer acts that changed the same paths; they are in the way without it. */
  readonly withLater?: boolean
  /** Also pre-images that a program changed after they were displaced, as they are now. */
  readonly asIs?: boolean
  /** Asked about compensations; absent: they wait in the inbox. */
  readonly confirm?: Confirm
  /** The run of a flow that orders it by its own rules: it does not count against the actor. */
  readonly run?: string
}

/** What a human sets aside, knowing and bounded (I1). */
export type OverrideOrder =
  /** A law of tier 1, for the intent of one refused action, or for a time, or for both. */
  | {
      readonly kind: 'law'
      readonly policyId: string
      readonly actionId: string | null
      readonly forMs: number | null
      /** For how many acts. */
      readonly uses: number
      readonly reason: string
    }
  /** A permanent block, named by the digest of its operation or by an action that was refused. */
  | { readonly kind: 'lift'; readonly of: string; readonly reason: string }
  | ReleaseOrder

/** The number of the fact; or that there was nothing to lift, so that nothing was recorded. */
export type OverrideAnswer =
  | { readonly ok: true; readonly seq: number }
  | { readonly ok: true; readonly lifted: false }

/** Requests of one proposal, to these hosts by these methods, for one run that sends them. */
export interface ReleaseOrder {
  readonly kind: 'release'
  readonly proposal: unknown
  readonly hosts: readonly string[]
  readonly methods: readonly string[]
  readonly reason: string
}

/** An interrupted promotion or rollback that recovery could not end by itself. */
export interface OpenRecovery {
  readonly id: string
  /** Neither old nor new. */
  readonly paths: readonly string[]
}

/** An act that was to be promoted, or taken back, when its process died, and what became of it. */
export interface FinishedYes {
  readonly action_id: string
  /** The interrupted undo of the act was completed; `promoted` is false then. */
  readonly undone?: true
  /** How many paths were put in place or restored; absent where none were. */
  readonly paths?: number
  /** A human had said yes; false where no question was needed. */
  readonly approved: boolean
  readonly promoted: boolean
  /** Why it was not promoted. */
  readonly code: string | null
}

/** What a human's choice ended: an interrupted promotion, or an interrupted rollback. */
export interface ResolvedRecovery {
  readonly id: string
  readonly kind: 'promotion' | 'rollback'
  readonly direction: RecoveryOrder['direction']
  /** How many paths were put in place, or put back. */
  readonly paths: number
  /** How many paths the human chose for. */
  readonly chosen: number
}

export type RecoveryChoice = 'keep' | 'old' | 'new'

export interface RecoveryOrder {
  readonly id: string
  /** Which way the rest goes. */
  readonly direction: 'finish' | 'revert'
  /** For each path that recovery stopped at; a directory counts for everything below it. */
  readonly choices: ReadonlyMap<string, RecoveryChoice>
}
