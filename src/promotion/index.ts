/**
 * Room: promotion. Puts staged changes in place, takes them back, and ends what a crash interrupted:
 * under the lock of the workspace, with a journal. Sees base, gate, machine and tree.
 */
export { hashFile, lookAt } from './entries/entry.ts'
export type { InterruptPoint, OnPoint } from './exchange/apply.ts'
export { type AppliedPromotion, applyStage, type PromotionRequest } from './exchange/apply-stage.ts'
export { directoriesInUse, recoveryCommands, refuseUnrecovered } from './exchange/exchange-ends.ts'
export { withFolderLock } from './exchange/folder-lock.ts'
export {
  ifWorkspaceFree,
  type WorkspaceLock,
  withWorkspaceLock,
} from './exchange/lock.ts'
export { isAttempt, mayBeInterrupted, openJournals, readHead } from './journal/journal.ts'
export { type KeptAct, type LaterAct, laterActs } from './journal/later.ts'
export {
  dropPreimages,
  droppable,
  type Kept,
  measureKeep,
  type Retention,
  UNDO_PERIOD_MS,
} from './journal/retention.ts'
export { type Recovered, type RecoveryRequest, recover } from './recovery/recover.ts'
export { type Choice, resolveRecovery } from './recovery/resolve.ts'
export {
  type AppliedRollback,
  expired,
  previewRollback,
  type RollbackPreview,
  type RollbackRequest,
  rollback,
} from './rollback/rollback.ts'
