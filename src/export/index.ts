/**
 * Room: export. Says what happened in the forms of other systems, without contents. Sees base,
 * contracts, ledger, gate, machine, store and history.
 */
export { exportFacts, readCursor, writeCursor } from './follow.ts'
export { EXPORT_FORMATS, type ExportFormat } from './formats.ts'
export type { StatementSigner } from './intoto.ts'
