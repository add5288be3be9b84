/** What programs like `npm` and `make` run, by the manifests of the workspace that they read. */
import { resolve } from 'node:path'
import { showName } from '../../base/index.ts'
import { fieldOf } from './imports.ts'
import { type Invocation, invocationsOf, placeFrom } from './invocations.ts'
import { readMakefile, recipesFor } from './makefile.ts'
import { shellCommands, UNKNOWN } from './shell-text.ts'
import { below, upFrom, type WorkspaceFiles } from './workspace-files.ts'

export interface RunnerStart {
  readonly manifests: readonly string[]
  /** Directories that it looks for code in. */
  readonly bases: readonly string[]
  readonly invocations: readonly Invocation[]
  /** What cannot be found, in words. */
  readonly unknown: readonly string[]
  /** Why not all that it starts is followed. */
  readonly open?: readonly string[]
}

/** Null where this search does not know how the runner finds what it runs. */
export function runnerStart(
  files: WorkspaceFiles,
  name: string,
  invocation: Invocation,
): RunnerStart | null {
  if (name === 'make' || name === 'gmake') return makeStart(files, invocation)
  if (/^(?:npm|pnpm|yarn|bun)$/.test(name)) return packageStart(files, name, invocation)
  if (/^(?:npx|pnpx|bunx)$/.test(name)) return installedStart(invocation, rest(invocation.words))
  const [first = '', ...words] = invocation.words
  const isStarting = first === 'run' || (name === 'bundle' && first === 'exec')
  if (isStarting && /^(?:uv|poetry|pipenv|hatch|bundle)$/.test(name))
    return installedStart(invocation, rest(words))
  if (/^(?:tsx|ts-node)$/.test(name)) return { ...NOTHING }
  if (/^(?:deno|bun)$/.test(name) && first === 'run')
    return installedStart(invocation, ['node', ...rest(words)])
  return null
}

/** Where runners look for programs of packages; no name that a variable can have. */
export const INSTALLED = 'installed programs'

const NOTHING: RunnerStart = { manifests: [], bases: [], invocations: [], unknown: [] }

/** Words behind the options. */
function rest(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !word.startsWith('-'))
  return start === -1 ? [] : words.slice(start)
}

/** A program that is started with the packages of the directory on its search path. */
function installedStart(invocation: Invocation, words: readonly string[]): RunnerStart | null {
  const [program] = words
  if (program === undefined) return null
  return { ...NOTHING, invocations: started(invocation, words) }
}

function started(invocation: Invocation, words: readonly string[]): readonly Invocation[] {
  const variables = new Map(invocation.variables).set(INSTALLED, 'node_modules/.bin:.venv/bin')
  return invocationsOf({ words, directory: invocation.directory, variables })
}

const DIRECTORY_OPTIONS = /^(?:-C|--prefix|--dir|--cwd)$/
const SCRIPTS_NAMED = /^(?:run|run-script|rum)$/
const SEVERAL = /^(?:-w|-r|-F|--workspaces?|--recursive|--filter)(?:=|$)|^workspaces?$/

function packageStart(
  files: WorkspaceFiles,
  name: string,
  invocation: Invocation,
): RunnerStart | null {
  let { directory } = invocation
  const open: string[] = []
  const words: string[] = []
  for (let index = 0; index < invocation.words.length; index++) {
    const word = invocation.words[index] ?? ''
    const [option = '', value] = word.startsWith('--') ? word.split('=') : [word]
    if (word === '--') break
    if (DIRECTORY_OPTIONS.test(option))
      directory = placeFrom(directory, value ?? invocation.words[++index] ?? UNKNOWN)
    else if (SEVERAL.test(word)) return null
    else if (!word.startsWith('-')) words.push(word)
    else if (!/^(?:-s|--silent|--if-present)$/.test(word)) open.push(unknownOption(word))
  }
  const [verb = '', ...others] = words
  if (/^(?:exec|x|dlx)$/.test(verb)) return installedStart({ ...invocation, directory }, others)
  const base = directory === null ? null : files.pathOf(directory)
  if (base === null) return null
  const folder = upFrom(base).find((one) => files.isFile(below(one, 'package.json')))
  const script = SCRIPTS_NAMED.test(verb) ? others[0] : /^(?:t|tst)$/.test(verb) ? 'test' : verb
  if (folder === undefined || script === undefined) return null
  const manifest = below(folder, 'package.json')
  const texts = scriptsNamed(files.text(manifest), script)
  if (texts.length === 0) {
    // Yarn and pnpm start a program of a package by its name alone.
    const isOwn = name !== 'npm' && !SCRIPTS_NAMED.test(verb) && verb !== ''
    return isOwn ? installedStart({ ...invocation, directory }, words) : null
  }
  const place = resolve(files.root, folder)
  const inside = { ...invocation, directory: place }
  const invocations = texts
    .flatMap((text) => shellCommands(text, { ...inside, script: null }))
    .flatMap((command) => started({ ...inside, ...command }, command.words))
    .map((one) => ({ ...one, at: manifest }))
  return { manifests: [manifest], bases: [folder], invocations, unknown: [], open }
}

