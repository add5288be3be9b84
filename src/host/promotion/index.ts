/**
 * Promotion, rollback and recovery on the real tree, under the workspace's lock. The door of the
 * folder; what is not named here is nobody else's business.
 */
export type { OnPoint, Point } from './apply.ts'
export { isAttempt, readHead } from './attempt.ts'
export type { Listing } from './check.ts'
export { directoriesInUse, recoveryCommands } from './ending.ts'
export type { Exchange } from './exchange.ts'
export { readPlan } from './exchange.ts'
export { type OpenJournal, openJournals } from './journal.ts'
export { type KeptAct, type LaterAct, laterActs } from './later.ts'
export {
  type HeldLock,
  type LockOptions,
  takeWorkspaceLock,
  type WorkspaceLock,
  withWorkspaceLock,
} from './lock.ts'
export { type Promotion, type PromotionRequest, promote } from './promote.ts'
export { type Recovered, type RecoveryRequest, recover } from './recover.ts'
export { removeTreeSync } from './removal.ts'
export { type Choice, type ResolveRequest, resolveRecovery } from './resolve.ts'
export {
  type Dropped,
  dropPreimages,
  droppable,
  type Kept,
  keepOf,
  measureKeep,
  type Retention,
  UNDO_PERIOD_MS,
  UNDO_QUOTA_BYTES,
  undoUntilMs,
} from './retention.ts'
export {
  expired,
  previewRollback,
  type Rollback,
  type RollbackPreview,
  type RollbackRequest,
  rollback,
} from './rollback.ts'
