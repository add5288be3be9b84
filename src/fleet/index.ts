/**
 * Room: fleet. Puts work of a home on its PostgreSQL server and takes it from there, on any number of
 * machines. Sees base, home, runs, schedules and store.
 */
export {
  addRun,
  findingOf,
  retryJob,
  seenJobs,
  seenWorkers,
  serverOf,
} from './jobs.ts'
export { prepareJobs } from './prepare.ts'
export { startWorker, type WorkerNews } from './worker.ts'
