/**
 * Folded states that a process keeps from one gate to the next: each gate takes the state of its stream
 * and gives it back. A service or worker opens many gates, also side by side, and each would fold the
 * same facts.
 */
import type { StandingOptions } from '../../gate/index.ts'
import { StandingView } from './standing-view.ts'

type StandingPlace = ConstructorParameters<typeof StandingView>[0]

interface Held {
  readonly view: StandingView
  readonly options: string
  takers: number
}

export class SharedStandings {
  /** By stream, as the laws are now. */
  readonly #current = new Map<string, Held>()

  /** A view with these settings; `rest` gives it back. */
  take(
    place: StandingPlace,
    options: StandingOptions,
  ): { readonly view: StandingView; readonly rest: () => void } {
    const words = JSON.stringify(options)
    let held = this.#current.get(place.stream)
    if (held?.options !== words) {
      const former = held
      held = { view: new StandingView(place, options, true), options: words, takers: 0 }
      this.#current.set(place.stream, held)
      if (former?.takers === 0) former.view.close()
    }
    const taken = held
    taken.takers++
    return { view: taken.view, rest: () => this.#rest(place.stream, taken) }
  }

  #rest(stream: string, held: Held): void {
    held.takers--
    if (this.#current.get(stream) === held) held.view.rest()
    else if (held.takers === 0) held.view.close()
  }

  close(): void {
    for (const { view } of this.#current.values()) view.close()
    this.#current.clear()
  }
}
