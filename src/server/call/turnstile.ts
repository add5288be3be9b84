/** So many at once; the others wait in the order in which they came, up to a bound. */
import { faultError } from '../../base/index.ts'

export class Turnstile {
  #free: number
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []

  constructor(places: number, waitingMax = Number.POSITIVE_INFINITY) {
    this.#free = places
    this.#waitingMax = waitingMax
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#wait()
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) {
      throw faultError('api.busy', '', 'too many requests are under way', 'ask again in a while')
    }
    return new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
