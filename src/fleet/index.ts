/**
 * Room: fleet. Puts work of a home on its PostgreSQL server and takes it from there, on any number of
 * machines. Sees base, contracts, ledger, store, home, service, runs, history and schedules.
 */
export { dropJob } from './drop-job.ts'
export { addRun, retryJob, serverOf } from './jobs.ts'
export { prepareJobs } from './prepare.ts'
export { addProposal } from './proposals.ts'
export { signJobsAgain } from './renewed-jobs.ts'
export {
  findingOf,
  jobsIfPrepared,
  type SeenJob,
  seenJobs,
  seenWorkers,
  workersIfPrepared,
} from './seen-jobs.ts'
export { sentOrders } from './sent-orders.ts'
export type { WorkerNews } from './turn.ts'
export { startWorker } from './worker.ts'
