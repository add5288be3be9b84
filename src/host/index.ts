/**
 * Room: host. The only room that touches the machine: files, databases, clocks, keys.
 * Sees base, contracts and ledger.
 */

export {
  type Clock,
  Deadline,
  isJump,
  type Jump,
  JumpWatch,
  SYSTEM_CLOCK,
} from './clock.ts'
export type { FlowHost } from './flow/flow-host.ts'
export { type MissingOutput, missingOutputs } from './flow/missing-outputs.ts'
export { type Order, unblockOrder } from './flow/orders.ts'
export {
  makePlan,
  type Planned,
  type PlanOrder,
  type PlanWatching,
  resumePlan,
} from './flow/planning.ts'
export { bodyText, type RunHead, runHeads } from './flow/run-records.ts'
export {
  findRun,
  isWalked,
  type LoadedRun,
  leaveOrder,
  loadRun,
  lookAtRun,
  resumeRun,
  type StartOrder,
  startRun,
  type WalkedRun,
  waitingRuns,
} from './flow/runs.ts'
export { acceptedLaws, recordDefaultLaws, recordLaws } from './gate/accept-laws.ts'
export { ancestorNames } from './gate/ancestors.ts'
export { humansWithCredential } from './gate/approving.ts'
export { BODY_KINDS, type BodyKind } from './gate/body-search.ts'
export type { GateContext } from './gate/context.ts'
export { openGate } from './gate/gate.ts'
export {
  findUnneeded,
  type HomeInUse,
  type HomeUse,
  type Part,
  removeUnneeded,
  surveyHome,
  type Unneeded,
} from './gate/home-use.ts'
export type { KeptState } from './gate/kept-state.ts'
export type { PurgeAnswer, PurgeOrder } from './gate/purging.ts'
export { likelyRequest, within } from './gate/sandbox-request.ts'
export { stagePlaces } from './gate/stage-place.ts'
export type {
  Answered,
  ApprovalsSoFar,
  Assurance,
  Confirm,
  FinishedYes,
  GateAnswer,
  GateSurface,
  HiddenFromRun,
  HomeChoice,
  LawWords,
  Need,
  OpenRecovery,
  OverrideOrder,
  PendingQuestion,
  ProposeOptions,
  Question,
  RecoveryChoice,
  RecoveryOrder,
  RollbackAnswer,
  RollbackTarget,
} from './gate/surface.ts'
export { gitDirectoriesOf, gitTop, workspacePlaces } from './home/git-directories.ts'
export {
  type HomeStore,
  homeToRegister,
  type MadeHome,
  makeHome,
  registerHome,
} from './home/home.ts'
export { type Home, type KnownHome, lawsOf, openHome } from './home/known-home.ts'
export { rememberPlaces } from './home/person-places.ts'
export { findHome, type Surroundings, stateRoot } from './home/place.ts'
export {
  knownHomeOf,
  type ListedHome,
  listHomes,
  namedHome,
  removeHome,
  unfinishedIn,
} from './home/removal.ts'
export type { TrustedHome } from './home/trust.ts'
export {
  keyFromSeed,
  type LedgerKey,
  newSeed,
  publicKeyOf,
  signerFor,
} from './ledger/ed25519.ts'
export {
  createLedgerFile,
  Engine,
  type EngineOptions,
  openLedgerDatabase,
} from './ledger/engine.ts'
export {
  type Exportable,
  type Exported,
  type ExportOptions,
  exportBundle,
} from './ledger/export.ts'
export {
  type LedgerReader,
  ledgerFileId,
  openHistory,
  openLedgerReader,
} from './ledger/export-reader.ts'
export { type FactBlock, FactBlocks } from './ledger/fact-block.ts'
export { checkFilesystem, type FilesystemType } from './ledger/filesystem.ts'
export { ledgerNameOf, signHome } from './ledger/heads.ts'
export { type KeyRing, ringOf } from './ledger/key-ring.ts'
export { createKey, makeCurrent, openKeys } from './ledger/keys.ts'
export {
  type Actor,
  createLedger,
  Ledger,
  type NewStore,
  type OpenLedgerOptions,
  openLedger,
  type Recorded,
} from './ledger/ledger.ts'
export { type OnStep, STEPS, type Step } from './ledger/ledger-file.ts'
export { ObjectStore } from './ledger/objects.ts'
export { createPostgresLedger, type PostgresPlace } from './ledger/postgres.ts'
export { postgresDifferences } from './ledger/postgres-schema.ts'
export {
  openPostgresStore,
  PostgresStore,
  type PostgresStoreOptions,
} from './ledger/postgres-store.ts'
export {
  type OnPostgresStep,
  POSTGRES_STEPS,
  type PostgresStep,
} from './ledger/postgres-writer.ts'
export { recordedKeys } from './ledger/recorded-keys.ts'
export { schemaDifferences } from './ledger/schema.ts'
export { connect } from './ledger/sqlite-driver.ts'
export { SqliteStore } from './ledger/sqlite-store.ts'
export { readStoreSetting } from './ledger/store-setting.ts'
export { exitOfReport, verifyLedger } from './ledger/verify.ts'
export type { VerifiedStream, VerifyOptions, VerifyReport } from './ledger/verify-run.ts'
export {
  InlineWriter,
  startWriter,
  type ThreadWriterOptions,
  type Writer,
} from './ledger/writer.ts'
export {
  type AddressRules,
  type ConnectOptions,
  connectOnce,
  type Resolve,
  resolveOnce,
  type Target,
} from './network/connect.ts'
export { type ProxyOptions, RunProxy } from './network/proxy.ts'
export { isStrongPassphrase, openCredential, sealCredential } from './principals/credential.ts'
export {
  addPrincipal,
  createToken,
  type NewToken,
  type PrincipalsPlace,
  type RegisterPlace,
  RegisterReader,
  readRegister,
  recordChange,
  revokeToken,
} from './principals/principals.ts'
export { type ApprovalProof, isProvenApproval, signApproval } from './principals/proof.ts'
export {
  type Choice,
  type Promotion as AppliedPromotion,
  type PromotionRequest,
  promote,
  type Recovered,
  type RecoveryRequest,
  type ResolveRequest,
  type Rollback as AppliedRollback,
  type RollbackRequest,
  recover,
  recoveryCommands,
  resolveRecovery,
  rollback,
  withWorkspaceLock,
} from './promotion/index.ts'
export type {
  Caps,
  Control,
  Layer,
  Probe,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxDriver,
  SandboxRequest,
  SocketProfile,
  TerminalShape,
} from './sandbox/driver.ts'
export { findMakers } from './sandbox/holder-command.ts'
export { createDriver, type DriverOptions } from './sandbox/linux.ts'
export {
  findNamed,
  installCommand,
  type ProgramPath,
  startProgram,
} from './sandbox/programs.ts'
export { waitForRemovals } from './sandbox/remove-tree.ts'
export { stopOutputProcessing } from './sandbox/terminal-mode.ts'
export { type Marker, makeMarker } from './tree/marker.ts'
export { type Scan, type ScanOptions, scanLayers } from './tree/scan.ts'
