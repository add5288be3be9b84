/**
 * The service's own loop: starts the runs of schedules, and goes on with runs whose times have
 * come. It is `writ schedule run` as a process of the service, begun when the home has a schedule or a
 * run, and begun again if it ends.
 */
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MAIN_STREAM } from '../ledger/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import type { ProgramRuns } from './call/program-runs.ts'
import type { Log } from './look/log.ts'

const LOOK_MS = 5_000
const REST_MS_MAX = 300_000
const WALKED = ['schedule_v1', 'flow_started_v1'] as const

export async function walkRuns(
  home: HostedHome,
  programs: ProgramRuns,
  log: Log,
  stop: AbortSignal,
): Promise<void> {
  let restMs = LOOK_MS
  while (!stop.aborted) {
    try {
      if (await hasRuns(home)) {
        const { status, err } = await loopOnce(home, programs)
        if (stop.aborted) return
        log.warn({ event: 'loop_ended', status, words: err.slice(-500) })
        restMs = Math.min(2 * restMs, REST_MS_MAX)
      }
    } catch {
      // The ledger may be away for a while; the next look finds what came meanwhile.
    }
    await pause(restMs, null, { signal: stop }).catch(() => null)
  }
}

async function hasRuns({ ledger }: HostedHome): Promise<boolean> {
  for (const type of WALKED) {
    const query = { stream: MAIN_STREAM, type, limit: 1, order: 'newest_first' } as const
    if ((await ledger.store.find(query)).facts.length > 0) return true
  }
  return false
}

/** The process is the local human's, who started the service, and ends with it. */
function loopOnce({ home: { directory } }: HostedHome, programs: ProgramRuns) {
  return programs.walk({
    argv: ['schedule', 'run', '--attached', '--jsonl', `--home=${directory}`],
    cwd: dirname(directory),
    token: null,
    passphrase: null,
    input: null,
    readsBelow: null,
    limitMs: Number.POSITIVE_INFINITY,
    abort: null,
  }).ended
}
