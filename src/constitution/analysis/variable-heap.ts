/**
 * The open variables of the solver as a binary heap, the most active on top. It holds a variable at
 * most once. Some may have a value by now: the caller of `take` checks.
 */

export class VariableHeap {
  readonly #heap: number[] = []
  readonly #places: number[] = []
  readonly #activityOf: (variable: number) => number

  constructor(activityOf: (variable: number) => number) {
    this.#activityOf = activityOf
  }

  insert(variable: number): void {
    if ((this.#places[variable] ?? -1) >= 0) return
    this.#places[variable] = this.#heap.push(variable) - 1
    this.#up(this.#heap.length - 1)
  }

  /** Removes and returns the top variable; 0 if the heap is empty. */
  take(): number {
    const top = this.#heap[0]
    if (top === undefined) return 0
    // The heap has a top, so it has a last element.
    const last = this.#heap.pop() as number
    this.#places[top] = -1
    if (last !== top) {
      this.#heap[0] = last
      this.#places[last] = 0
      this.#down(0)
    }
    return top
  }

  rise(variable: number): void {
    const place = this.#places[variable] ?? -1
    if (place >= 0) this.#up(place)
  }

  #up(from: number): void {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#isBefore(place, parent)) return
      this.#swap(place, parent)
      place = parent
    }
  }

  #down(from: number): void {
    let place = from
    for (;;) {
      const left = 2 * place + 1
      if (left >= this.#heap.length) return
      const child = left + 1 < this.#heap.length && this.#isBefore(left + 1, left) ? left + 1 : left
      if (!this.#isBefore(child, place)) return
      this.#swap(child, place)
      place = child
    }
  }

  /** Compares two places, both below the length of the heap. */
  #isBefore(left: number, right: number): boolean {
    return (
      this.#activityOf(this.#heap[left] as number) > this.#activityOf(this.#heap[right] as number)
    )
  }

  #swap(left: number, right: number): void {
    // `#up` and `#down` pass places below the length of the heap.
    const moved = this.#heap[left] as number
    const other = this.#heap[right] as number
    this.#heap[left] = other
    this.#heap[right] = moved
    this.#places[other] = left
    this.#places[moved] = right
  }
}