/** A script of the manifest, with those that run before and after it. */
function scriptsNamed(manifest: string, script: string): readonly string[] {
  const scripts = fieldOf(manifest, 'scripts')
  if (typeof scripts !== 'object' || scripts === null) return []
  const own = Object.entries(scripts)
  if (!own.some(([name]) => name === script)) return []
  const wanted = [script, `pre${script}`, `post${script}`]
  return own.flatMap(([name, text]) =>
    wanted.includes(name) && typeof text === 'string' ? [text] : [],
  )
}

function unknownOption(word: string): string {
  return `writ does not know its option ${word.replaceAll(UNKNOWN, '…')}`
}

/** Words of makefiles that are not read: what they make runs all the same. */
const UNREAD_WORDS =
  /^\s*-?(?:define|load)\b|\$[({](?:eval|call|foreach|guile)\b|\.(?:SHELLFLAGS|RECIPEPREFIX|ONESHELL)\b/m

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile']
const INCLUDES_MAX = 100

function makeStart(files: WorkspaceFiles, invocation: Invocation): RunnerStart | null {
  const given = new Map<string, string>()
  const [named, goals, libraries]: string[][] = [[], [], []]
  const open: string[] = []
  let { directory } = invocation
  for (let index = 0; index < invocation.words.length; index++) {
    const word = invocation.words[index] ?? ''
    const [, option = word, joined] = /^(-[CfI]|--[a-z-]+=)([\s\S]+)$/.exec(word) ?? []
    const value = (): string => joined ?? invocation.words[++index] ?? UNKNOWN
    if (/^(?:-C|--directory=?)$/.test(option)) directory = placeFrom(directory, value())
    else if (/^(?:-f|--file=?|--makefile=?)$/.test(option)) named?.push(value())
    else if (/^(?:-I|--include-dir=?)$/.test(option)) libraries?.push(value())
    else if (/^[A-Za-z_.][\w.-]*[:?+!]*=/.test(word)) given.set(...assignment(word))
    else if (/^-[jlo]$/.test(word) && /^\d/.test(invocation.words[index + 1] ?? '')) index++
    else if (!word.startsWith('-')) goals?.push(word)
    else if (!/^-[sknB]+$|^-j\d*$|^--(?:no-print-directory|silent)$/.test(word))
      open.push(unknownOption(word))
  }
  const place = directory === null ? null : files.pathOf(directory)
  if (directory === null || place === null) return null
  const path = (word: string): string | null =>
    word.includes(UNKNOWN) ? null : files.pathOf(resolve(directory ?? '/', word))
  const usual = MAKEFILES.filter((one) => files.isFile(below(place, one))).slice(0, 1)
  const wanted = named?.length === 0 ? usual : (named ?? [])
  if (wanted.length === 0) return null
  return readAll(
    files,
    wanted,
    { place, path, given, goals: goals ?? [], libraries: libraries ?? [], open },
    invocation,
  )
}

function assignment(word: string): readonly [name: string, value: string] {
  const [name = '', ...value] = word.split('=')
  return [name.replace(/[:?+!]+$/, ''), value.join('=')]
}

interface MakeSearch {
  readonly place: string
  readonly path: (word: string) => string | null
  readonly given: ReadonlyMap<string, string>
  readonly goals: readonly string[]
  readonly libraries: readonly string[]
  readonly open: readonly string[]
}

/** Makefiles are one text: what one of them includes counts where it is included. */
function readAll(
  files: WorkspaceFiles,
  wanted: readonly string[],
  { place, path, given, goals, libraries, open: options }: MakeSearch,
  invocation: Invocation,
): RunnerStart {
  const manifests = new Set<string>()
  const unknown: string[] = []
  const texts: string[] = []
  const open = [...wanted]
  for (const word of open) {
    const found = [path(word), ...libraries.map((one) => path(`${one}/${word}`))]
    const file = found.find((one) => one !== null && files.isFile(one))
    if (file === undefined || file === null)
      unknown.push(`the makefile ${showName(word.replaceAll(UNKNOWN, '…'))} is not found`)
    else if (!manifests.has(file) && manifests.size < INCLUDES_MAX) {
      manifests.add(file)
      const text = files.text(file)
      texts.push(text)
      open.push(...readMakefile(text, given).includes)
    }
  }
  const whole = readMakefile(texts.join('\n'), given)
  const variables = new Map([...invocation.variables, ...whole.variables])
  const inside = { directory: resolve(files.root, place), variables }
  const invocations = [...whole.texts, ...recipesFor(whole, goals, open)]
    .flatMap((text) => shellCommands(text, { ...inside, script: null }))
    .flatMap((command) => invocationsOf(command))
    .map((one) => ({ ...one, at: [...manifests].join(', ') }))
  const isRead = !texts.some((text) => UNREAD_WORDS.test(text))
  const reasons = [...options, ...(isRead ? [] : ['its text has words that writ does not read'])]
  return { manifests: [...manifests], bases: [place], invocations, unknown, open: reasons }
}
