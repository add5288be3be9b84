/**
 * Room: flow. Flows, compiled and walked: a step from state and event to state, commands and facts.
 * Pure: no clock, no chance, no machine. Sees base, contracts, expression and policy.
 */

export {
  artifactPath,
  noObject,
  objectsIn,
  type ParsedAnswer,
  readAction,
  readReview,
  type TextObjects,
  twiceIn,
} from './answer/answer.ts'
export {
  evidenceIn,
  type FoundEvidence,
  listIn,
  noList,
} from './answer/evidence-file.ts'
export { isPassingStatus, personText, principalOf } from './answer/participant-words.ts'
export { missingInput, plainName, SAID_BY_HOST } from './answer/requirements.ts'
export { checkFlow, type FlowCheckOptions } from './check/check.ts'
export type { FlowCheck, FlowProblem } from './check/problem.ts'
export { compileFlow } from './compile/compile.ts'
export type {
  CompiledEdge,
  CompiledFlow,
  CompiledInvariant,
  CompiledNode,
  CompiledSpan,
  CompileFault,
  FlowCompilation,
} from './compile/compiled-flow.ts'
export { FLOW_EVALUATOR, rulesNamed } from './compile/rules.ts'
export { toDot } from './drawing/dot.ts'
export {
  type Drawing,
  type DrawingOptions,
  type DrawnProblem,
  drawingOf,
} from './drawing/drawing.ts'
export { toMermaid } from './drawing/mermaid.ts'
export { toSvg } from './drawing/svg.ts'
export type { FlowChange } from './migration/changes.ts'
export { type Migration, planMigration } from './migration/migration.ts'
export { hasWork, type LoadedPlan, loadPlan, planOwners } from './plan/load.ts'
export {
  type ParsedParticipants,
  type PlanFlow,
  planToFlow,
  readParticipants,
  reviewerOf,
} from './plan/plan.ts'
export { type ArtifactReport, artifactsOf } from './report/artifacts.ts'
export { errorsText } from './report/cause.ts'
export { OrchestrationLog } from './report/log-text.ts'
export { openWorkOf } from './report/open-work.ts'
export { type ArtifactDiff, reportPage } from './report/page.ts'
export { type PersonReport, peopleOf, type ReviewReport, reviewsOf } from './report/people.ts'
export { nodesOf, phasesOf, type RunReport, reportOf, takenEdges } from './report/report.ts'
export { stateView } from './report/state-view.ts'
export {
  givenText,
  type LeftAnswer,
  nodesBlockedBy,
  type RunStop,
  STOP_WORDS,
  stopsOf,
  type ToldFinding,
  toldFindings,
} from './report/stops.ts'
export { migrateCommand, sourceOf } from './report/ways-out.ts'
export { commandText, nodeName, nodeTitle, OWN_ID, ownIdOf } from './report/words.ts'
export { type ClaimStanding, claimStandings } from './runtime/claims.ts'
export { type Delta, deltaOf } from './runtime/delta.ts'
export { isLostItem } from './runtime/map.ts'
export { canSkip } from './runtime/skip.ts'
export { stagesSeen } from './runtime/stage.ts'
export {
  ASKING_TO_CONTINUE,
  findBreaches,
  RATIONALISING,
  type TextBreach,
} from './runtime/text-policy.ts'
export type { Step } from './runtime/turn.ts'
export { signalNames } from './runtime/wait.ts'
export { foldFacts, foldOnto } from './state/apply.ts'
export { type BudgetLimits, type BudgetName, limitsOf } from './state/budget.ts'
export type {
  CommandBody,
  FlowCommand,
  NeededDocument,
  ReviewPin,
  RunInput,
  StageBase,
} from './state/command.ts'
export {
  type AccessDecision,
  type AccessMode,
  decideAccess,
  RUN_ARTIFACTS,
  rulesFor,
} from './state/command.ts'
export type {
  ActionAnswer,
  EventType,
  EvidenceValue,
  FlowEvent,
  FlowFiles,
  HostFinding,
  OpenReviewer,
  ParticipantAnswer,
  PinnedFile,
  PinnedProgram,
  ProgramChange,
  ReviewAnswer,
  RunOrigin,
} from './state/event.ts'
export {
  type EventPayload,
  FACT_TYPES,
  type FindingCode,
  type FlowFact,
  type RunFinding,
} from './state/fact.ts'
export { dueTimers, outstanding, signalsAwaited, timersOf } from './state/outstanding.ts'
export {
  emptyState,
  isStuckAt,
  type NodeState,
  type NodeStatus,
  type RunState,
  type RunStatus,
  runStatus,
} from './state/state.ts'
export { elementAt, vectorElements } from './state/vector.ts'
export { pinnedVersion, versionOf } from './state/version.ts'
export { eventOf, type RunDifference, replayRun } from './step/replay.ts'
export { step } from './step/step.ts'
export { inlineFlows } from './subflow/inline.ts'
export { exportTable, lostColumns, type TableOptions } from './tables/export.ts'
export {
  classCounts,
  type ImportOptions,
  importTable,
  type Origin,
  type TableImport,
} from './tables/import.ts'
export { proposeSide, type SideProposal } from './tables/propose.ts'
export type { ImportFinding } from './tables/report.ts'
export type { TestDifference } from './testing/compare.ts'
export { junitXml } from './testing/junit.ts'
export { unknownNames } from './testing/names.ts'
export {
  coverageOf,
  runTestCase,
  type TestCaseResult,
  type TestCoverage,
} from './testing/run-test.ts'
