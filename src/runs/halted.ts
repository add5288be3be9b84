/**
 * The halt, for what flows do outside a sandbox: requests to participants elsewhere. It is looked at
 * before each of them and watched while they last; sandboxes and promotions look for themselves.
 */
import { FaultError, fault } from '../base/index.ts'
import { watchHalt } from '../service/index.ts'
import type { FlowHost } from './flow-host.ts'

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
  return new FaultError(fault('halted', '', null, { message, hint }))
}
