/**
 * The gate as its callers see it: the command line, later the server and hooks.
 *
 * PROMISE (nothing half done): when a call rejects, the tree is as it was or as promoted, or a journal
 *   is left that the next call under the workspace's lock finishes.
 * PROMISE (asked about effects): `confirm` is called after the rehearsed bytes and the result are
 *   durable, and its answer counts for exactly that proposal and that result.
 */
import type { Fault } from '../base/index.ts'
import type { HostFacts, Proposal } from '../contracts/index.ts'
import type { InterruptedRun } from '../gate/index.ts'
import type { AttemptSurface } from './surface/attempt-surface.ts'
import type {
  Answered,
  FinishedYes,
  GateAnswer,
  InboxQuestion,
  OpenRecovery,
  OverrideAnswer,
  OverrideOrder,
  ProposeOptions,
  Question,
  RecoveryOrder,
  ResolvedRecovery,
  RollbackAnswer,
  RollbackOptions,
  RollbackTarget,
} from './surface/surface.ts'
import type { PurgeAnswer, PurgeOrder } from './upkeep/body-purge.ts'
import type { FoundBody } from './upkeep/body-search.ts'
import type { Holdings } from './upkeep/home-use.ts'
import type { KeptState } from './upkeep/surplus.ts'

export interface GateSurface {
  /** Attempts of flow participants: their effects stay staged until another caller approves them. */
  readonly attempts: AttemptSurface
  /** The most that this host grants to one act. */
  readonly ceilings: HostFacts['ceilings']
  /** Names of the caller's variables that runs do not see. */
  readonly droppedVariables: readonly string[]
  propose(proposal: unknown, options: ProposeOptions): Promise<GateAnswer>
  pending(): Promise<readonly InboxQuestion[]>
  /** By the pending id or the action id; null when there is no such question (any more). */
  question(id: string): Promise<Question | null>
  /** What became of the question of an act that no longer waits; null when there was none. */
  ended(actionId: string): Promise<Fault | null>
  /** `answered` is the human's; a yes promotes. */
  answer(id: string, answered: Exclude<Answered, { kind: 'wait' }>): Promise<GateAnswer>
  rollback(target: RollbackTarget, options: RollbackOptions): Promise<RollbackAnswer>
  override(order: OverrideOrder): Promise<OverrideAnswer>
  /** Hosts of a proposal to which nothing is sent unless a human releases it before the run. */
  releasesNeeded(proposal: Proposal): readonly string[]
  /** What waits for a human's choice; everything else that was interrupted is ended by the call. */
  recoveries(): Promise<readonly OpenRecovery[]>
  /** Ends one interrupted promotion or rollback as a human chose; touches no other act. */
  resolve(order: RecoveryOrder): Promise<ResolvedRecovery>
  /** Approved acts that a crash had interrupted and that this gate has ended. */
  finished(): Promise<readonly FinishedYes[]>
  /** Approved acts that were interrupted and wait for a person's command. */
  unfinished(): Promise<readonly string[]>
  /** Ends these without a promotion. */
  endUnfinished(): Promise<void>
  /** Released runs that were interrupted lately: something may have been sent. */
  interrupted(): Promise<readonly InterruptedRun[]>
  /** The most approvals that a law wants, and how many humans can give one; null where one does. */
  approvalsWanted(): Promise<{ readonly needed: number; readonly humans: number } | null>
  /** What is kept of the past, and for how long. */
  kept(): Promise<KeptState>
  /** What this stream still needs of the state directory. */
  holdings(): Promise<Holdings>
  /** Ends what was interrupted or expired, and drops bodies whose time is over; returns those. */
  tidy(options: { readonly dryRun: boolean }): Promise<readonly FoundBody[]>
  /** Drops bodies of the past, never facts, and nothing that is still needed. */
  purge(order: PurgeOrder, options: { readonly dryRun: boolean }): Promise<PurgeAnswer>
  halt(reason: string | null): Promise<{ readonly ok: true; readonly seq: number }>
  /** Returns whether a human halted everything and no human has resumed since. */
  isHalted(): Promise<boolean>
  resume(reason: string | null): Promise<{ readonly ok: true; readonly seq: number }>
  close(): Promise<void>
}
