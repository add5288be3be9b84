/**
 * Room: ledger. Facts, the tree over them, checkpoints and proofs; the interface of stores.
 * Pure: no clock, no chance, no machine. Sees base and contracts.
 */

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
} from './facts/body.ts'
export {
  CHAIN_START,
  chainNext,
  type Fact,
  type FactDraft,
  type FactRecord,
  type FactSeal,
  factLeaf,
  HOST_STREAM,
  isPrincipal,
  isStreamName,
  type LedgerEntry,
  MAIN_STREAM,
  occurredAtText,
  PRINCIPAL_KINDS,
  type Preparation,
  type PrepareOptions,
  type Principal,
  prepareFact,
  RECORD_BYTES_MAX,
  sealFact,
} from './facts/fact.ts'
export type { Appended, SignedHead, Store, StoredFact } from './facts/store.ts'
export {
  INDEXED_FIELDS,
  type IndexedField,
  indexTerms,
  matches,
  type Page,
  principalTerm,
  type Query,
  queryTerm,
} from './facts/store.ts'
export { TERM_PLACES, TermSum, termsOf } from './facts/term.ts'
export {
  type Checkpoint,
  type CheckpointRelation,
  compareCheckpoints,
  forkFault,
  formatCheckpoint,
  headsOfHome,
  homeCheckpointText,
  type OpenedCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  type StreamHead,
  signCheckpoint,
  signHomeCheckpoint,
} from './notes/checkpoint.ts'
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
  verifierFor,
  verifierKey,
} from './notes/note.ts'
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
} from './principals/act.ts'
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
} from './principals/act-evidence.ts'
export {
  type Assertion,
  answerAssertionFault,
  assertionFault,
  challengeOf,
  passkeyOf,
  recordedAssertionFault,
  type SignedChallenge,
  signCountOf,
} from './principals/assertion.ts'
export {
  type DispatchPhase,
  type DispatchState,
  type DispatchView,
  deviceFault,
  deviceOfTask,
  deviceText,
  dispatchBreach,
  dispatchView,
  foldDispatch,
  isDevice,
  isOver,
  NO_DISPATCH,
  parseDevice,
  phaseAt,
  type StepFault,
  stepFault,
  takeDispatchFact,
} from './principals/dispatch.ts'
export {
  type AnswerTerms,
  answerText,
  isSignedBy,
  type OfferTerms,
  offerText,
  receiptDigest,
  type SaidTerms,
  saidText,
} from './principals/dispatch-text.ts'
export {
  humansWithCredential,
  isRegistered,
  passkeyRow,
  requireRegistered,
} from './principals/people.ts'
export {
  bearerBy,
  bearerOf,
  type Caller,
  type CallerAnswer,
  type Credential,
  defaultStream,
  hasCredentials,
  hasPasskeyBehind,
  humanFault,
  livePasskeys,
  mayKnow,
  ownCredential,
  parsePrincipal,
  principalText,
  type Register,
  type RegisteredCode,
  type RegisteredPasskey,
  type RegisteredPrincipal,
  type RegisteredToken,
  RegisterFold,
  samePrincipal,
  unknownStream,
} from './principals/register.ts'
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
} from './principals/replay.ts'
export { scopeFault, scopeOfCommand } from './principals/scopes.ts'
export { decodeBase64, decodeHex, encodeBase64, encodeHex } from './tree/base64.ts'
export {
  Growth,
  type NodePlace,
  openTiles,
  placeOf,
  readNode,
  type StoredTile,
} from './tree/growth.ts'
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
} from './tree/proof.ts'
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
} from './tree/tile.ts'
export {
  coveringNodes,
  emptyRoot,
  equalBytes,
  foldRoot,
  leafHash,
  type NodeId,
  nodeHash,
  RightEdge,
} from './tree/tree.ts'
export { Audit, type ParsedFact, readFact } from './verification/audit.ts'
export {
  BUNDLE_FILES,
  BUNDLE_FORMAT,
  BUNDLE_PAGE,
  type BundleManifest,
  checkpointFile,
  consistencyLine,
  INCLUSION_PROOFS_MAX,
  inclusionLine,
  keysText,
  manifestText,
  objectFile,
  provenFacts,
  schemaFile,
  sumsText,
} from './verification/bundle.ts'
export {
  type FollowedKeys,
  followKeyChain,
  type KeyChain,
  type KeyChange,
} from './verification/key-chain.ts'
export { formatTlogProof } from './verification/tlog-proof.ts'
export {
  type ExpectedRoot,
  MACHINE_MARK,
  mayChangeKeys,
  type Problem,
  Problems,
  ROTATION_MARK,
  StreamVerification,
  type StreamVerificationOptions,
} from './verification/verify.ts'
export {
  AssertionAudit,
  type SignedHistory,
  unheldAssertion,
} from './verification/verify-assertion.ts'
export {
  checkSigners,
  isWrong,
  KeySchedule,
  readStoredNote,
  type VerifierMaker,
  type Wrong,
} from './verification/verify-keys.ts'
export {
  type ComparedNote,
  type ComparedNotes,
  checkFactProof,
  compareNotes,
  type ExtensionProof,
  type FactProof,
  hashText,
  inclusionPath,
  type NoteComparison,
  proveExtension,
  proveFact,
} from './verification/verify-proof.ts'
export {
  checkReferenced,
  type RecordFinding,
  type Reference,
} from './verification/verify-record.ts'
export { HashSet } from './verification/verify-set.ts'
export {
  formatWitnessRequest,
  judgeRequest,
  originOf,
  parseWitnessRequest,
  type WitnessAnswer,
  type WitnessedLog,
} from './witness/add-checkpoint.ts'
export {
  cosign,
  cosignedAt,
  noteCosignedAt,
  parseWitnessKey,
  witnessKey,
} from './witness/cosignature.ts'
