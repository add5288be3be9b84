/**
 * The lock of a workspace, asked for while rehearsed bytes are still being staged: setting it takes a
 * program, for which nobody has to wait then. Whoever takes the lock lets it go; what nobody took is
 * let go in the end, also when it comes only after that.
 */
import { type HeldLock, takeWorkspaceLock } from '../promotion/index.ts'

/** How long somebody else is waited for. */
export const LOCK = { waitMs: 30_000 }

export class LockAhead {
  readonly #root: string
  #held: Promise<HeldLock> | null = null
  #isOver = false

  constructor(root: string) {
    this.#root = root
  }

  /** In the next turn, when the caller has begun what is to go on meanwhile. */
  begin(): void {
    setImmediate(() => {
      if (this.#isOver || this.#held !== null) return
      this.#held = takeWorkspaceLock(this.#root, LOCK)
      // Heard of by who takes it.
      this.#held.catch(() => undefined)
    })
  }

  /** Held from now on by the caller, whether it was asked for before or not. */
  take(): Promise<HeldLock> {
    const held = this.#held ?? takeWorkspaceLock(this.#root, LOCK)
    this.#held = null
    this.#isOver = true
    return held
  }

  letGo(): void {
    this.#isOver = true
    this.#held?.then(
      ({ release }) => release(),
      () => undefined,
    )
    this.#held = null
  }
}
