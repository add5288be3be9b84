/** What keeps a schedule from doing what a human set it to do, with the command that helps. */
import { readFileSync } from 'node:fs'
import { digestBytes, showName } from '../base/index.ts'
import type { ScheduleTerms } from '../contracts/index.ts'
import { type FlowHost, hasBegun, lookAtRun } from '../runs/index.ts'
import { hasWorkspace } from './own-workspace.ts'
import type { ScheduledFile } from './pinned.ts'
import type { Schedule } from './schedule-records.ts'
import { dueSlot } from './times.ts'

export interface ScheduleTrouble {
  readonly name: string
  readonly kind: 'edited' | 'failed' | 'overlap' | 'overdue'
  readonly says: string
  readonly code?: string
  readonly next: readonly string[]
}

/** A time that was not looked at for longer has no loop that looks. */
const OVERDUE_MS = 10 * 60_000

/** The files of a schedule that are not as they were when it was set. */
function editedFiles({ files }: ScheduleTerms): readonly string[] {
  const isSame = ({ path, digest }: ScheduledFile): boolean => {
    try {
      return digestBytes(readFileSync(path)) === digest
    } catch {
      return false
    }
  }
  return files.filter((file) => !isSame(file)).map(({ path }) => path)
}

type TroublePlace = Parameters<typeof lookAtRun>[0] & Pick<FlowHost, 'clock'>

export async function troublesOf(
  place: TroublePlace,
  schedule: Schedule,
): Promise<readonly ScheduleTrouble[]> {
  const { name, terms } = schedule
  const edited = editedFiles(terms).map((path): ScheduleTrouble => {
    const says = `${showName(path)} was edited or moved; its runs walk the flow that was pinned`
    return { name, kind: 'edited', says, next: [`writ schedule update ${name}`] }
  })
  return [...edited, ...(await lastTrouble(place, schedule)), ...overdue(place, schedule)]
}

async function lastTrouble(
  place: TroublePlace,
  { name, last }: Schedule,
): Promise<readonly ScheduleTrouble[]> {
  if (last === null) return []
  if (last.kind === 'failed') {
    const says = `the run of ${last.slot} could not begin: ${last.message ?? ''}`
    const named = last.code === undefined ? {} : { code: last.code }
    return [{ name, kind: 'failed', says, ...named, next: [`writ schedule show ${name}`] }]
  }
  const run = last.run_id
  if (run === undefined) return []
  const next = [`writ flow status ${run}`]
  if (last.kind === 'skipped' && last.why === 'overlap') {
    const says = `the time ${last.slot} was skipped: the run before is still open`
    return [{ name, kind: 'overlap', says, next }]
  }
  if (!(await hasBegun(place, run))) return []
  if ((await lookAtRun(place, run)).status !== 'FAILED') return []
  return [{ name, kind: 'failed', says: `the run of ${last.slot} failed`, next }]
}

function overdue(
  place: TroublePlace,
  { name, terms, last, setAt, isPaused }: Schedule,
): readonly ScheduleTrouble[] {
  if (isPaused) return []
  const nowMs = place.clock.nowMs()
  const sinceMs = Math.max(Date.parse(setAt), last === null ? 0 : Date.parse(last.slot))
  const due = dueSlot(terms, sinceMs, nowMs - OVERDUE_MS)
  if (due === null) return []
  const isOurs = hasWorkspace(place, terms.workspace)
  const where = isOurs ? '' : ` on a machine with a home at ${showName(terms.workspace)}`
  const says = `the time ${new Date(due.slotMs).toISOString()} has passed, and no process looked${where}`
  // There `writ schedule run` helps, or a worker; here it does nothing.
  return [{ name, kind: 'overdue', says, next: isOurs ? ['writ schedule run'] : [] }]
}
