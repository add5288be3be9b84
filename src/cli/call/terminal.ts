/**
 * The command line's view of its surroundings: where answers and errors go, and whether colours may
 * be used (only on a terminal, never with NO_COLOR). `main.ts` hands one object down to the commands.
 */
import { homedir, userInfo } from 'node:os'
import type { Violation } from '../../contracts/index.ts'
import type { Surroundings } from '../../home/index.ts'

export interface Terminal {
  /** Writes to standard output; resolves when the reader can take more. */
  out(text: string): Promise<void>
  err(text: string): void
  readonly isTty: boolean
  readonly isErrorTty: boolean
  readonly columns: number
  readonly paint: Paint
  /** Colours for standard error. */
  readonly paintError: Paint
}

export interface Paint {
  good(text: string): string
  bad(text: string): string
  dim(text: string): string
  strong(text: string): string
  accent(text: string): string
}

const OBEYED =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

const SHOW_AFTER_MS = 1_000
const REDRAW_MS = 100
const WIDTH = 30

export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process
  return {
    out: (text) => writeOut(stdout, text),
    err: (text) => {
      stderr.write(text)
    },
    isTty: stdout.isTTY === true,
    isErrorTty: stderr.isTTY === true,
    // A terminal that does not know its width says 0.
    columns: stdout.columns || stderr.columns || 80,
    paint: paint(usesColour(stdout, env)),
    paintError: paint(usesColour(stderr, env)),
  }
}

/** A reader that went away (`| head`) is no failure of ours. */
function writeOut(stdout: NodeJS.WriteStream, text: string): Promise<void> {
  if (stdout.write(text)) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      stdout.off('drain', end).off('error', end)
      resolve()
    }
    stdout.on('drain', end).on('error', end)
  })
}

function usesColour(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

export function paint(colours: boolean): Paint {
  const wrap = (code: number) => (text: string) =>
    colours ? `\u001b[${code}m${text}\u001b[0m` : text
  return { good: wrap(32), bad: wrap(31), dim: wrap(2), strong: wrap(1), accent: wrap(36) }
}

/** Outside of strings JSON has none of these characters, so the value is the same. */
function escapedJson(text: string): string {
  return text.replace(OBEYED, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * JSON that a terminal shows as it is: characters that it would obey or not show are written `\\u…`.
 *
 * For a command that answers with JSON.
 */
export function jsonTerminal(terminal: Terminal): Terminal {
  return { ...terminal, out: (text) => terminal.out(escapedJson(text)) }
}

interface ProgressBar {
  readonly tick: (done: number, total: number) => void
  readonly end: () => void
}

/**
 * A progress bar on standard error, shown only on a terminal and only when work takes over a second.
 */
export function progressBar(terminal: Terminal, what: string): ProgressBar {
  const started = performance.now()
  let drawnAt = 0
  return {
    tick(done, total) {
      const now = performance.now()
      if (!terminal.isErrorTty || now - started < SHOW_AFTER_MS || now - drawnAt < REDRAW_MS) return
      drawnAt = now
      const filled = Math.round((WIDTH * done) / Math.max(1, total))
      terminal.err(`\r${what} [${'#'.repeat(filled).padEnd(WIDTH, '.')}] ${done}/${total}`)
    },
    end() {
      if (drawnAt > 0) terminal.err('\r\u001b[K')
    },
  }
}

/** One violation of a document as text: its place, its code, the message and the hint. */
export function violationText({ code, path, message, hint }: Violation, paint: Paint): string {
  const place = path === '' ? '(the document)' : path
  const line = `  ${paint.accent(place)}  ${paint.dim(code)}\n    ${message}`
  return hint === undefined ? line : `${line}\n    ${paint.dim('hint:')} ${hint}`
}

const PLAIN: Readonly<Record<string, string>> = {
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '…': '...',
  '·': '|',
  '–': '-',
  '→': '->',
}

/**
 * Texts of writ for places that know no more than ASCII: manual pages, and terminals without UTF-8.
 * Returns the text in ASCII; a character without an ASCII form becomes a question mark.
 */
export function asciiText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with the controls.
  return text.replace(/[^\u0000-\u007f]/gu, (character) => PLAIN[character] ?? '?')
}

type Variables = Readonly<Record<string, string | undefined>>

/** Returns whether the locale names UTF-8; the first variable that is set decides. */
export function knowsUtf8(env: Variables): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return /utf-?8/i.test(locale)
}

/** Where a command runs, and for whom: read from the process once, for rooms that do not read it. */
export function surroundings(): Surroundings {
  return {
    cwd: process.cwd(),
    env: process.env,
    userDirectory: homedir(),
    userName: userName(),
  }
}

/** Some systems run without an entry in the table of users. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'user'
  }
}
