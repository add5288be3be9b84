/**
 * What the attempts under way use of the budgets of a run. The facts know of it when an attempt has
 * ended; the meter counts meanwhile, and ends every attempt when the time of the run is used up.
 */
import type { BudgetLimits, RunState } from '../flow/index.ts'
import type { Clock } from '../machine/index.ts'
import type { NodeAttempt } from './live-attempt.ts'

/** A budget that is used up, by what attempts used that have ended or are under way. */
export interface UsedBudget {
  readonly budget: 'seconds' | 'tokens'
  readonly used: number
}

/** An attempt while it is counted. */
interface Counted {
  /** Aborts when the time of the run is used up. */
  readonly signal: AbortSignal
  /** Returns the budget that is used up by then; null if something is left of each. */
  readonly end: () => UsedBudget | null
}

interface MeteredRun {
  readonly limits: () => BudgetLimits
  readonly used: () => RunState['totals']
  readonly clock: Pick<Clock, 'elapsedMs'>
}

/** Timers hold no longer spans; the meter looks again then. */
const LOOK_MS_MAX = 3_600_000

export class BudgetMeter {
  readonly #run: MeteredRun
  readonly #running = new Map<NodeAttempt, AbortController>()
  #timer: NodeJS.Timeout | null = null

  constructor(run: MeteredRun) {
    this.#run = run
  }

  begin(live: NodeAttempt): Counted {
    const abort = new AbortController()
    const { signal } = abort
    this.#running.set(live, abort)
    this.look()
    const end = (): UsedBudget | null => {
      const spent = this.#spent(signal.aborted)
      this.#running.delete(live)
      this.look()
      return spent
    }
    return { signal, end }
  }

  /** What is left of the time, by facts and attempts under way; null without a budget. */
  secondsLeft(): number | null {
    const { seconds } = this.#run.limits()
    return seconds === undefined ? null : Math.max(0, seconds - this.#seconds())
  }

  /** The same of tokens; infinite without a budget. */
  tokensLeft(): number {
    const { tokens } = this.#run.limits()
    return Math.max(0, (tokens ?? Number.POSITIVE_INFINITY) - this.#tokens())
  }

  /** Ends the attempts if the time is used up, else looks again when it will be. */
  look(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const left = this.#running.size === 0 ? null : this.secondsLeft()
    if (left === null) return
    if (left === 0) {
      for (const abort of this.#running.values()) abort.abort()
      return
    }
    const waitMs = Math.min(LOOK_MS_MAX, (left * 1000) / this.#running.size)
    this.#timer = setTimeout(() => this.look(), Math.ceil(waitMs))
  }

  #spent(isOutOfTime: boolean): UsedBudget | null {
    if (isOutOfTime || this.secondsLeft() === 0) return { budget: 'seconds', used: this.#seconds() }
    return this.tokensLeft() === 0 ? { budget: 'tokens', used: this.#tokens() } : null
  }

  #seconds(): number {
    const nowMs = this.#run.clock.elapsedMs()
    let used = this.#run.used().seconds
    for (const { startedMs } of this.#running.keys()) used += (nowMs - startedMs) / 1000
    return used
  }

  #tokens(): number {
    let used = this.#run.used().tokens
    for (const live of this.#running.keys()) used += live.tokens + live.tokensUnderWay
    return used
  }
}
