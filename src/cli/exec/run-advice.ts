/**
 * Advice about a run. `HiddenNote` says that a command named a place that is hidden from runs, and what
 * would show it: inside, such a place is empty, and no program can tell why. It looks at the words of the
 * command, and at the lines of its output that report a failure. `scopeAdvice` names the option that
 * would include what lies outside the scope, `FailureNote` what cannot be done inside a sandbox.
 */
import { statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { SandboxResult } from '../../contracts/index.ts'
import type { GateAnswer, HiddenFromRun, ProposeOptions } from '../../service/index.ts'
import { commandLine, visibleName } from '../../words/index.ts'

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
const OUTSIDE: ReadonlySet<string> = new Set(['effect.left_out', 'effect.out_of_scope'])
const SCOPES_MAX = 3
const RENAME = /EXDEV|cross-device link/i
const HARD_LINK = /hardlink (?:different from source|cannot be checked)/
/** A word may come in two pieces. */
const KEPT = 48

const LINKED = [
  'writ: git could not link the files of the repository that it copies',
  '  why:  a clone of a directory of this machine makes hard links; inside a run a link to a real file has another inode number, which git takes for an attack',
  '  next: git clone --no-hardlinks DIR; for a submodule: git -c protocol.file.allow=always submodule add file:///PATH/OF/DIR',
].join('\n')

const REFUSED = [
  'writ: the command could not rename a directory (EXDEV)',
  '  why:  something inside it is hidden from the run or may not be changed, or the new name lies in another tree',
  '  next: use `mv`, which copies, or rename what lies inside one by one',
].join('\n')

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

interface AdvisedRun {
  readonly cwd: string
  readonly scope: readonly string[]
  readonly home: string
  /** No option puts the scope of an agent outside the workspace. */
  readonly isPerson: boolean
}

/**
 * Says which option of `writ exec` would include what a run changed outside its scope. A scope is a
 * directory, and never a whole home or a top-level directory.
 *
 * Null where nothing lies outside, or no scope could hold it.
 */
export function scopeAdvice(findings: SandboxResult['findings'], run: AdvisedRun): string | null {
  const paths = findings.flatMap(({ code, path }) =>
    OUTSIDE.has(code) && path !== undefined ? [path] : [],
  )
  if (paths.length === 0) return null
  if (!run.isPerson) {
    return 'to include what lies outside the scope, a person adds a grant with `scope` to .writ/laws.yaml'
  }
  const closest = directoriesOf(paths, (path) => mayBeScope(path, run.home))
  const wanted = closest.length <= SCOPES_MAX ? closest : topsOf(closest, run.home)
  if (wanted.length === 0 || wanted.length > SCOPES_MAX) return null
  const scopes = [...run.scope, ...wanted].flatMap((path) => ['--scope', near(path, run.cwd)])
  const missing = wanted.filter((path) => !isDirectory(path)).map((path) => near(path, run.cwd))
  const make = missing.length === 0 ? '' : `${commandLine(['mkdir', '-p', ...missing])} && `
  return `to include what lies outside the scope: ${make}${commandLine(['writ', 'exec', ...scopes])} -- …`
}

/** The topmost paths, as the directories that hold them or that they are. */
function directoriesOf(
  paths: readonly string[],
  isUsable: (path: string) => boolean,
): readonly string[] {
  const isHolder = (path: string): boolean =>
    isDirectory(path) || paths.some((other) => other.startsWith(`${path}/`))
  const holders = paths.map((path) => (isHolder(path) ? path : dirname(path)))
  const all = [...new Set(holders)].filter(isUsable)
  return all.filter((path) => !all.some((other) => path !== other && path.startsWith(`${other}/`)))
}

/** The entries of the home, or the paths themselves outside it, that hold the paths. */
function topsOf(paths: readonly string[], home: string): readonly string[] {
  const topOf = (path: string): string => {
    const [name = ''] = relative(home, path).split('/')
    return name === '..' ? path : join(home, name)
  }
  return [...new Set(paths.map(topOf))]
}

function mayBeScope(path: string, home: string): boolean {
  return path !== home && path !== '/' && dirname(path) !== '/'
}

function near(path: string, cwd: string): string {
  const name = relative(cwd, path)
  if (name === '') return '.'
  return name.startsWith('../../') ? path : name
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * Recognises in the output of a command that failed what cannot be done inside a run (a directory that
 * cannot be renamed, hard links of a local `git clone`), and says why and what to type: the words of
 * the programs themselves do not tell.
 */
export class FailureNote {
  #tail = ''
  #seen: 'rename' | 'hard_link' | null = null

  /** The same run, with an ear on its output. */
  watching(run: NonNullable<ProposeOptions['live']>): NonNullable<ProposeOptions['live']> {
    return {
      ...run,
      onOutput: (stream, bytes) => {
        this.take(bytes)
        run.onOutput(stream, bytes)
      },
    }
  }

  take(bytes: Uint8Array): void {
    if (this.#seen !== null) return
    const text = `${this.#tail}${Buffer.from(bytes).toString('latin1')}`
    if (RENAME.test(text)) this.#seen = 'rename'
    else if (HARD_LINK.test(text)) this.#seen = 'hard_link'
    this.#tail = text.slice(-KEPT)
  }

  /** Null where the command said nothing of the kind, or went well. */
  text(result: GateAnswer['result']): string | null {
    const isFailed = result !== null && result.execution.exit_code !== 0
    if (this.#seen === null || !isFailed) return null
    return this.#seen === 'hard_link' ? LINKED : REFUSED
  }
}
