/**
 * Room: schedules. Starts runs of flows at their times. Sees base, contracts, ledger, flow, store and
 * runs.
 */
export { hasWorkspace } from './own-workspace.ts'
export { pinFlow, pinnedFile, pinnedFlow } from './pinned.ts'
export { type RunQueue, runSchedules, type ScheduleNews } from './schedule-loop.ts'
export {
  readSchedules,
  recordChange,
  type Schedule,
  slotsOf,
  unknownSchedule,
} from './schedule-records.ts'
export { checkTiming, dueSlot, nextTimes } from './times.ts'
export { type ScheduleTrouble, troublesOf } from './trouble.ts'
