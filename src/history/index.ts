/**
 * Room: history. What the facts of a home tell readers: facts with their payloads, and acts; and how
 * tasks and receipts are recorded. Sees base,
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
export { type ActSpan, actSpans, spanDocument } from './act-spans.ts'
export {
  allFacts,
  eachFact,
  findTask,
  openFact,
  readBody,
  shownFact,
  treeErrors,
} from './facts.ts'
export { shortId, wholeActionId } from './short-ids.ts'
export { keyedTask, newTask, recordReceipt, recordTask } from './tasks.ts'
