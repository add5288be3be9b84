/**
 * The service's own loops: `writ schedule run` starts the runs of schedules and goes on with runs whose
 * times have come, `writ notify run` tells people of questions (N-1), `writ dispatch run` brings
 * tasks to devices (D-1). Each is a process of the
 * service, begun when there is something to do for it, and begun again if it ends.
 */
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MAIN_STREAM } from '../ledger/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import type { ProgramRuns } from './call/program-runs.ts'
import type { Log } from './look/log.ts'
import { hasWays } from './notices.ts'

const LOOK_MS = 5_000
const REST_MS_MAX = 300_000
const WALKED = ['schedule_v1', 'flow_started_v1'] as const

/** A command that loops as a process of the service, while there is something for it to do. */
interface ServedLoop {
  readonly command: readonly string[]
  readonly isNeeded: () => Promise<boolean>
}

export function walkRuns(
  home: HostedHome,
  programs: ProgramRuns,
  log: Log,
  stop: AbortSignal,
): Promise<void> {
  const loop = { command: ['schedule', 'run'], isNeeded: () => hasRuns(home) }
  return keepLoop(loop, home, programs, log, stop)
}

/** Tells people of questions, where the settings name a way (N-1). */
export function tellPeople(
  home: HostedHome,
  programs: ProgramRuns,
  log: Log,
  stop: AbortSignal,
  { userName, port }: { readonly userName: string; readonly port: number },
): Promise<void> {
  // The name under which browsers reach the console.
  const link = `--console=http://writ.localhost:${port}`
  const loop = { command: ['notify', 'run', link], isNeeded: () => hasWays(home, userName) }
  return keepLoop(loop, home, programs, log, stop)
}

/** Brings tasks to devices, where a task is for one (D-1). */
export function dispatchTasks(
  home: HostedHome,
  programs: ProgramRuns,
  log: Log,
  stop: AbortSignal,
): Promise<void> {
  const loop = { command: ['dispatch', 'run'], isNeeded: () => hasTasks(home) }
  return keepLoop(loop, home, programs, log, stop)
}

async function keepLoop(
  { command, isNeeded }: ServedLoop,
  home: HostedHome,
  programs: ProgramRuns,
  log: Log,
  stop: AbortSignal,
): Promise<void> {
  let restMs = LOOK_MS
  while (!stop.aborted) {
    try {
      if (await isNeeded()) {
        const { status, err } = await loopOnce(command, home, programs)
        if (stop.aborted) return
        log.warn({ event: 'loop_ended', loop: command[0], status, words: err.slice(-500) })
        restMs = Math.min(2 * restMs, REST_MS_MAX)
      }
    } catch {
      // The ledger may be away for a while; the next look finds what came meanwhile.
    }
    await pause(restMs, null, { signal: stop }).catch(() => null)
  }
}

/** In any stream: tasks of tenants are dispatched as well. */
async function hasTasks({ ledger }: HostedHome): Promise<boolean> {
  for (const stream of await ledger.store.streams()) {
    const query = { stream, type: 'ao_act_task_v0', limit: 1, order: 'newest_first' } as const
    if ((await ledger.store.find(query)).facts.length > 0) return true
  }
  return false
}

async function hasRuns({ ledger }: HostedHome): Promise<boolean> {
  for (const type of WALKED) {
    const query = { stream: MAIN_STREAM, type, limit: 1, order: 'newest_first' } as const
    if ((await ledger.store.find(query)).facts.length > 0) return true
  }
  return false
}

/** The process is the local human's, who started the service, and ends with it. */
function loopOnce(
  command: readonly string[],
  { home: { directory } }: HostedHome,
  programs: ProgramRuns,
) {
  return programs.walk({
    argv: [...command, '--attached', '--jsonl', `--home=${directory}`],
    cwd: dirname(directory),
    token: null,
    passphrase: null,
    input: null,
    readsBelow: null,
    isUrgent: false,
    limitMs: Number.POSITIVE_INFINITY,
    abort: null,
  }).ended
}
