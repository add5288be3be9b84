/**
 * The stage of the guided tour: chapters speak and show through it. A chapter states what it
 * expects; a tour that does not go as told ends with a fault, so it cannot drift from the product.
 */
import { BrokenInvariant } from '../../base/index.ts'
import type { Paint, Terminal } from '../call/terminal.ts'

export interface Chapter {
  readonly title: string
  readonly play: (stage: DemoOutput) => Promise<void> | void
}

export class DemoOutput {
  readonly #paint: Paint
  #text = ''

  constructor(terminal: Terminal) {
    this.#paint = terminal.paint
  }

  get paint(): Paint {
    return this.#paint
  }

  say(text: string): void {
    this.#text += `${text}\n`
  }

  /** A command line that the reader can repeat. */
  command(text: string): void {
    this.#text += `\n  ${this.#paint.dim('$')} ${this.#paint.strong(text)}\n`
  }

  /** What was answered, indented. */
  answer(text: string): void {
    this.#text += `${text.replace(/^(?=.)/gm, '  ')}\n`
  }

  expect(holds: boolean, what: string): void {
    if (!holds) throw new BrokenInvariant(`the tour expected: ${what}`)
  }

  /** Takes what has been said so far. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}
