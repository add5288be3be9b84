/**
 * Time that passed while no process walked a run. What follows from it is recorded at once, so that
 * every view shows it; participants run when a process goes on with the run.
 */
import { faultCode } from '../base/index.ts'
import { nodeTitle, outstanding } from '../flow/index.ts'
import { type FlowHost, isElsewhere } from './flow-host.ts'
import { FlowRun } from './run.ts'
import { nextTimer, RunFolder, timedRuns } from './run-folder.ts'
import { isPersons, loadRun } from './runs.ts'

const SETTLED: ReadonlySet<string> = new Set(['flow.taken', 'flow.unknown_run'])

/** A time that had come before it was noticed. */
export interface PassedTimer {
  readonly run_id: string
  readonly node_id: string
  readonly title: string
  readonly kind: 'deadline' | 'wait'
  readonly until: string
}

/**
 * Records the deadlines and waits of a run that have passed; of those behind an order that waits for a
 * process, none. Changes nothing if another process walks the run.
 */
export async function passTimers(host: FlowHost, runId: string): Promise<readonly PassedTimer[]> {
  if (await isElsewhere(host.ledger, runId)) return []
  const folder = new RunFolder(host.home, runId)
  try {
    return await folder.locked(() => recordPassed(host, runId, folder))
  } catch (error) {
    // Of another stream, or walked by another process.
    if (SETTLED.has(faultCode(error) ?? '')) return []
    throw error
  }
}

async function recordPassed(
  host: FlowHost,
  runId: string,
  folder: RunFolder,
): Promise<readonly PassedTimer[]> {
  const { flow, workspace, ...history } = await loadRun(host.ledger, host.stream, runId)
  const run = new FlowRun({ host, flow, runId, workspace, recordsOnly: true })
  run.restore(history)
  const passed: PassedTimer[] = []
  const untilMs = folder.orders()[0]?.atMs ?? host.clock.nowMs()
  const tell = () => run.tellTimers(untilMs)
  for (let due = await tell(); due.length > 0; due = await tell()) {
    for (const { type: kind, node_id, until } of due) {
      const title = nodeTitle(flow, node_id)
      passed.push({ run_id: runId, node_id, title, kind, until: until ?? '' })
    }
  }
  folder.noteTimer(nextTimer(run.state))
  if (passed.length === 0) return passed
  const known = new Set(folder.waiting())
  const waiting = outstanding(run.state).filter((one) => isPersons(one) || known.has(one.command))
  folder.noteWaiting(waiting.map(({ command }) => command))
  return passed
}

/** Records what has passed in all runs of a home that wait for a time. */
export async function passAllTimers(host: FlowHost): Promise<readonly PassedTimer[]> {
  const passed: PassedTimer[] = []
  for (const runId of dueRuns(host)) passed.push(...(await passTimers(host, runId)))
  return passed
}

/** The runs whose noted time has come. */
export function dueRuns({ home, clock }: Pick<FlowHost, 'home' | 'clock'>): readonly string[] {
  const nowMs = clock.nowMs()
  return timedRuns(home)
    .filter(({ until }) => Date.parse(until) <= nowMs)
    .map(({ runId }) => runId)
}
