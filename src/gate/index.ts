/**
 * Room: gate. What is decided about a proposal, as pure functions of documents, facts and what the
 * host found out. Sees base, contracts, policy and ledger.
 */
export {
  type Admission,
  admissionRules,
  admitProposal,
  HARD_FAILS,
  type Refusal,
} from './admission/admission.ts'
export {
  awaitedPaths,
  type ComposedRequest,
  commandOf,
  composeRequests,
  heldRequests,
  type OperationCommand,
  PACKAGE_MANAGERS,
  packageCommand,
} from './admission/operation-command.ts'
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
} from './admission/risk.ts'
export { npmSettings, pipSettings, yarnSettings } from './admission/tool-settings.ts'
export {
  type ComparedNetwork,
  type ComparedStep,
  type Comparison,
  type ComparisonInput,
  compareEffects,
  compareSteps,
  type Finding,
} from './comparison/comparison.ts'
export { newFileDeferral, type PointedBy } from './comparison/deferred.ts'
export { type GrantCase, grantCase, pathsToTrack } from './comparison/grants.ts'
export { type TakenPart, takenPart } from './comparison/groups.ts'
export { AGENT_MARKS } from './data/agents.ts'
export type { DeferredKind, DeferredRow } from './data/deferred.ts'
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
} from './data/lists.ts'
export { PUBLIC_NAMES, SECRET_NAMES, UNSEARCHED } from './data/secrets.ts'
export {
  compensationInForce,
  composeCompensation,
  type UndoStep,
  undoingsOf,
} from './decision/compensation.ts'
export {
  type Answer,
  type AskedAct,
  answerFault,
  type Circumstances,
  confirmationNeed,
  countsAhead,
  finalRisk,
  type Need,
  questionShape,
  satisfies,
} from './decision/confirmation.ts'
export {
  decide,
  decideEarly,
  lawsSetAside,
  lawValues,
  overridesUsed,
  type RehearsalEffects,
  reasonsOf,
} from './decision/decision.ts'
export { type LawsOnTrial, type PastDecision, type Trial, tryLaws } from './decision/law-trial.ts'
export {
  type AnsweredChange,
  type AnsweredQuestion,
  type LearnedGrant,
  type Lessons,
  learnGrants,
} from './decision/learned-grants.ts'
export { type OfferedGrant, offeredGrant } from './decision/offered-grant.ts'
export { type PartKind, pendingParts } from './decision/parts.ts'
export type { Reason } from './decision/reasons.ts'
export {
  compareAgain,
  type Grounds,
  type Recomputed,
  type RecordedDecision,
  reachedLaws,
  recompute,
  recorded,
} from './decision/replay.ts'
export {
  EVALUATOR,
  FINDINGS_SHOWN_MAX,
  isAmended,
  isComparedCode,
  type Judgement,
  keepsHome,
  leavesHomeOut,
  namedPaths,
  needsNoDeclaration,
  REPLAYED_VERSIONS,
  recordsGrounds,
} from './evidence/findings.ts'
export {
  type GitPath,
  gitKindOf,
  gitPathOf,
  holdsSameEntries,
  INDEX_BYTES_MAX,
  type IndexNames,
  indexEntries,
  indexNames,
  isGitWork,
  isIndexPath,
  REFERENCE_NAME,
} from './evidence/git-state.ts'
export {
  type Attribute,
  type Change,
  type ChangeList,
  type ChangeSide,
  changesSince,
  diffEntry,
  type EntryKind,
  type EntryState,
  INLINE_ENTRIES_MAX,
  inlineDiff,
  isSameState,
  listsOf,
  type Manifest,
  manifestDigest,
  manifestLines,
  readManifest,
} from './evidence/manifest.ts'
export { HELLO_BYTES_MAX, type ParsedHello, readClientHello } from './network/client-hello.ts'
export { cacheEnvironment, isKnownCache, visiblePlaces } from './network/home-view.ts'
export {
  type AddressBytes,
  addressName,
  type HostName,
  type HostPort,
  hostName,
  hostPort,
  parseAddress,
  refusedAddress,
  showHostPort,
} from './network/host-name.ts'
export {
  type Body,
  forwardedHead,
  HEAD_MAX,
  headEnd,
  type ParsedHead,
  RESPONSE_HEAD_MAX,
  type RequestHead,
  type ResponseHead,
  readRequestHead,
  readResponseHead,
  recordedUrl,
} from './network/message-head.ts'
export {
  groundTerms,
  hostsOf,
  hostsToRelease,
  judgeRequest,
  type NetworkRules,
  type NetworkTerms,
  networkFindings,
  networkGrounds,
  networkRules,
  onlyRead,
  PROXY_ENVIRONMENT,
  PROXY_PORT,
  READING_METHODS,
  type Release,
  RUN_UPLOAD_MAX,
  readingAllowance,
  runsWithNetwork,
  stepTerms,
  TUNNEL_UPLOAD_MAX,
  type Verdict,
  type Wanted,
  withEgress,
} from './network/rules.ts'
export { ChunkedBody, type ChunkedState, UploadMeter } from './network/upload-meter.ts'
export { NameSet } from './paths/name-set.ts'
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
} from './paths/places.ts'
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
} from './paths/raw-path.ts'
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
  startersOf,
} from './standing/approvals.ts'
export type { KnownGrant } from './standing/grant-fold.ts'
export {
  type BaseCheck,
  type BaseStanding,
  footingOf,
  type HeldBase,
  type HeldMark,
} from './standing/held.ts'
export {
  type FoldMemory,
  type KeptMemory,
  type KeptTable,
  MemoryTable,
  NOTHING_KEPT,
} from './standing/memory-table.ts'
export type { OverrideInForce } from './standing/override-fold.ts'
export type { PromotedAction } from './standing/promoted-fold.ts'
export {
  type InterruptedRun,
  type ReleasedRun,
  ReleaseFold,
  RUN_UNKNOWN,
  type UsableRelease,
} from './standing/release-fold.ts'
export { RequestHistory, type RequestMemory, wasSent } from './standing/request-history.ts'
export {
  COOLDOWN_MS,
  type PendingQuestion,
  StandingFold,
} from './standing/standing.ts'
export {
  STANDING_TYPES,
  STANDING_VERSION,
  type StandingFact,
  type StandingOptions,
} from './standing/standing-fact.ts'
export {
  hourUse,
  RECENT_MS,
  type StandingBefore,
  StandingHistory,
  undoUse,
} from './standing/standing-history.ts'
