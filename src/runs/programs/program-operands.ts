/**
 * Which words of a command name a file that it runs as a program: the operand of an interpreter, and files
 * that its options name. One table and one rule for all of them. Behind a program that starts others
 * (`env X=1`, `timeout 5`, `npx`) the interpreter is the first word that the table has.
 */
import { basename } from 'node:path'
import { hasCodeSuffix, isPython, isShell } from './code-names.ts'

export interface Operand {
  readonly word: string
  /** The directory that an option before it changes to. */
  readonly directory: string
  /** The command fails without this file. A text handed to a shell may only name it. */
  readonly isNeeded: boolean
  /** Node adds a suffix to a name that is no file. */
  readonly isCompleted?: boolean
  /** Of Python behind `-m`: the name of a module and no path. */
  readonly isModule?: boolean
}

interface Interpreter {
  readonly name: RegExp
  /** Options whose next word is no file. */
  readonly values?: RegExp
  /** Options with which the program is no file: a text, or the standard input. */
  readonly texts?: RegExp
  /** Options whose value is a file with a program, behind `=`, in the next word or, if short, in the same. */
  readonly files?: RegExp
  readonly isCompleting?: true
  /** Subcommands before the file. */
  readonly skipped?: ReadonlySet<string>
  /** What the first other word is: a file, a file only if it looks like a path, or no file. */
  readonly first: 'file' | 'path' | 'none'
}

const NODE = {
  isCompleting: true,
  values: /^(?:-C|--(?:conditions|title|input-type|inspect-port|test-name-pattern|test-reporter))$/,
  texts: /^(?:-e|-p|-pe|-i|--eval|--print|--interactive)(?:=|$)/,
  files: /^(?:-r|--require|--import|--loader|--experimental-loader|--preload)$/,
} as const

const INTERPRETERS: readonly Interpreter[] = [
  {
    name: /^(?:sh|bash|dash|zsh|ksh|ash|mksh|fish)$/,
    values: /^[-+][A-Za-z]*[oO]$/,
    texts: /^-[A-Za-z]*[cs][A-Za-z]*$/,
    files: /^--(?:rcfile|init-file)$/,
    first: 'file',
  },
  {
    name: /^(?:python|pypy)[0-9.]*$/,
    values: /^(?:-[bBdEhiIOPqsSuvVx]*[WX]|--check-hash-based-pycs)$/,
    texts: /^-[bBdEhiIOPqsSuvVx]*[cm]/,
    first: 'file',
  },
  { ...NODE, name: /^(?:node|nodejs)$/, skipped: new Set(['inspect']), first: 'file' },
  { ...NODE, name: /^(?:tsx|ts-node|jiti)$/, skipped: new Set(['watch']), first: 'file' },
  { ...NODE, name: /^bun$/, skipped: new Set(['run']), first: 'path' },
  {
    name: /^deno$/,
    values: /^(?:-c|--config|--import-map|--lock|--location|--seed)$/,
    files: /^--preload$/,
    skipped: new Set(['run', 'serve']),
    first: 'path',
  },
  {
    name: /^perl[0-9.]*$/,
    values: /^-[IMm]$/,
    texts: /^-[alnpstTuUwWX0-9]*i?[eE]/,
    first: 'file',
  },
  {
    name: /^ruby[0-9.]*$/,
    values: /^-[ICEF]$/,
    texts: /^-[lnpawsS0-9]*e/,
    files: /^-r$/,
    first: 'file',
  },
  {
    name: /^php[0-9.]*$/,
    values: /^-[cdzt]$/,
    texts: /^-[rRBESaim]$/,
    files: /^-f$/,
    first: 'file',
  },
  { name: /^(?:lua|luajit)[0-9.]*$/, values: /^-[el]$/, first: 'file' },
  {
    name: /^(?:tclsh|wish|expect|Rscript|julia|groovy|elixir|guile|racket|escript|pwsh)[0-9.]*$/,
    values: /^(?:-t|-p|--threads|--procs)$/,
    texts: /^(?:-e|-E|-c|--eval|-Command)$/,
    files: /^(?:-f|-L|-s|-File)$/,
    first: 'file',
  },
  {
    name: /^java$/,
    values: /^(?:-cp|-classpath|--class-path|-p)$/,
    files: /^-jar$/,
    first: 'path',
  },
  { name: /^(?:go|dotnet)$/, skipped: new Set(['run', 'exec']), first: 'path' },
  { name: /^[gmn]?awk$/, files: /^(?:-f|-E|-i|--file|--exec|--include)$/, first: 'none' },
  { name: /^(?:sed|jq)$/, files: /^(?:-f|--file|--from-file)$/, first: 'none' },
  {
    name: /^(?:g?make|ninja|just|rake|ant|mvn)$/,
    files: /^(?:-f|--?(?:file|makefile|justfile|rakefile|buildfile))$/,
    first: 'none',
  },
  { name: /^cmake$/, files: /^-P$/, first: 'none' },
]

