/**
 * Room: gate. What is decided about a proposal, as pure functions of documents, facts and what the
 * host found out. Sees base, contracts, policy and ledger.
 */
export { hourUse, undoUse } from './actor-use.ts'
export {
  type Admission,
  admissionRules,
  admitProposal,
  HARD_FAILS,
  type Refusal,
} from './admission.ts'
export {
  type Approval,
  type ApprovalQuestion,
  type Approvals,
  approvalQuestion,
  approvalsAsked,
  approvalText,
  countApprovals,
  isComplete,
  type RecordedAnswer,
} from './approvals.ts'
export {
  type Attribute,
  type Change,
  type ChangeList,
  changesSince,
  type EntryKind,
  type EntryState,
  isSameState,
  listsOf,
} from './change.ts'
export {
  type ComparedNetwork,
  type ComparedStep,
  type Comparison,
  type ComparisonInput,
  compareEffects,
  compareSteps,
  type Finding,
} from './comparison.ts'
export {
  compensationInForce,
  composeCompensation,
  type Undoing,
  undoingsOf,
} from './compensation.ts'
export {
  type Answer,
  type AskedAct,
  answerFault,
  type Circumstances,
  confirmationNeed,
  countsAhead,
  finalRisk,
  type Need,
  satisfies,
} from './confirmation.ts'
export { AGENT_MARKS } from './data/agents.ts'
export type { DeferredKind, DeferredRow } from './data/deferred.ts'
export { PUBLIC_NAMES, SECRET_NAMES, UNSEARCHED } from './data/secrets.ts'
export { decide, decideEarly, reasonsOf } from './decision.ts'
export { newFileDeferral, type PointedBy } from './deferred.ts'
export { FINDINGS_SHOWN_MAX, isComparedCode } from './findings.ts'
export { holdsSameEntries, INDEX_BYTES_MAX, indexEntries, isIndexPath } from './git-index.ts'
export { type GitPath, gitKindOf, gitPathOf, isGitWork, REFERENCE_NAME } from './git-state.ts'
export { type GrantCase, grantCase, pathsToTrack } from './grants.ts'
export { type BaseStanding, type Footing, footingOf, type HeldBase, type HeldMark } from './held.ts'
export {
  awaitedPaths,
  type ComposedRequest,
  composeRequests,
  heldRequests,
} from './held-request.ts'
export {
  EVALUATOR,
  isAmended,
  type Judgement,
  keepsHome,
  leavesHomeOut,
  REPLAYED_VERSIONS,
  recordsGrounds,
} from './judgement.ts'
export { type LawsOnTrial, type PastDecision, type Trial, tryLaws } from './law-trial.ts'
export { lawsSetAside, lawValues, overridesUsed, type Rehearsed } from './law-values.ts'
export {
  absolutePatterns,
  DEFAULT_LISTS,
  droppedNames,
  type EphemeralFault,
  ephemeralFault,
  type GateLists,
  knownAgent,
  listsDigest,
  listsText,
  listsUnder,
  placedPaths,
  readLists,
  sandboxEnvironment,
  withEphemeral,
} from './lists.ts'
export {
  diffEntry,
  INLINE_ENTRIES_MAX,
  inlineDiff,
  type Manifest,
  manifestDigest,
  manifestLines,
  readManifest,
} from './manifest.ts'
export {
  type KeptMemory,
  type KeptTable,
  MemoryTable,
  NOTHING_KEPT,
  type Remembering,
} from './memory-table.ts'
export { NameSet } from './name-set.ts'
export { type AddressBytes, parseAddress, refusedAddress } from './network/address.ts'
export { ChunkedBody, type ChunkedState } from './network/chunked-body.ts'
export { HELLO_BYTES_MAX, type HelloReading, readClientHello } from './network/client-hello.ts'
export { networkFindings, onlyRead } from './network/findings.ts'
export {
  groundTerms,
  hostsOf,
  networkGrounds,
  runsWithNetwork,
  stepTerms,
  withEgress,
} from './network/grounds.ts'
export { headEnd } from './network/head-text.ts'
export { cacheEnvironment, isKnownCache, visiblePlaces } from './network/home-view.ts'
export {
  addressName,
  type HostName,
  type HostPort,
  hostName,
  hostPort,
  showHostPort,
} from './network/host-name.ts'
export { PROXY_ENVIRONMENT, PROXY_PORT } from './network/proxy-environment.ts'
export {
  type InterruptedRun,
  type ReleasedRun,
  ReleaseFold,
  RUN_UNKNOWN,
  type UsableRelease,
} from './network/release-fold.ts'
export {
  type Body,
  forwardedHead,
  HEAD_MAX,
  type HeadReading,
  type RequestHead,
  readRequestHead,
  recordedUrl,
} from './network/request-head.ts'
export { RESPONSE_HEAD_MAX, type ResponseHead, readResponseHead } from './network/response-head.ts'
export {
  hostsToRelease,
  judgeRequest,
  type NetworkRules,
  type NetworkTerms,
  networkRules,
  READING_METHODS,
  type Release,
  RUN_UPLOAD_MAX,
  readingAllowance,
  TUNNEL_UPLOAD_MAX,
  type Verdict,
  type Wanted,
} from './network/rules.ts'
export { UploadMeter } from './network/upload-meter.ts'
export { commandOf, type OperationCommand } from './operation-command.ts'
export type { OverrideInForce } from './override-fold.ts'
export { PACKAGE_MANAGERS, packageCommand } from './package-command.ts'
export {
  actionIdsOf,
  allProposals,
  declaredInputs,
  leavesOf,
  literalPart,
  type PathsToResolve,
  type PlacedProposal,
  pathsToResolve,
  RealPaths,
} from './places.ts'
export type { PromotedAction } from './promoted-fold.ts'
export { questionShape } from './question-shape.ts'
export {
  bytesOfRaw,
  displayOfRaw,
  isBelow,
  joinRaw,
  nameOfRaw,
  parentOfRaw,
  type RawPath,
  rawOfBytes,
  rawOfText,
  textOfRaw,
} from './raw-path.ts'
export type { Reason } from './reasons.ts'
export {
  compareAgain,
  type Grounds,
  type Recomputed,
  type RecordedDecision,
  reachedLaws,
  recompute,
  recorded,
} from './replay.ts'
export { RequestHistory, type RequestMemory, wasSent } from './request-history.ts'
export {
  DELETIONS_MAX,
  effectClasses,
  higherRisk,
  isAtMost,
  MODIFICATIONS_MAX,
  RISK_FLOORS,
  resultRiskFloor,
  riskAfterRun,
  riskFloor,
} from './risk.ts'
export {
  COOLDOWN_MS,
  type PendingQuestion,
  STANDING_TYPES,
  STANDING_VERSION,
  type StandingFact,
  StandingFold,
  type StandingOptions,
} from './standing.ts'
export { RECENT_MS, type StandingBefore, StandingHistory } from './standing-history.ts'
export { npmSettings, pipSettings, yarnSettings } from './tool-settings.ts'
