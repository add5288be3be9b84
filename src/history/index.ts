/**
 * Room: history. What the facts of a home tell readers: facts with their payloads, and acts. Sees base,
 * contracts, ledger, promotion, store and home.
 */
export {
  ACTS,
  type ActHistory,
  type ActStatus,
  actsOf,
  HALF_DONE,
  type HistoryRecord,
  halfDone,
  markHalfDone,
  readAct,
  rollbacksOf,
} from './act.ts'
export {
  allFacts,
  eachFact,
  findTask,
  openFact,
  readBody,
  shownFact,
  treeErrors,
} from './facts.ts'
