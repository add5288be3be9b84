/**
 * Room: witness. Cosigns checkpoints of logs (C2SP tlog-witness), and has those of a ledger cosigned.
 * Sees base, contracts, ledger, machine and store.
 */

export { type AnchorReport, anchorLedger, isGrave } from './anchor.ts'
export { AnchorLoop, type AnchorPace } from './anchor-loop.ts'
export { pinnedWitnesses, pinWitness, unknownWitness, unpinWitness } from './pins.ts'
export { WitnessDirectory } from './witness-directory.ts'
export { startWitness } from './witness-server.ts'
