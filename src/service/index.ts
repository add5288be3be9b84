/**
 * Room: service. Carries an action through its life: admitted, rehearsed, compared, decided, asked
 * about, promoted, recorded, taken back. Sees base, contracts, configuration, policy, ledger, gate,
 * machine, network, sandbox, tree, promotion, store and home.
 */

export type { RefusedAccess } from '../sandbox/index.ts'
export type { CommandWish } from './acts/command-plan.ts'
export { strayReason } from './attempts/data-only.ts'
export { SECRET_MIN, withoutSpellings } from './attempts/secret-search.ts'
export { type GateSurface, openGate } from './gate.ts'
export { acceptedLaws, lastAccepted, recordDefaultLaws, recordLaws } from './laws/accept-laws.ts'
export {
  agreeTo,
  credentialChange,
  type Endorsements,
  type EndorserProof,
  lawsChange,
  newPrincipalChange,
  requireCredentialEndorsed,
  requireEnough,
  type SharedChange,
} from './laws/endorsements.ts'
export { ancestorNames } from './readings/ancestors.ts'
export { isHalted, liftHalt, raiseHalt, watchHalt } from './readings/halt.ts'
export { likelyRequest, within } from './rehearsal/sandbox-request.ts'
export { answeredElsewhere } from './stage/elsewhere.ts'
export { stagePlaces } from './stage/stage-place.ts'
export type {
  Attempt,
  AttemptOrder,
  AttemptSurface,
  DataOnly,
  HeldAttempt,
  HeldEffects,
  OperationAnswer,
  ParticipantOutcome,
  PromotedChange,
  PromotedChanges,
  SealedPaths,
} from './surface/attempt-surface.ts'
export type { AccompanyingRecord } from './surface/context.ts'
export type {
  MovedHead,
  OpenedSession,
  PendingPart,
  SessionGround,
  SessionSurface,
  SettleOrder,
} from './surface/session-surface.ts'
export type {
  Answered,
  ApprovalsSoFar,
  Confirm,
  FinishedYes,
  GateAnswer,
  HiddenFromRun,
  HomeChoice,
  InboxQuestion,
  LawWords,
  OpenRecovery,
  OverrideOrder,
  PartQuestion,
  ProposeOptions,
  Question,
  RecoveryChoice,
  ResolvedRecovery,
  RollbackAnswer,
  RollbackTarget,
  UndoQuestion,
} from './surface/surface.ts'
export type { PurgeAnswer, PurgeOrder } from './upkeep/body-purge.ts'
export { BODY_KINDS, type BodyKind } from './upkeep/body-search.ts'
export {
  findUnneeded,
  type HomeInUse,
  type HomePart,
  type HomeUse,
  removeUnneeded,
  surveyHome,
  type Unneeded,
} from './upkeep/home-use.ts'
export type { KeptState } from './upkeep/surplus.ts'
export { haltedQuestion } from './workspace/stopped-promotion.ts'
