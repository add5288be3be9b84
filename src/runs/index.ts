/**
 * Room: runs. Walks flows: steps, participants, orders of people, plans. Sees base, contracts,
 * ledger, flow, machine, promotion, store, home and service.
 */
export { actsOf, cancelRun } from './cancel-run.ts'
export { type FlowHost, isElsewhere, machineOf, runsElsewhere } from './flow-host.ts'
export { makePlan, type PlanningOutcome, type PlanOptions, resumePlan } from './make-plan.ts'
export {
  lookAtMigration,
  migrateRun,
  type ProgramTexts,
  type RunMigration,
} from './migrate-run.ts'
export { givenAnswer, type Order, orderOf, ownNode, unblockOrder } from './orders.ts'
export { shortSecrets } from './participant/secrets.ts'
export { dueRuns, type PassedTimer, passAllTimers, passTimers } from './pass-timers.ts'
export {
  answerOrder,
  answerTemplate,
  askedOfPeople,
  lastSeen,
  namedPerson,
  noteSeen,
  type PersonCommand,
  verdictText,
} from './person-answer.ts'
export { findPlanning, type PlanningTerms } from './planning-folder.ts'
export { openReviewers, openWork, programProblems } from './programs/program-problems.ts'
export { nextTimer } from './run-folder.ts'
export {
  keepDocument,
  keptDocument,
  type MissingOutput,
  missingOutputs,
  payloadOf,
  type RunHead,
  runHeads,
  type TakenBack,
  takenBack,
} from './run-records.ts'
export {
  answeredBefore,
  type DamagedRun,
  findRun,
  hasBegun,
  hasOrders,
  isWalked,
  labelsOf,
  leaveOrder,
  loadRun,
  lookAtRun,
  newRunId,
  resumeRun,
  startRun,
  stoppedRuns,
  type WalkedRun,
} from './runs.ts'
export { filesAskedAbout, stagedBy } from './stages.ts'
