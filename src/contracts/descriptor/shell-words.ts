/**
 * A first look at a shell text: the simple commands at its top level as lists of words, and whether
 * it ends with `&`. Deliberately no shell: nothing is expanded, and where the text leaves the plain
 * ground (here-documents, substitutions, functions) the look ends and later commands are not seen.
 * Used to recognise what is unmistakable, never to clear anything.
 */

/** The words of one simple command, quotes removed. */
export type ShellCommand = readonly string[]

interface ShellText {
  readonly commands: readonly ShellCommand[]
  /** The last command is sent to the background. */
  readonly endsInBackground: boolean
}

const WORDS_BEFORE_A_COMMAND: ReadonlySet<string> = new Set([
  'if',
  'then',
  'else',
  'elif',
  'while',
  'until',
  'do',
  '!',
  '{',
  'time',
  'exec',
  'command',
])

export function scanShell(text: string): ShellText {
  const scan = new Scan(text)
  while (scan.step());
  return scan.finish()
}

class Scan {
  readonly #text: string
  #at = 0
  #word: string | null = null
  #command: string[] = []
  readonly #commands: string[][] = []
  #endsInBackground = false

  constructor(text: string) {
    this.#text = text
  }

  /** Reads one element; false at the end, or where plain ground ends. */
  step(): boolean {
    const unit = this.#text[this.#at]
    if (unit === undefined) return false
    const next = this.#text[this.#at + 1]
    if (unit === ' ' || unit === '\t') return this.#endWord(1)
    if (unit === '\\') return this.#literal(next === '\n' ? '' : (next ?? ''), 2)
    if (unit === "'" || unit === '"') return this.#quoted(unit)
    if (unit === '#' && this.#word === null) return this.#comment()
    // Substitutions and here-documents: what follows is no longer plain.
    if (unit === '`' || (unit === '$' && next === '(') || (unit === '<' && next === '<')) {
      return false
    }
    if (unit === '&' && this.#isRedirection(next)) return this.#literal(unit, 1)
    if (unit === '&') return this.#endCommand(next === '&' ? 2 : 1, next !== '&')
    if (unit === ';' || unit === '\n' || unit === '|' || unit === '(' || unit === ')') {
      return this.#endCommand(1, false)
    }
    return this.#literal(unit, 1)
  }

  finish(): ShellText {
    this.#endWord(0)
    const endsHere = this.#at >= this.#text.length && this.#command.length === 0
    if (this.#command.length > 0) this.#commands.push(this.#command)
    return {
      commands: this.#commands.map(withoutPreamble),
      endsInBackground: endsHere && this.#endsInBackground,
    }
  }

  /** `2>&1`, `<&3`, `&>file`: the ampersand belongs to a redirection. */
  #isRedirection(next: string | undefined): boolean {
    const before = this.#text[this.#at - 1]
    return next === '>' || before === '>' || before === '<'
  }

  #literal(piece: string, length: number): boolean {
    this.#word = (this.#word ?? '') + piece
    this.#at += length
    return true
  }

  #quoted(quote: string): boolean {
    const end = this.#text.indexOf(quote, this.#at + 1)
    const inside = end < 0 ? '' : this.#text.slice(this.#at + 1, end)
    // A substitution or an escape inside double quotes is not plain.
    if (end < 0 || (quote === '"' && /[`\\]|\$\(/.test(inside))) return false
    return this.#literal(inside, inside.length + 2)
  }

  #comment(): boolean {
    const end = this.#text.indexOf('\n', this.#at)
    this.#at = end < 0 ? this.#text.length : end
    return true
  }

  #endWord(length: number): boolean {
    if (this.#word !== null) this.#command.push(this.#word)
    this.#word = null
    this.#at += length
    return true
  }

  #endCommand(length: number, inBackground: boolean): boolean {
    this.#endWord(length)
    if (this.#command.length > 0) {
      this.#commands.push(this.#command)
      this.#command = []
      this.#endsInBackground = inBackground
    } else if (inBackground) {
      // After a group: `( … ) &`.
      this.#endsInBackground = true
    }
    return true
  }
}

/** The command without keywords and assignments that may stand before its program. */
function withoutPreamble(words: readonly string[]): ShellCommand {
  const start = words.findIndex(
    (word) => !WORDS_BEFORE_A_COMMAND.has(word) && !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word),
  )
  return start < 0 ? [] : words.slice(start)
}
