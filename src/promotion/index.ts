/**
 * Room: promotion. Puts staged changes in place, takes them back, and ends what a crash interrupted:
 * under the lock of the workspace, with a journal. Sees base, gate, machine and tree.
 */
export type { OnPoint, Point } from './apply.ts'
export { applyStage, type Promotion, type PromotionRequest } from './apply-stage.ts'
export { isAttempt, readHead } from './attempt.ts'
export { directoriesInUse, recoveryCommands } from './ending.ts'
export { hashFile, lookAt } from './entry.ts'
export { openJournals } from './journal.ts'
export { type KeptAct, type LaterAct, laterActs } from './later.ts'
export {
  type WorkspaceLock,
  withWorkspaceLock,
} from './lock.ts'
export { type Recovered, type RecoveryRequest, recover } from './recover.ts'
export { type Choice, resolveRecovery } from './resolve.ts'
export {
  dropPreimages,
  droppable,
  type Kept,
  measureKeep,
  type Retention,
  UNDO_PERIOD_MS,
} from './retention.ts'
export {
  expired,
  previewRollback,
  type Rollback,
  type RollbackPreview,
  type RollbackRequest,
  rollback,
} from './rollback.ts'
