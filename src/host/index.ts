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
