/**
 * An attempt while it lasts: the participant's place in the gate, opened when it is first needed. That of
 * a node is kept between an answer that is invalid and the one that is asked for next.
 */
import type { Attempt, HeldAttempt, RefusedAccess } from '../service/index.ts'
import type { UsedBudget } from './budget-meter.ts'
import type { RunCommand } from './participant-input.ts'

export class LiveAttempt {
  readonly #begin: (stopped: AbortSignal) => Promise<Attempt>
  /** Not the signal of the command: an attempt may outlive the command that began it. */
  readonly #stop = new AbortController()
  #attempt: Promise<Attempt> | null = null
  #told = 0

  /** Gives back its place among those that work. */
  readonly release: () => void

  constructor(begin: (stopped: AbortSignal) => Promise<Attempt>, release: () => void = () => {}) {
    this.#begin = begin
    this.release = release
  }

  /** Stops the attempt when the signal aborts. */
  obey(signal: AbortSignal): void {
    if (signal.aborted) this.#stop.abort()
    else signal.addEventListener('abort', () => this.#stop.abort(), { once: true })
  }

  open(): Promise<Attempt> {
    this.#attempt ??= this.#begin(this.#stop.signal)
    return this.#attempt
  }

  /** Returns the attempt; null if `open` was never called. */
  opened(): Promise<Attempt> | null {
    return this.#attempt
  }

  /** Ends the attempt; null if `open` was never called. */
  async finish(): Promise<HeldAttempt | null> {
    const attempt = await this.#attempt
    return attempt === null ? null : attempt.finish()
  }

  /** Accesses that were refused since it was last asked. */
  async refused(): Promise<readonly RefusedAccess[]> {
    const attempt = await this.#attempt?.catch(() => null)
    const refused = attempt?.refusedAccesses() ?? []
    const fresh = refused.slice(this.#told)
    this.#told = refused.length
    return fresh
  }

  /** Gives the attempt up and forgets it. Ignores failures: then the attempt is gone already. */
  async abandon(): Promise<void> {
    const attempt = await this.#attempt?.catch(() => null)
    await attempt?.abandon().catch(() => {})
    this.#attempt = null
    this.release()
  }
}

/** An attempt at a node of a run, with the command that began it and what it has used up. */
export class NodeAttempt extends LiveAttempt {
  readonly command: RunCommand
  readonly startedMs: number
  /** Of what it was asked before, and of what it is asked now. */
  tokens = 0
  tokensUnderWay = 0
  /** The budget that was used up when it was last asked. */
  endedBy: UsedBudget | null = null

  constructor(
    command: RunCommand,
    startedMs: number,
    ...opening: ConstructorParameters<typeof LiveAttempt>
  ) {
    super(...opening)
    this.command = command
    this.startedMs = startedMs
  }
}
