/**
 * So many at once. The others wait, each caller in a line of its own up to a bound, and the lines take
 * turns: a caller who asks for much keeps no other one waiting for all of it.
 */
import { faultError } from '../../base/index.ts'

export class Turnstile {
  #free: number
  readonly #waitingMax: number
  /** The line whose turn is next comes first. */
  readonly #lines = new Map<string, (() => void)[]>()

  /** `waitingMax` bounds the line of each caller. */
  constructor(places: number, waitingMax = Number.POSITIVE_INFINITY) {
    this.#free = places
    this.#waitingMax = waitingMax
  }

  async pass<T>(work: () => Promise<T>, caller = ''): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#wait(caller)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #wait(caller: string): Promise<void> {
    const line = this.#lines.get(caller) ?? []
    if (line.length >= this.#waitingMax) {
      throw faultError('api.busy', '', 'too many requests are under way', 'ask again in a while')
    }
    this.#lines.set(caller, line)
    return new Promise<void>((resolve) => line.push(resolve))
  }

  #leave(): void {
    const [first] = this.#lines
    if (first === undefined) {
      this.#free += 1
      return
    }
    const [caller, line] = first
    const next = line.shift()
    this.#lines.delete(caller)
    if (line.length > 0) this.#lines.set(caller, line)
    next?.()
  }
}
