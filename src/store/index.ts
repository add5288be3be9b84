/**
 * Room: store. Keeps facts on SQLite or PostgreSQL, bodies, keys, and the state folded from all facts;
 * verifies all of it. Sees base, contracts, ledger, gate and machine.
 */

export { FactBlocks } from './database/fact-block.ts'
export { connect } from './database/sqlite-driver.ts'
export { schemaDifferences } from './database/sqlite-schema.ts'
export {
  type FileSeal,
  keyFromSeed,
  type LedgerKey,
  newSeed,
  publicKeyOf,
  ringOf,
  signerFor,
} from './keys/ed25519.ts'
export { createKey, makeCurrent, openKeys } from './keys/keys.ts'
export { isSealOf, type Machine, MachineKeys } from './keys/machine-keys.ts'
export {
  hasOtherMachines,
  isForThisMachine,
  isOwnMachine,
  machineName,
  machineNamer,
} from './keys/machine-place.ts'
export { recordedKeys } from './keys/recorded-keys.ts'
export { custodyOf } from './ledger/custody.ts'
export { exportBundle } from './ledger/export.ts'
export {
  type LedgerReader,
  ledgerFileId,
  openHistory,
  openLedgerReader,
} from './ledger/export-reader.ts'
export { retryWhileMoved } from './ledger/head-moved.ts'
export { findLedgers, joinState } from './ledger/join.ts'
export { type KeptAnchor, keepAnchors, readKeptAnchors } from './ledger/kept-anchors.ts'
export { keyChainOf } from './ledger/key-chain.ts'
export {
  type Actor,
  createLedger,
  type EntryOutcome,
  type HomeServer,
  type Ledger,
  openLedger,
  type ReadServer,
} from './ledger/ledger.ts'
export { recordedAnchors } from './ledger/recorded-anchors.ts'
export { type NewStore, upgradeLedger } from './ledger/server-tables.ts'
export { connectionOf, readStoreSetting, SQLITE, STORE_FILE } from './ledger/store-setting.ts'
export { FileObjects, type ObjectStore } from './objects/objects.ts'
export { bodyDropName } from './postgres/home-schema.ts'
export {
  connectionIn,
  createPostgresLedger,
  type PostgresPlace,
  postgresFailure,
} from './postgres/postgres-connection.ts'
export { postgresDifferences } from './postgres/postgres-schema.ts'
export {
  openPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from './postgres/postgres-store.ts'
export {
  type OnPostgresStep,
  POSTGRES_STEPS,
  type PostgresStep,
} from './postgres/postgres-writer.ts'
export { createLedgerFile, Engine, openLedgerDatabase } from './sqlite/engine.ts'
export { type AppendStep, type OnStep, STEPS } from './sqlite/ledger-file.ts'
export { SqliteStore } from './sqlite/sqlite-store.ts'
export { InlineWriter, type Writer } from './sqlite/writer.ts'
export { SharedStandings } from './standing/shared-standing.ts'
export { type DroppedStanding, StandingKeeper } from './standing/standing-keeper.ts'
export { StandingView, type WholeFact, wholeFact } from './standing/standing-view.ts'
export { ledgerNameOf, signHome } from './streams/heads.ts'
export { exitOfReport, verifyLedger } from './verification/verify.ts'
export type { VerifiedStream, WitnessedStream } from './verification/verify-anchors.ts'
export type { VerifyOptions, VerifyReport } from './verification/verify-run.ts'
