/**
 * Ends a run that a person cancels: attempts are ended, what is staged is dropped, what was promoted
 * stays. The process that walks the run does it; without one this process does.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { faultCode } from '../base/index.ts'
import { type FlowFact, outstanding } from '../flow/index.ts'
import { type FlowHost, refuseElsewhere } from './flow-host.ts'
import { FlowRun } from './run.ts'
import { showBlocked } from './run-files.ts'
import { RunFolder } from './run-folder.ts'
import { leaveOrder, loadRun, lookAtRun, sweep, type WalkedRun } from './runs.ts'

const LOOK_MS = 200
const WAIT_MS = 30_000

/** Leaves the order first, so that a run is cancelled even if this process dies. Returns the run. */
export async function cancelRun(
  host: FlowHost,
  runId: string,
  principal: string,
  comment: string | null,
): Promise<WalkedRun> {
  await refuseElsewhere(host.ledger, runId)
  leaveOrder(host, runId, { kind: 'cancel', principal, comment })
  const until = host.clock.elapsedMs() + WAIT_MS
  for (;;) {
    const isDone = await obeyAlone(host, runId)
    // A process that ends the run records first what it is promoting.
    if (isDone || host.clock.elapsedMs() > until) return lookAtRun(host, runId)
    await pause(LOOK_MS)
  }
}

/** Takes the orders of a run that no process walks; false if one walks it. */
async function obeyAlone(host: FlowHost, runId: string): Promise<boolean> {
  try {
    await new RunFolder(host.home, runId).locked(async () => {
      const { flow, workspace, ...history } = await loadRun(host.ledger, host.stream, runId)
      const run = new FlowRun({ host, flow, runId, workspace })
      run.restore(history)
      await recordPromoted(host, run)
      await run.takeCancel()
      await sweep(host, run)
      run.folder.noteWaiting([])
      run.folder.noteBlocked(false)
      showBlocked([], run.folder)
    })
    return true
  } catch (error) {
    if (faultCode(error) === 'flow.taken') return false
    throw error
  }
}

/** Records promotions that a process made real and died before it had recorded them. */
async function recordPromoted({ attempts }: FlowHost, run: FlowRun): Promise<void> {
  for (const command of outstanding(run.state)) {
    if (command.type !== 'promote') continue
    const { node_id, manifest, command: number } = command
    const { actionId: action_id = null } = run.stages.find(command) ?? {}
    if (action_id === null || !(await attempts.isPromoted(action_id))) continue
    await run.record({ type: 'promoted', node_id, command: number, action_id, manifest })
  }
}

/** The acts that a run promoted and did not take back, the last first. */
export function actsOf(facts: readonly FlowFact[]): readonly string[] {
  const acts: string[] = []
  const undone = new Set<string>()
  const asked = new Map<number, string>()
  for (const fact of facts) {
    if (fact.type !== 'flow_event_v1') continue
    const { payload } = fact
    if (payload.kind === 'commanded' && payload.command.type === 'roll_back')
      asked.set(payload.command.command, payload.command.action_id)
    if (payload.kind !== 'event') continue
    const { event } = payload
    if (event.type === 'promoted' && event.action_id !== null) acts.push(event.action_id)
    if (event.type === 'rolled_back' && event.is_restored)
      undone.add(asked.get(event.command) ?? '')
  }
  return acts.filter((act) => !undone.has(act)).reverse()
}
