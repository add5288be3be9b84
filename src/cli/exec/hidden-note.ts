/**
 * Says that a command named a place that is hidden from runs, and what would show it: inside, such a
 * place is empty, and no program can tell why. Looks at the words of the command, and at the lines of
 * its output that report a failure.
 */
import { relative } from 'node:path'
import type { HiddenFromRun, ProposeOptions } from '../../service/index.ts'
import { visibleName } from '../effects/visible.ts'

type LiveRun = NonNullable<ProposeOptions['live']>

interface NotedCommand {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly home: string
}

const FAILURES =
  /no such file|not found|cannot|can't|could not|unable|denied|read-only|not exist|ENOENT|EACCES|EROFS|fail/i
const LINE_MAX = 4096
const NOTES_MAX = 5

export class HiddenNote {
  readonly #command: NotedCommand
  #hidden: HiddenFromRun | null = null
  #line = ''
  readonly #found = new Set<string>()

  constructor(command: NotedCommand) {
    this.#command = command
  }

  /** The same run, with an ear on its output; `write` gets the notes when the command is over. */
  watching(run: LiveRun, write: (text: string) => void): LiveRun {
    return {
      ...run,
      onHidden: (hidden) => {
        this.#hidden = hidden
        for (const word of this.#command.argv) this.#look(word)
      },
      onOutput: (stream, bytes) => {
        this.take(bytes)
        run.onOutput(stream, bytes)
      },
      onEnded: () => {
        run.onEnded?.()
        for (const line of this.lines()) write(`writ exec: ${line}\n`)
      },
    }
  }

  take(bytes: Uint8Array): void {
    const lines = `${this.#line}${Buffer.from(bytes).toString('utf8')}`.split('\n')
    this.#line = (lines.pop() ?? '').slice(-LINE_MAX)
    for (const line of lines) if (FAILURES.test(line)) this.#look(line)
  }

  #look(text: string): void {
    const { places = [] } = this.#hidden ?? {}
    for (const place of places) {
      if (!this.#found.has(place) && this.#names(place).some((name) => isNamed(text, name))) {
        this.#found.add(place)
      }
    }
  }

  /** How a text may name the place. */
  #names(place: string): readonly string[] {
    const { cwd, home } = this.#command
    const near = relative(cwd, place)
    return [
      place,
      ...(near === '' || near.startsWith('..') ? [] : [near]),
      ...(place.startsWith(`${home}/`) ? [`~${place.slice(home.length)}`] : []),
    ]
  }

  /** One line a place. */
  lines(): readonly string[] {
    return [...this.#found].slice(0, NOTES_MAX).map((place) => this.#text(place))
  }

  #text(place: string): string {
    const { home } = this.#command
    const isOfHome = place.startsWith(`${home}/`)
    const name = visibleName(isOfHome ? `~${place.slice(home.length)}` : place)
    const says = `${name} is hidden from runs, which find it empty`
    const file = '.writ/laws.yaml'
    if (this.#hidden?.byLaws.includes(place)) {
      return `${says}; \`settings.hidden\` in ${file} names it: take it out there and type \`writ laws accept\``
    }
    if (this.#hidden?.hasNetwork) return `${says}; no run with a network can read it`
    return `${says}; to let runs without a network read it, add it to \`settings.shown\` in ${file} and type \`writ laws accept\``
  }
}

/** Whether the text holds the name as a whole path or as the beginning of one. */
function isNamed(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = at === 0 ? '' : (text[at - 1] ?? '')
    const after = text[at + name.length] ?? ''
    if (!/[\w./~-]/.test(before) && !/[\w.-]/.test(after)) return true
  }
  return false
}
