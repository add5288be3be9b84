/** A number of lines that several texts share; null: no end. */

export class LineBudget {
  #left: number | null

  constructor(lines: number | null) {
    this.#left = lines
  }

  /** How many texts were not shown at all. */
  leftOut = 0

  leaveOut(): void {
    this.leftOut++
  }

  get isSpent(): boolean {
    return this.#left !== null && this.#left <= 0
  }

  /** Gives out the lines of a text while there is room, and says when there was more. */
  async *spend(pieces: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const piece of pieces) {
      if (this.isSpent) {
        yield '      … `a` shows the rest\n'
        return
      }
      yield piece
      if (this.#left !== null) this.#left -= piece.split('\n').length - 1
    }
  }
}
