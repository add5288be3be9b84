/** The options with which interpreters and shells name the code that they run. */
import { isPython } from './code-names.ts'
import { isShell, SHELL_FLAGS } from './invocations.ts'

/** What the words of an interpreter say, before the words of the program itself. */
export interface InterpreterWords {
  /** Directories that modules are looked for in. */
  readonly libraries: readonly string[]
  /** Files or modules that are loaded before the program. */
  readonly loaded: readonly string[]
  readonly texts: readonly string[]
  /** Modules of Python that are the program. */
  readonly modules: readonly string[]
  /** The program; null where a text or a module is it, or nothing. `-` is its input. */
  readonly entry: string | null
  /** Modules are not looked for in the present directory, nor in that of the program: `python3 -I`. */
  readonly isIsolated: boolean
  /** Options that are not known, of interpreters whose programs are followed. */
  readonly unknown: readonly string[]
}

interface InterpreterOptions {
  readonly libraries?: readonly string[]
  readonly loaded?: readonly string[]
  readonly texts?: readonly string[]
  readonly modules?: readonly string[]
  /** Options with a value that names no code. */
  readonly values?: readonly string[]
  /** Options that load nothing. */
  readonly flags?: RegExp
  /** The first word is a text unless a file is named: awk. */
  readonly isText?: boolean
}

const NODE: InterpreterOptions = {
  loaded: ['-r', '--require', '--loader', '--experimental-loader', '--preload', '--import'],
  texts: ['-e', '--eval', '-p', '--print', '-pe'],
  values: ['-C', '--conditions', '--input-type', '--title', '--stack-trace-limit'],
  flags:
    /^--(?:no-warnings|no-deprecation|enable-source-maps|experimental-strip-types|trace-\w+|max-old-space-size=\d+|unhandled-rejections=\w+|input-type=\w+)$/,
}
const OPTIONS: readonly (readonly [RegExp, InterpreterOptions])[] = [
  [/^(?:node|nodejs|tsx|ts-node)$/, NODE],
  [
    /^(?:python|pypy)[0-9.]*$/,
    {
      texts: ['-c'],
      modules: ['-m'],
      values: ['-X', '-W', '--check-hash-based-pycs'],
      flags: /^-[bBdEIOPqsSuvx]+$/,
    },
  ],
  [/^perl[0-9.]*$/, { libraries: ['-I', '-Mlib'], texts: ['-e', '-E'] }],
  [/^ruby[0-9.]*$/, { libraries: ['-I'], loaded: ['-r'], texts: ['-e'], values: ['-E'] }],
  [/^php[0-9.]*$/, { loaded: ['-f'], texts: ['-r'], values: ['-d', '-c'] }],
  [/^lua(?:jit)?[0-9.]*$/, { loaded: ['-l'], texts: ['-e'] }],
  [/^[gmn]?awk$/, { loaded: ['-f', '--file'], values: ['-F', '-v'], isText: true }],
  [/^jq$/, { loaded: ['-f', '--from-file'], libraries: ['-L'], isText: true }],
  [/^java$/, { loaded: ['-jar'], libraries: ['-cp', '-classpath', '--class-path'] }],
  [/^(?:Rscript|julia|tclsh|wish|groovy|elixir|guile|expect|pwsh|fish)$/, { texts: ['-e', '-c'] }],
]

/** Interpreters of languages in which imports are not looked for. */
const UNREAD =
  /^(?:ruby[0-9.]*|php[0-9.]*|lua(?:jit)?[0-9.]*|Rscript|julia|tclsh[0-9.]*|wish|groovy|elixir|guile|expect|pwsh|fish)$/

export function isUnread(program: string): boolean {
  return UNREAD.test(program)
}

function optionsOf(program: string): InterpreterOptions | null {
  if (isShell(program))
    return {
      loaded: ['--rcfile', '--init-file'],
      values: ['-o', '-O', '+o'],
      flags: SHELL_FLAGS,
    }
  return OPTIONS.find(([name]) => name.test(program))?.[1] ?? null
}

/** Null for a program that is no interpreter. */
export function interpreterWords(
  program: string,
  given: readonly string[],
): InterpreterWords | null {
  const options = optionsOf(program)
  if (options === null) return null
  const words = isPython(program) ? given.flatMap(parted) : given
  const { isText = false, values = [] } = options
  const found: Record<ListName, string[]> = { libraries: [], loaded: [], texts: [], modules: [] }
  const unknown: string[] = []
  let entry: string | null = null
  let isIsolated = false
  for (let index = 0; index < words.length && entry === null; index++) {
    const word = words[index] ?? ''
    if (values.includes(word)) {
      index++
      continue
    }
    const option = LISTS.map((list) => optionIn(word, options[list] ?? [])).findIndex(
      (one) => one !== null,
    )
    const list = LISTS[option]
    if (list !== undefined) {
      const value = optionIn(word, options[list] ?? [])
      found[list].push(value === '' || value === null ? (words[++index] ?? '') : value)
      // What follows is for the program.
      if (list === 'modules' || (list === 'texts' && isPython(program))) break
    } else if (!word.startsWith('-') || word === '-') entry = word
    else if (isPython(program) && /^-\w*[IP]/.test(word)) isIsolated = true
    else if (options.flags?.test(word) === false) unknown.push(word)
  }
  const isDone = found.texts.length > 0 || found.modules.length > 0
  const isFiled = isText || (program === 'java' && found.loaded.length + found.libraries.length > 0)
  const isAsked = words.length === 1 && isQuestion(program, words[0] ?? '')
  const isNone = isDone || isFiled || isAsked
  return {
    ...found,
    isIsolated,
    unknown: isAsked ? [] : unknown,
    entry: isNone ? null : (entry ?? '-'),
  }
}

/** Options of Python without a value can be written before one in the same word: `-uc TEXT`. */
function parted(word: string): readonly string[] {
  const [, plain, rest] = /^-([bBdEiIOPqsSuvx]+)([cmWX][\s\S]*)$/.exec(word) ?? []
  return plain === undefined ? [word] : [`-${plain}`, `-${rest}`]
}

/** Whether the interpreter is asked about itself and runs nothing. */
function isQuestion(program: string, word: string): boolean {
  if (/^--(?:version|help)$/.test(word)) return true
  if (isPython(program)) return /^-(?:VV?|h)$/.test(word)
  return !isShell(program) && /^-[vVh]$/.test(word)
}

type ListName = 'libraries' | 'loaded' | 'texts' | 'modules'
const LISTS: readonly ListName[] = ['libraries', 'loaded', 'texts', 'modules']

/** The value written together with an option, empty where it is the next word; null for another word. */
function optionIn(word: string, options: readonly string[]): string | null {
  for (const option of options) {
    if (word === option || (option === '-e' && /^-[lnpaw0-9]+[eE]$/.test(word))) return ''
    if (word.startsWith(`${option}=`)) return word.slice(option.length + 1)
    if (/^-[A-Za-z]$/.test(option) && word.startsWith(option) && !word.startsWith('--'))
      return word.slice(option.length)
  }
  return null
}

/** Whether an interpreter looks for code in the directory that it runs in. */
export function looksAround(name: string, words: InterpreterWords): boolean {
  const { texts, modules, entry, isIsolated } = words
  if (isIsolated || isShell(name)) return false
  return texts.length + modules.length > 0 || entry === '-'
}
