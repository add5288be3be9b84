/**
 * Short pauses in long synchronous work. Single calls on files are many times faster than promised
 * ones, but a process that answers others must not be gone for a whole scan.
 */
const TURN_MS = 8

export class Pace {
  #since = performance.now()

  /** Lets others have a turn when the present one has lasted long enough. */
  async step(): Promise<void> {
    if (performance.now() - this.#since < TURN_MS) return
    await new Promise((resolved) => setImmediate(resolved))
    this.#since = performance.now()
  }
}
