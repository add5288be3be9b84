/**
 * Room: store. Keeps facts on SQLite or PostgreSQL, bodies, keys, and the state folded from all facts;
 * verifies all of it. Sees base, contracts, ledger, gate and machine.
 */
export {
  keyFromSeed,
  type LedgerKey,
  newSeed,
  publicKeyOf,
  type Seal,
  signerFor,
} from './ed25519.ts'
export { createLedgerFile, Engine, openLedgerDatabase } from './engine.ts'
export { exportBundle } from './export.ts'
export { type LedgerReader, ledgerFileId, openHistory, openLedgerReader } from './export-reader.ts'
export { FactBlocks } from './fact-block.ts'
export { ledgerNameOf, signHome } from './heads.ts'
export { ringOf } from './key-ring.ts'
export { createKey, makeCurrent, openKeys } from './keys.ts'
export {
  type Actor,
  createLedger,
  type Ledger,
  type NewStore,
  openLedger,
  type Recorded,
} from './ledger.ts'
export { type OnStep, STEPS, type Step } from './ledger-file.ts'
export { ObjectStore } from './objects.ts'
export { createPostgresLedger, type PostgresPlace } from './postgres.ts'
export { postgresDifferences } from './postgres-schema.ts'
export {
  openPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from './postgres-store.ts'
export { type OnPostgresStep, POSTGRES_STEPS, type PostgresStep } from './postgres-writer.ts'
export { recordedKeys } from './recorded-keys.ts'
export { schemaDifferences } from './schema.ts'
export { connect } from './sqlite-driver.ts'
export { SqliteStore } from './sqlite-store.ts'
export { type WholeFact, wholeFact } from './standing/standing-facts.ts'
export { type DroppedStanding, StandingKeeper } from './standing/standing-keeper.ts'
export { StandingView } from './standing/standing-view.ts'
export { connectionOf, readStoreSetting, SQLITE, STORE_FILE } from './store-setting.ts'
export { exitOfReport, verifyLedger } from './verify.ts'
export type { VerifiedStream, VerifyOptions, VerifyReport } from './verify-run.ts'
export { InlineWriter, type Writer } from './writer.ts'
