/** Chance with a seed, for long runs that have to be repeatable: xorshift, 32 bits. */

export class Chance {
  #state: number

  constructor(seed: number) {
    // Zero would stay zero for ever.
    this.#state = (seed ^ 0x9e3779b9) | 0 || 1
    for (let turn = 0; turn < 8; turn++) this.#next()
  }

  #next(): number {
    let state = this.#state
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    this.#state = state
    return state >>> 0
  }

  below(count: number): number {
    return this.#next() % count
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }
}
