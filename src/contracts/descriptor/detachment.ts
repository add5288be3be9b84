/**
 * Commands that say in their own words that they outlive the run, or install something that does
 * (G-6). Only what is unmistakable in the document, a short list that is data: everything else that
 * stays alive is found by the rehearsal, which needs no list.
 */
import { elements, field } from '../kernel/contract.ts'

export interface Detachment {
  readonly kind: 'background' | 'persistence'
  /** JSON Pointer relative to the operation. */
  readonly place: string
  /** The words that give it away. */
  readonly words: string
}

interface Row {
  readonly program: string
  readonly kind: Detachment['kind']
  /** One of these arguments must be there; absent means that the program alone is enough. */
  readonly with?: readonly string[]
  /** With one of these arguments the program stays in the foreground, or only looks. */
  readonly without?: readonly string[]
}

export const DETACHERS: readonly Row[] = [
  { program: 'nohup', kind: 'background', without: ['--help', '--version'] },
  { program: 'setsid', kind: 'background', without: ['-w', '--wait', '--help', '--version'] },
  { program: 'daemonize', kind: 'background' },
  { program: 'start-stop-daemon', kind: 'background', with: ['--start', '-S'] },
  {
    program: 'systemd-run',
    kind: 'background',
    without: ['--wait', '--pty', '--help', '--version'],
  },
  { program: 'at', kind: 'background', without: ['-l', '-c', '-V'] },
  { program: 'batch', kind: 'background', without: ['-V'] },
  { program: 'disown', kind: 'background' },
  { program: 'crontab', kind: 'persistence', without: ['-l', '-V'] },
  { program: 'systemctl', kind: 'persistence', with: ['enable', 'reenable', 'link', 'preset'] },
  { program: 'loginctl', kind: 'persistence', with: ['enable-linger'] },
  { program: 'update-rc.d', kind: 'persistence' },
  { program: 'chkconfig', kind: 'persistence', with: ['on', '--add'] },
  { program: 'rc-update', kind: 'persistence', with: ['add'] },
  { program: 'launchctl', kind: 'persistence', with: ['load', 'bootstrap', 'enable', 'submit'] },
]

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'busybox'])

/** What one COMMAND_EXECUTION says about outliving its run, without compensations. */
export function findDetachments(operation: unknown): readonly Detachment[] {
  if (field(operation, 'type') !== 'COMMAND_EXECUTION') return []
  const argv = elements(field(operation, 'argv')).map((word) =>
    typeof word === 'string' ? word : '',
  )
  const found = judgeCommand(argv, '/argv/0')
  const script = shellScript(argv)
  return script === null ? found : [...found, ...judgeScript(argv[script] ?? '', script)]
}

/** Returns the index of a shell's `-c` argument; null when the command has none. */
function shellScript(argv: readonly string[]): number | null {
  if (!SHELLS.has(programName(argv[0] ?? ''))) return null
  for (let index = 1; index + 1 < argv.length; index++) {
    const word = argv[index] ?? ''
    if (/^-[a-z]*c[a-z]*$/.test(word)) return index + 1
    // `-o pipefail` takes a word of its own; `busybox sh` names the shell twice.
    if (/^[-+][a-z]*o$/.test(word)) index++
    else if (!/^[-+]/.test(word) && !SHELLS.has(word)) return null
  }
  return null
}

function judgeScript(script: string, index: number): readonly Detachment[] {
  const place = `/argv/${index}`
  const { commands, endsInBackground } = scanShell(script)
  const found = commands.flatMap((command: ShellCommand) => judgeCommand(command, place))
  return endsInBackground ? [...found, { kind: 'background', place, words: '&' }] : found
}

function judgeCommand(words: readonly string[], place: string): readonly Detachment[] {
  const program = programName(words[0] ?? '')
  const row = DETACHERS.find((candidate) => candidate.program === program)
  if (row === undefined) return []
  const rest = new Set(words.slice(1))
  if (row.with !== undefined && !row.with.some((word) => rest.has(word))) return []
  if (row.without?.some((word) => rest.has(word)) === true) return []
  return [{ kind: row.kind, place, words: program }]
}

function programName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

/** The words of one simple command, quotes removed. */
type ShellCommand = readonly string[]

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

/**
 * A first look at a shell text: the simple commands at its top level as lists of words, and whether
 * it ends with `&`. Deliberately no shell: nothing is expanded, and where the text leaves the plain
 * ground (here-documents, substitutions, functions) the look ends and later commands are not seen.
 * Used to recognise what is unmistakable, never to clear anything.
 */
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
