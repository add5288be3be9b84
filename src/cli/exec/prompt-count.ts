/** How often a human had to be asked about one act: what an approval costs, counted where it is asked. */
import type { Confirm } from '../../service/index.ts'

export class PromptCount {
  #asked = 0

  /** Counts every question, independent of its answer. */
  counting(confirm: Confirm): Confirm {
    return (question) => {
      this.#asked++
      return confirm(question)
    }
  }

  get asked(): number {
    return this.#asked
  }
}
