/**
 * Room: contracts. The documents of the five systems: schemas, checks, normalisation, one registry.
 * Pure: no clock, no chance, no machine. Sees base.
 */
export { type ActReceipt, actReceipt } from './act/receipt.ts'
export { type ActTask, actTask } from './act/task.ts'
export {
  ARTIFACT_FORMATS,
  RESULT_TYPES,
  type XiaoboAction,
  xiaoboAction,
} from './agent/action.ts'
export { EDGE_TYPES, NODE_TYPES, type PlanJson, planJson } from './agent/plan.ts'
export {
  APPROVE_SCORE_MIN,
  REVIEW_ACTIONS,
  REVIEW_TARGETS,
  type ReviewTarget,
  type XiaojingReview,
  xiaojingReview,
} from './agent/review.ts'
export { findScope, SCOPES, type Scope } from './agent/scope.ts'
export { contractSummary, type ScopeSummary } from './agent/summary.ts'
export {
  type CheckAnswer,
  type CheckOptions,
  checkDocument,
  checkRead,
  checkText,
  contractNames,
  detectContract,
  resolveContract,
  unknownContract,
} from './check.ts'
export {
  type AdmissionOptions,
  type AdmittedRule,
  type AdmittedRuleset,
  admitGuardText,
  admitRuleset,
  admitRulesets,
  type GuardAdmission,
  type RulesAdmission,
  type RulesetAdmission,
  rulesetWarnings,
} from './constitution/admission.ts'
export {
  type ControlEvaluation,
  controlEvaluation,
} from './constitution/control-evaluation.ts'
export {
  type ControlRuleset,
  controlRuleset,
  importTemplate,
  type TemplateImport,
} from './constitution/control-ruleset.ts'
export {
  type ControlVerdict,
  controlVerdict,
  NO_RULESET,
  RULESET_STATUSES,
  type RulesetStatus,
  VERDICT_SCHEMA_VERSION,
} from './constitution/control-verdict.ts'
export {
  GUARD_OPERATORS,
  type Guard,
  type GuardOperator,
  type GuardSide,
  pathsRead,
} from './constitution/guard.ts'
export { printGuard } from './constitution/guard-print.ts'
export {
  type GuardPosition,
  type GuardSyntax,
  type ParsedGuard,
  readGuardText,
  type SyntaxProblem,
} from './constitution/guard-text.ts'
export {
  GUARD_PATHS,
  type GuardPath,
  isGuardPath,
  type PathKind,
  type PathRow,
  pathRow,
  type ScalarPath,
  type SetPath,
  WINDOW_LEAVES,
} from './constitution/paths.ts'
export { type PermissionSet, permissionSet } from './constitution/permission-set.ts'
export { type ProblemState, problemState } from './constitution/problem-state.ts'
export { type Rule, type RuleScope, type Ruleset, ruleset } from './constitution/ruleset.ts'
export { TEMPLATE_IDS, type TemplateExpr, type TemplateId } from './constitution/template.ts'
export {
  type UncertaintyEnvelope,
  uncertaintyEnvelope,
} from './constitution/uncertainty-envelope.ts'
export {
  ACTION_CODES,
  actionCodesOf,
  COMBINE_STRATEGIES,
  CONFIDENCES,
  type CombineStrategy,
  ENVELOPE_UNCERTAINTY_SOURCES,
  PROBLEM_SCOPES,
  PROBLEM_TYPES,
  RATE_CLASS_HINTS,
  RULE_OWNER,
  STATE_LAYER_HINTS,
  STATE_UNCERTAINTY_SOURCES,
  VERDICTS,
  type VerdictWord,
} from './constitution/vocabulary.ts'
export {
  type Area,
  coversGlob,
  coversPath,
  coversRoot,
  createArea,
  hostPlace,
  hostRoot,
  readArea,
} from './descriptor/area.ts'
export { DECISIONS, type Decision, decisionContract } from './descriptor/decision.ts'
export {
  ACTION_KINDS,
  type ActionDescriptor,
  type ActionKind,
  actionDescriptor,
  RISK_LEVELS,
  type RiskLevel,
} from './descriptor/descriptor.ts'
export { type Detachment, findDetachments } from './descriptor/detachment.ts'
export {
  type DeclaredEffects,
  declaresEffect,
  declaresGlob,
  EFFECT_KINDS,
  type EffectKind,
  readEffects,
} from './descriptor/effects.ts'
export {
  type Effort,
  type Glob,
  includesGlob,
  matchesNames,
  matchesPath,
  newEffort,
  parseGlob,
} from './descriptor/glob.ts'
export {
  modeBits,
  OPERATION_TYPES,
  type Operation,
  type OperationType,
  operationContract,
  type UiStep,
} from './descriptor/operation.ts'
export { parseKeyPath } from './descriptor/operation-checks.ts'
export {
  type OperationPlace,
  operationAddresses,
  operationChain,
  operationPaths,
  type PackageReach,
  packageReach,
} from './descriptor/operation-places.ts'
export { type PathFault, pathFault, pathSegments } from './descriptor/path.ts'
export {
  findPersuasion,
  PERSUASION_CHINESE,
  PERSUASION_ENGLISH,
} from './descriptor/persuasion.ts'
export { plainDescriptor, programName } from './descriptor/plain-descriptor.ts'
export { intentDigest, intentOf, type Proposal, proposalContract } from './descriptor/proposal.ts'
export { type EnforcedBy, RUN_CAPS, type RunCap } from './descriptor/run-caps.ts'
export {
  type DiffEntry,
  EFFECT_CLASSES,
  type EffectClass,
  type HeldRequest,
  type NetworkConnection,
  RUN_STATUSES,
  type SandboxResult,
  sandboxResult,
} from './descriptor/sandbox-result.ts'
export { namesAddress, parseWebAddress, type WebAddress } from './descriptor/web-address.ts'
export {
  type Flow,
  type FlowEdge,
  type FlowNode,
  flowContract,
} from './flow/flow.ts'
export { ITEMS_MAX, type ListFault, type ListProblem, listFault } from './flow/list.ts'
export { type Participants, participantsContract } from './flow/participants.ts'
export {
  type FlowClaim,
  type FlowEvidence,
  flowClaim,
  flowEvidence,
} from './flow/records/claim.ts'
export { type FlowEventRecord, flowEvent } from './flow/records/event.ts'
export { type FlowFinding, flowFinding } from './flow/records/finding.ts'
export { type ParticipantOutput, participantOutput } from './flow/records/output.ts'
export type { ScheduleChange, ScheduleSlot, ScheduleTerms } from './flow/records/schedule.ts'
export { type FlowStarted, flowStarted } from './flow/records/started.ts'
export { FINDING_ACTIONS, FINDING_CODES, FLOW_EVENT_KINDS } from './flow/records/vocabulary.ts'
export {
  type LanguagePart,
  languageParts,
  partAt,
} from './flow/reference/describe.ts'
export { LIST_TEXT } from './flow/reference/list-words.ts'
export {
  type Claim,
  ClaimSchema,
  type Evidence,
  EvidenceSchema,
  type FlowRequirement,
  type NodeInput,
  type NodeMap,
  type Participant,
  ParticipantSchema,
  type StateField,
} from './flow/shapes.ts'
export { type FlowSide, flowSideContract } from './flow/side.ts'
export {
  type ExpectedFinding,
  type FlowExpectation,
  type FlowTest,
  type FlowTestCase,
  type FlowTestEvent,
  flowTestContract,
  type ScriptedAttempt,
} from './flow/testing/test-file.ts'
export {
  BUILT_IN_INVARIANTS,
  DEFAULT_TEXT_POLICIES,
  EDGE_CLASSES,
  type EdgeClass,
  GUARD_FAIL_ACTIONS,
  HOST_FIELDS,
  type HostField,
  NODE_KINDS,
  type NodeKind,
  OVERRIDE_MODES,
  STATE_TYPES,
  TRUST_LEVELS as CLAIM_TRUST_LEVELS,
  TRUST_REQUIREMENTS,
  VALIDATOR_VERDICTS,
  VIOLATION_ACTIONS,
} from './flow/vocabulary.ts'
export {
  ASSURANCES,
  type Assurance,
  type Confirmation,
  confirmationContract,
} from './gate/confirmation.ts'
export { DEFAULT_LAW_IDS } from './gate/default-law-ids.ts'
export type {
  DeviceKeyChange,
  DeviceName,
  DispatchEventName,
  DispatchFact,
  DispatchWay,
} from './gate/dispatch.ts'
export {
  type Evaluation,
  type EvaluationBasis,
  evaluationContract,
  type HostFacts,
  type LawOutcome,
  type NetworkGrounds,
  type Obstacle,
  type RootFacts,
  type RunMark,
  type SessionMark,
  type StandingExcerpt,
} from './gate/evaluation.ts'
export { GRANT_MS_MAX, GRANT_USES_MAX, type GrantFact, grantContract } from './gate/grant.ts'
export { type Halt, haltContract, type Laws, lawsContract } from './gate/laws.ts'
export {
  type GrantDocument,
  LAW_ACTIONS,
  type LawAction,
  type LawDocument,
  type LawSettings,
  type LawsFile,
  type LawTier,
  lawsFileContract,
  SOCKET_PROFILES,
} from './gate/laws-file.ts'
export { type NotificationFact, type NotifyWay, notificationContract } from './gate/notification.ts'
export { type Override, overrideContract } from './gate/override.ts'
export { type Promotion, promotionContract } from './gate/promotion.ts'
export { type RequestFact, type RequestState, requestContract } from './gate/request.ts'
export { type Rollback, rollbackContract } from './gate/rollback.ts'
export {
  type SessionFact,
  type SessionHostUse,
  type SessionModelUse,
  sessionContract,
} from './gate/session.ts'
export { TRUST_LEVELS } from './gate/shapes.ts'
export { type UndoRequest, undoRequestContract } from './gate/undo-request.ts'
export type { Normalise, Normalised, Repair, Sources } from './kernel/contract.ts'
export {
  type Check,
  type Context,
  type Contract,
  field,
  isObject,
  type JsonObject,
  type Subject,
} from './kernel/contract.ts'
export { nodeOf, type SchemaNode } from './kernel/schema.ts'
export { judge, validate } from './kernel/validate.ts'
export type { Validation, Violation } from './kernel/violation.ts'
export type { Endorsement } from './ledger/endorsement.ts'
export type { MachineChange } from './ledger/machine.ts'
export {
  type ApprovalAssertion,
  type ApprovalChallenge,
  PASSKEY_RP_ID,
  type Passkey,
  type PasskeyProof,
  type PasskeyPublicKey,
  type RequestAssertion,
  type RequestChallenge,
} from './ledger/passkey.ts'
export {
  CREDENTIAL_KINDS,
  type PrincipalChange,
  principalChange,
  TOKEN_SCOPES,
  type TokenScope,
} from './ledger/principal.ts'
export {
  type BodyDropped,
  bodyDropped,
  CLOCK_JUMP_MS_MIN,
  type ClockJump,
  clockJump,
  type KeyRotated,
  keyRotated,
} from './ledger/records.ts'
export type { RequestKey } from './ledger/request-key.ts'
export type { AnchorRecord, WitnessChange } from './ledger/witness.ts'
export type { Mismatch } from './mismatch.ts'
export { type NormaliseAnswer, normaliseAndValidate, normaliseRefused } from './normalise.ts'
export {
  CONTRACTS,
  findContract,
  nearestContractName,
  type PublishedSchema,
  publishSchema,
} from './registry.ts'
export { readYaml, yamlRefusal } from './yaml-reader.ts'
