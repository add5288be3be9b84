/**
 * The lock of a workspace, asked for while rehearsed bytes are still being staged: setting it takes a
 * program, for which nobody has to wait then. A process that lives long starts that program already
 * while the command is running. Whoever takes the lock lets it go; what nobody took is let go in the end,
 * also when it comes only after that.
 */
import { type HeldLock, ParkedLock, takeWorkspaceLock } from '../promotion/index.ts'
import { expectsManyTools } from '../tree/tool.ts'

/** How long somebody else is waited for. */
export const LOCK = { waitMs: 30_000 }
/** Before that a command may be over, and has to be looked after. */
const PARKING_MS = 3

export class LockAhead {
  readonly #root: string
  #held: Promise<HeldLock> | null = null
  #parking: NodeJS.Timeout | null = null
  #parked: ParkedLock | null = null
  #isOver = false

  constructor(root: string) {
    this.#root = root
  }

  /** A command has been begun. */
  park(): void {
    if (!expectsManyTools() || this.#parking !== null) return
    this.#parking = setTimeout(() => {
      try {
        this.#parked = new ParkedLock(this.#root)
      } catch {
        // Who takes the lock hears why it cannot be.
      }
    }, PARKING_MS)
  }

  /** In the next turn, when the caller has begun what is to go on meanwhile. */
  begin(): void {
    setImmediate(() => {
      if (this.#isOver || this.#held !== null) return
      this.#held = this.#ask()
      // Heard of by who takes it.
      this.#held.catch(() => undefined)
    })
  }

  /** Held from now on by the caller, whether it was asked for before or not. */
  take(): Promise<HeldLock> {
    const held = this.#held ?? this.#ask()
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
    this.#stopParking()
    this.#parked?.end()
    this.#parked = null
  }

  #ask(): Promise<HeldLock> {
    this.#stopParking()
    const parked = this.#parked
    this.#parked = null
    return parked?.take(LOCK) ?? takeWorkspaceLock(this.#root, LOCK)
  }

  #stopParking(): void {
    if (this.#parking !== null) clearTimeout(this.#parking)
  }
}
