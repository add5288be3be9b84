/**
 * What runs of flows are given of the machine: ledger, gate, people, clock.
 *
 * The halt, for what flows do outside a sandbox: requests to participants elsewhere. It is looked at
 * before each of them and watched while they last; sandboxes and promotions look for themselves.
 */

import { type FaultError, faultError } from '../base/index.ts'
import type { Home } from '../home/index.ts'
import type { Principal } from '../ledger/index.ts'
import type { Clock } from '../machine/index.ts'
import { type AttemptSurface, type Confirm, watchHalt } from '../service/index.ts'
import type { Ledger } from '../store/index.ts'

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
