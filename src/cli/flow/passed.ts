/** Time that passed while no process walked a run: recorded by the commands that look at runs, and told. */
import { FaultError } from '../../base/index.ts'
import { SYSTEM_CLOCK } from '../../machine/index.ts'
import {
  dueRuns,
  type FlowHost,
  type PassedTimer,
  passAllTimers,
  passTimers,
} from '../../runs/index.ts'
import type { CommandCall } from '../call/command.ts'
import type { ReadSession } from '../call/home.ts'
import type { GateSession } from '../gate/open.ts'
import { plain } from '../history/text.ts'
import { flowHost, withFlows } from './open.ts'

const clock = SYSTEM_CLOCK

/**
 * Records what has passed in a run, or in all of them, where a person looks; an actor reads only. Opens
 * the gate only if a time has come.
 */
export async function passWhenRead(
  call: CommandCall,
  { home, caller }: ReadSession,
  runId: string | null,
): Promise<void> {
  const isDue = dueRuns({ home, clock }).some((one) => runId === null || one === runId)
  if (!isDue || caller.principal.kind !== 'human') return
  try {
    await withFlows(call, async ({ host }) =>
      tellPassed(call, await (runId === null ? passAllTimers(host) : passTimers(host, runId))),
    )
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    // What is recorded is shown all the same.
    call.terminal.err(`${plain(error.message)}\n`)
  }
}

/** The same for a command that has the gate open. */
export async function passWhenOpen(call: CommandCall, gate: GateSession): Promise<void> {
  const { home, caller } = gate.session
  if (caller.principal.kind !== 'human' || dueRuns({ home, clock }).length === 0) return
  tellPassed(call, await passAllTimers(flowHost(gate)))
}

/** The same for one run, before a person tells it something. */
export async function passBefore(call: CommandCall, host: FlowHost, runId: string): Promise<void> {
  if (dueRuns(host).includes(runId)) tellPassed(call, await passTimers(host, runId))
}

export function tellPassed({ terminal }: CommandCall, passed: readonly PassedTimer[]): void {
  for (const { run_id, title, kind, until } of passed) {
    const what = kind === 'deadline' ? 'the deadline' : 'the wait'
    const words = `${what} of ${title} passed at ${until}, while no process walked ${run_id}; it is recorded now`
    terminal.err(`${plain(words)}\n`)
  }
}
