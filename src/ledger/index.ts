/**
 * Room: ledger. Facts, the tree over them, checkpoints and proofs; the interface of stores.
 * Pure: no clock, no chance, no machine. Sees base and contracts.
 */
export {
  duplicateReceipt,
  isSameTask,
  judgeReceipt,
  judgeTask,
  type ReceiptAnswer,
  receiptKey,
  reusedTaskKey,
  type TaskAnswer,
  type TaskFill,
  taskKey,
} from './act.ts'
export {
  areContradictory,
  type EvidencePack,
  evidencePack,
  type IntegrityError,
  type IntegrityReport,
  integrityReport,
  type OpenedFact,
  type TaskStatus,
  taskStatus,
} from './act-evidence.ts'
export { Audit, type Reading as FactReading, readFact } from './audit.ts'
export { decodeBase64, decodeHex, encodeBase64, encodeHex } from './base64.ts'
export {
  BODY_RULES,
  type BodyRule,
  bodyMarker,
  commit,
  contentOf,
  markedBodies,
  namedContents,
  parseBodyMarker,
  type Redaction,
  redact,
  SALT_BYTES,
  type StoredObject,
} from './body.ts'
export {
  BUNDLE_FILES,
  BUNDLE_FORMAT,
  checkpointFile,
  consistencyLine,
  INCLUSION_PROOFS_MAX,
  inclusionLine,
  keysText,
  type Manifest,
  manifestText,
  objectFile,
  provenFacts,
  schemaFile,
  sumsText,
} from './bundle.ts'
export { BUNDLE_PAGE } from './bundle-page.ts'
export {
  type Checkpoint,
  type Comparison,
  compareCheckpoints,
  forkFault,
  formatCheckpoint,
  type OpenedCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  signCheckpoint,
} from './checkpoint.ts'
export {
  type ComparedNote,
  compareNotes,
  type NoteComparing,
  type NoteComparison,
} from './compare.ts'
export {
  CHAIN_START,
  chainNext,
  type Draft,
  type Entry,
  type Fact,
  type FactRecord,
  factLeaf,
  HOST_STREAM,
  isPrincipal,
  isStreamName,
  MAIN_STREAM,
  occurredAtText,
  PRINCIPAL_KINDS,
  type Preparation,
  type PrepareOptions,
  type Principal,
  prepareFact,
  RECORD_BYTES_MAX,
  type Seal,
  sealFact,
} from './fact.ts'
export {
  Growth,
  type NodePlace,
  openTiles,
  placeOf,
  readNode,
  type StoredTile,
} from './growth.ts'
export { headsOfHome, type StreamHead, signHomeCheckpoint } from './home-checkpoint.ts'
export {
  fingerprint,
  formatNote,
  formatSignerKey,
  formatVerifierKey,
  isKeyName,
  keyIdOf,
  type Note,
  type OpenedNote,
  openNote,
  parseNote,
  parseSignerKey,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type Signature,
  type Signer,
  type SignerKey,
  showKeyId,
  signNote,
  type Verifier,
  type VerifierKey,
  verifierKey,
} from './note.ts'
export {
  assemble,
  type Consistency,
  type Inclusion,
  type NodeReader,
  nodesOf,
  type ProofPlan,
  planConsistency,
  planInclusion,
  planRoot,
  prove,
  verifyConsistency,
  verifyInclusion,
} from './proof.ts'
export {
  INDEXED_FIELDS,
  type IndexedField,
  indexTerms,
  matches,
  type Page,
  principalTerm,
  type Query,
  queryTerm,
} from './query.ts'
export {
  bearerOf,
  type Caller,
  type CallerAnswer,
  type Credential,
  defaultStream,
  humanFault,
  mayKnow,
  ownCredential,
  parsePrincipal,
  principalText,
  type Register,
  type RegisteredPrincipal,
  type RegisteredToken,
  RegisterFold,
  samePrincipal,
  unknownStream,
} from './register.ts'
export {
  compareReplay,
  type Difference,
  type NotReplayed,
  type Replay,
  type ReplayAnswer,
  type Replayer,
  type Replayers,
  type ReplayLookup,
  ReplayReport,
} from './replay.ts'
export type { Appended, Head, Store, StoredFact } from './store.ts'
export { TERM_PLACES, termsOf } from './term.ts'
export { TermSum } from './term-sum.ts'
export {
  decodeBundle,
  ENTRY_BYTES_MAX,
  encodeBundle,
  parseTilePath,
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  tileHashes,
  tilePath,
  tilesOf,
} from './tile.ts'
export {
  coveringNodes,
  emptyRoot,
  equalBytes,
  foldRoot,
  leafHash,
  type NodeId,
  nodeHash,
  RightEdge,
} from './tree.ts'
export { verifierFor } from './verifier.ts'
export {
  type ExpectedRoot,
  type Problem,
  Problems,
  ROTATION_MARK,
  StreamVerification,
  type StreamVerificationOptions,
} from './verify.ts'
export {
  checkSigners,
  isWrong,
  KeySchedule,
  readStoredNote,
  type VerifierMaker,
  type Wrong,
} from './verify-keys.ts'
export {
  checkFactProof,
  type ExtensionProof,
  type FactProof,
  hashText,
  inclusionPath,
  proveExtension,
  proveFact,
} from './verify-proof.ts'
export { checkReferenced, type RecordFinding, type Reference } from './verify-record.ts'
export { HashSet } from './verify-set.ts'
