/**
 * Ends an agent on the word of a person: asks it, hangs up its terminal, since an interactive shell
 * ignores the first, and kills what goes on all the same.
 */
import { setTimeout as pause } from 'node:timers/promises'

const HANG_UP_MS = 3_000
const KILL_MS = 7_000

export class AgentStop {
  #isAsked = false
  #isKilled = false

  get isAsked(): boolean {
    return this.#isAsked
  }

  /** What was killed may be half written. */
  get isKilled(): boolean {
    return this.#isKilled
  }

  /** `over` is aborted when the agent has ended. Asks once, however often it is called. */
  async end(signal: (name: NodeJS.Signals) => void, over: AbortSignal): Promise<void> {
    signal('SIGTERM')
    if (this.#isAsked) return
    this.#isAsked = true
    await pause(HANG_UP_MS, undefined, { signal: over }).catch(() => undefined)
    if (!over.aborted) signal('SIGHUP')
    await pause(KILL_MS, undefined, { signal: over }).catch(() => undefined)
    if (over.aborted) return
    this.#isKilled = true
    signal('SIGKILL')
  }
}