/** Programs that start the program that their further words name. */
const STARTERS =
  /^(?:env|nice|ionice|timeout|nohup|setsid|stdbuf|time|sudo|doas|busybox|chrt|taskset|tini|dumb-init)$/
/** Programs that look for one by a name, and take a path too. */
const FINDERS =
  /^(?:npx|bunx|pnpx|npm|pnpm|yarn|uv|uvx|poetry|pipenv|pipx|hatch|bundle|coverage|flock|xargs|xvfb-run)$/
const DIRECTORY = /^(?:-C|--chdir|--cwd|--directory|--prefix)(?:=(.+))?$/
/** What ends a command in the text of a shell. */
const COMMAND_ENDS = /[;|&\n(){}`]+/
/** Files that are made by the kernel. */
const DEVICES = /^\/(?:dev|proc)\//

/** Every file that the command runs by its words, there or not. */
export function operandsOf(command: readonly string[]): readonly Operand[] {
  return command.length === 0 ? [] : [...plainOperands(command, true), ...textOperands(command)]
}

/** The interpreter that a command starts, as the first word that is one; the program itself otherwise. */
export function starterOf(command: readonly string[]): string {
  const at = interpreterAt(command)
  return basename(command[at === -1 ? 0 : at] ?? '')
}

function interpreterAt([program = '', ...words]: readonly string[]): number {
  const isOne = (word: string): boolean =>
    INTERPRETERS.some(({ name }) => name.test(basename(word)))
  if (isOne(program)) return 0
  const name = basename(program)
  // Words of any other program may be called as an interpreter is.
  if (!STARTERS.test(name) && !FINDERS.test(name)) return -1
  const at = words.findIndex(isOne)
  return at === -1 ? -1 : at + 1
}

/** Commands in words of several words, such as the text of `sh -c` or of `env -S`. No text is understood. */
function textOperands(command: readonly string[]): readonly Operand[] {
  const name = starterOf(command)
  if (!isShell(name) && !STARTERS.test(basename(command[0] ?? ''))) return []
  const texts = command
    .filter((word) => /\s/.test(word))
    .flatMap((word) => word.split(COMMAND_ENDS))
  return texts.flatMap((text) => {
    const words = text.split(/[\s'"]+/).filter((word) => word !== '')
    const start = words.findIndex(
      (word) => !/^(?:\w+=.*|!|if|then|else|elif|do|while|until|exec|command|eval)$/.test(word),
    )
    const [program = '', operand = ''] = words.slice(Math.max(0, start))
    const own = program === '.' || program === 'source' ? operand : program
    const direct = own.includes('/') ? [{ word: own, directory: '', isNeeded: false }] : []
    const plain = plainOperands(words.slice(Math.max(0, start)), false)
    return [...direct, ...plain].filter(({ word }) => !word.includes('$'))
  })
}

function plainOperands(command: readonly string[], isNeeded: boolean): readonly Operand[] {
  const at = interpreterAt(command)
  const before = command.slice(0, at === -1 ? command.length : at)
  const directory = directoryIn(command)
  const operand = (word: string): Operand => ({ word, directory, isNeeded })
  if (at === -1)
    return startedIn(before).map((word) => ({
      ...operand(word),
      isNeeded: isNeeded && STARTERS.test(basename(before[0] ?? '')),
    }))
  const name = basename(command[at] ?? '')
  const kind = INTERPRETERS.find((one) => one.name.test(name))
  if (kind === undefined) return []
  const { files, first, module } = read(kind, command.slice(at + 1))
  return [
    ...files.filter(isPathLike).map(operand),
    ...(module !== null && isPython(name)
      ? [{ ...operand(module), isNeeded: false, isModule: true }]
      : []),
    ...(first === null || DEVICES.test(first)
      ? []
      : [{ ...operand(first), isCompleted: kind.isCompleting === true }]),
  ]
}

/** The path that a program which starts others is handed. */
function startedIn([program = '', ...words]: readonly string[]): readonly string[] {
  const name = basename(program)
  const end = words.indexOf('--')
  const isFinder = FINDERS.test(name)
  if (!isFinder && !STARTERS.test(name)) return []
  const heard = isFinder && end !== -1 ? words.slice(0, end) : words
  const word = heard.find((one, index) => {
    if (/^[-+]|^\w+=/.test(one) || DIRECTORY.test(heard[index - 1] ?? '')) return false
    return isFinder ? hasCodeSuffix(one) : one.includes('/') && !DEVICES.test(one)
  })
  return word === undefined ? [] : [word]
}

interface ReadWords {
  /** Behind options. */
  readonly files: readonly string[]
  readonly first: string | null
  /** Behind `-m`. */
  readonly module: string | null
}

function read(kind: Interpreter, words: readonly string[]): ReadWords {
  const { values, texts, files, skipped, first } = kind
  const named: string[] = []
  const end = (operand: string | null, module: string | null = null): ReadWords => {
    const isFile = first === 'file' || (operand !== null && isPathLike(operand))
    return { files: named, first: isFile ? operand : null, module }
  }
  let isSkipped = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const next = words[at + 1] ?? ''
    if (word === '--') return end(first === 'none' || next === '' ? null : next)
    if (/^[-+]./.test(word)) {
      const [option, value] = files === undefined ? [word] : cutOption(word)
      const isFile = files?.test(option) === true
      if (isFile) named.push(value ?? next)
      if (texts?.test(word) === true) return end(null, moduleIn(word, next))
      const isTaking = isFile || values?.test(word) === true || isDirectoryOption(word)
      if (isTaking && !(isFile && value !== undefined)) at++
    } else if (!isSkipped && skipped?.has(word) === true) isSkipped = true
    else if (first !== 'none') return end(word === '-' ? null : word)
  }
  return end(null)
}

function moduleIn(word: string, next: string): string | null {
  const [, name] = /^-[^cm]*m(.*)$/.exec(word) ?? []
  return name === '' ? next : (name ?? null)
}

/** `--option=value`, `-fvalue`, or an option alone. */
function cutOption(word: string): readonly [string, (string | undefined)?] {
  const [, long, value] = /^(--\w[\w-]*)=(.*)$/s.exec(word) ?? []
  if (long !== undefined) return [long, value]
  const isWord = /^-(?:-|file|File|jar|buildfile)/.test(word)
  return isWord || word.length < 3 ? [word] : [word.slice(0, 2), word.slice(2)]
}

function isPathLike(word: string): boolean {
  return word.includes('/') || word.includes('.')
}

/** Whose next word is the directory. */
function isDirectoryOption(word: string): boolean {
  return DIRECTORY.test(word) && !word.includes('=')
}

function directoryIn(words: readonly string[]): string {
  const at = words.findIndex((word) => DIRECTORY.test(word))
  if (at === -1) return ''
  return DIRECTORY.exec(words[at] ?? '')?.[1] ?? words[at + 1] ?? ''
}
