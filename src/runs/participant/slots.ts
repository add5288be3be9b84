/**
 * Places for participants that work at the same time, given out in the order of asking. A flow may be
 * ready to run hundreds of nodes at once, and each sandbox is several processes.
 */
import { availableParallelism } from 'node:os'

const PLACES_MAX = 16

/** Two for each core: one works while another waits for its disk or its model. */
export function usualPlaces(): number {
  return Math.min(PLACES_MAX, 2 * availableParallelism())
}

/** Gives a place back; a second call does nothing. */
type Release = () => void

export class Slots {
  #free: number
  readonly #line: (() => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** Waits for a place; returns null if the signal aborts before there is one. */
  take(signal: AbortSignal): Promise<Release | null> {
    if (signal.aborted) return Promise.resolve(null)
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve(this.#release())
    }
    return new Promise((resolve) => {
      const called = (): void => {
        signal.removeEventListener('abort', leave)
        resolve(this.#release())
      }
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(called), 1)
        resolve(null)
      }
      this.#line.push(called)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #release(): Release {
    let isGivenBack = false
    return () => {
      if (isGivenBack) return
      isGivenBack = true
      const next = this.#line.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
