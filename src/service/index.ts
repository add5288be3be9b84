/**
 * Room: service. Carries an action through its life: admitted, rehearsed, compared, decided, asked
 * about, promoted, recorded, taken back. Sees base, contracts, configuration, policy, ledger, gate,
 * machine, network, sandbox, tree, promotion, store and home.
 */
export { acceptedLaws, recordDefaultLaws, recordLaws } from './accept-laws.ts'
export { ancestorNames } from './ancestors.ts'
export { humansWithCredential } from './approvers.ts'
export type {
  Attempt,
  AttemptSurface,
  HeldAttempt,
  OperationAnswer,
  ParticipantOutcome,
  RefusedAccess,
} from './attempt-surface.ts'
export type { PurgeAnswer, PurgeOrder } from './body-purge.ts'
export { BODY_KINDS, type BodyKind } from './body-search.ts'
export { openGate } from './gate.ts'
export { watchHalt } from './halt.ts'
export {
  findUnneeded,
  type HomeInUse,
  type HomeUse,
  type Part,
  removeUnneeded,
  surveyHome,
  type Unneeded,
} from './home-use.ts'
export type { KeptState } from './kept-state.ts'
export { likelyRequest, within } from './sandbox-request.ts'
export { stagePlaces } from './stage-place.ts'
export type {
  Answered,
  ApprovalsSoFar,
  Confirm,
  FinishedYes,
  GateAnswer,
  GateSurface,
  HiddenFromRun,
  HomeChoice,
  LawWords,
  OpenRecovery,
  OverrideOrder,
  PendingQuestion,
  ProposeOptions,
  Question,
  RecoveryChoice,
  RollbackAnswer,
  RollbackTarget,
} from './surface.ts'
