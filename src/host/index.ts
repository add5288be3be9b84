/**
 * Room: host. The only room that touches the machine: files, databases, clocks, keys.
 * Sees base, contracts and ledger.
 */
export {
  keyFromSeed,
  type LedgerKey,
  newSeed,
  publicKeyOf,
  signerFor,
  verifierFor,
} from './ledger/ed25519.ts'
export {
  createLedgerFile,
  Engine,
  type EngineOptions,
  openLedgerDatabase,
} from './ledger/engine.ts'
export { checkFilesystem, type FilesystemType } from './ledger/filesystem.ts'
export { type KeyRing, ringOf } from './ledger/key-ring.ts'
export { createKey, makeCurrent, openKeys } from './ledger/keys.ts'
export {
  type Actor,
  createLedger,
  Ledger,
  type OpenLedgerOptions,
  openLedger,
  type Recorded,
} from './ledger/ledger.ts'
export { type OnStep, STEPS, type Step } from './ledger/ledger-file.ts'
export { ObjectStore } from './ledger/objects.ts'
export { schemaDifferences } from './ledger/schema.ts'
export { SqliteStore } from './ledger/sqlite-store.ts'
export {
  InlineWriter,
  startWriter,
  type ThreadWriterOptions,
  type Writer,
} from './ledger/writer.ts'
