/** How a command uses the terminal, as far as its output tells: line by line, or all over the screen. */

/** Moves the cursor to other lines, scrolls, or leaves the ordinary screen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with one.
const DRAWING = /\u001b(?:\[[\d;]*[ABEFHLMSTdfr]|\[\?(?:47|1047|1049)h|[78MD])/
const SEQUENCE_MAX = 16
const LINE_FEED = 0x0a

export class ScreenUse {
  /** Whether the command has drawn on other lines than its last one. */
  isDrawn = false
  isAtLineStart = true
  #last = ''

  take(bytes: Uint8Array): void {
    const last = bytes.at(-1)
    if (last === undefined) return
    this.isAtLineStart = last === LINE_FEED
    if (this.isDrawn) return
    const text = `${this.#last}${Buffer.from(bytes).toString('latin1')}`
    this.isDrawn = DRAWING.test(text)
    this.#last = text.slice(-SEQUENCE_MAX)
  }
}
