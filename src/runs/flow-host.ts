/**
 * What runs of flows are given of the machine: ledger, gate, people, clock.
 *
 * The halt, for what flows do outside a sandbox: requests to participants elsewhere. It is looked at
 * before each of them and watched while they last; sandboxes and promotions look for themselves.
 *
 * Which machine walks a run, where a home has several: its stages and orders lie there. A run is
 * bound to the machine that begins it, which signs that; another one refuses the run in words.
 */

import { type FaultError, faultCode, faultError, showName } from '../base/index.ts'
import type { Home } from '../home/index.ts'
import type { Principal } from '../ledger/index.ts'
import type { Clock } from '../machine/index.ts'
import { type AttemptSurface, type Confirm, watchHalt } from '../service/index.ts'
import { type Ledger, machineName } from '../store/index.ts'
import { runHeads } from './run-records.ts'

export interface FlowHost {
  readonly home: Pick<Home, 'directory' | 'state'>
  readonly ledger: Ledger
  readonly stream: string
  /** Walks the run; its facts name this principal. */
  readonly principal: Principal
  /** That of the home: a participant `{human: ann}` is a person of it. */
  readonly namespace: string
  readonly attempts: AttemptSurface
  /** Undoes a promoted act; rejects like the gate does. */
  readonly rollback: (actionId: string, run: string) => Promise<{ readonly verified: boolean }>
  /** Asks a person about effects that need approval. */
  readonly confirm: Confirm
  /** Where secrets of participants are looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Whether everything is halted (G-23), by the file or by the ledger. */
  readonly isHalted: () => Promise<boolean>
}

/** Fails if everything is halted. */
export async function refuseHalted({ isHalted }: Pick<FlowHost, 'isHalted'>): Promise<void> {
  if (await isHalted()) throw halted()
}

/** Runs with a signal that also ends when a person halts everything. */
export async function untilHalted<T>(
  { home }: Pick<FlowHost, 'home'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const halt = new AbortController()
  const unwatch = watchHalt(home.state, () => halt.abort(halted()))
  try {
    const done = await work(AbortSignal.any([signal, halt.signal]))
    halt.signal.throwIfAborted()
    return done
  } finally {
    unwatch()
  }
}

function halted(): FaultError {
  const message = 'everything is halted: flows neither start nor go on'
  const hint = '`writ resume` lifts the halt; `writ flow resume` then goes on'
  return faultError('halted', '', message, hint)
}

function bindingOf(runId: string): string {
  return `run/${runId}`
}

/** Binds a run to this machine before its first fact. */
export async function bindRun(ledger: Ledger, runId: string): Promise<void> {
  if (ledger.files !== null) await ledger.files.put(bindingOf(runId), await ledger.machine())
}

/**
 * Returns the machine that walks a run, by the fingerprint of its key; null where there is one machine. Fails
 * if only others than machines of the home have said which it is.
 */
export async function machineOf(
  { files }: Pick<Ledger, 'files'>,
  runId: string,
): Promise<string | null> {
  const hint =
    'look who has the role of the server, and begin the run again: `writ flow run FLOW`, with `--queue` for workers'
  return files === null ? null : files.get(bindingOf(runId), hint)
}

/** Whether another machine walks the run. */
export async function isElsewhere(ledger: Ledger, runId: string): Promise<boolean> {
  const machine = await machineOf(ledger, runId)
  return machine !== null && !ledger.machineNames().includes(machine)
}

/** Fails if another machine walks the run. */
export async function refuseElsewhere(ledger: Ledger, runId: string): Promise<void> {
  const machine = await machineOf(ledger, runId)
  if (machine === null || ledger.machineNames().includes(machine)) return
  const name = await machineName(ledger, machine)
  const message = `the run ${showName(runId)} is walked on another machine of the home, ${name}, where its files lie`
  const hint = `type on ${name}: \`writ flow resume ${runId}\`, or start a worker there: \`writ worker\`; answers reach it from any machine`
  throw faultError('machine.elsewhere', runId, message, hint)
}

/** So many of the newest runs are looked at: whether a run has ended is known from its facts alone. */
const LOOKED_AT = 100

/** Returns runs that other machines of the home walk: a person may answer them at any machine. */
export async function runsElsewhere(ledger: Ledger, stream: string): Promise<readonly string[]> {
  if (ledger.files === null) return []
  const own = ledger.machineNames()
  const found: string[] = []
  let looked = 0
  for await (const { run_id } of runHeads(ledger, stream)) {
    if (++looked > LOOKED_AT) break
    // A run whose machine is not known is listed, and refused when it is answered.
    const machine = await machineOf(ledger, run_id).catch(unsigned)
    if (machine !== null && !own.includes(machine)) found.push(run_id)
  }
  return found
}

function unsigned(error: unknown): string {
  if (faultCode(error) === 'machine.unknown') return ''
  throw error
}
