/**
 * What the command of a participant runs in the workspace: its programs, the texts that say what runs
 * (makefiles, manifests), files that it is handed, and what it would load if it were there.
 *
 * INVARIANT (found or told): of every program that the command starts, the file is found here, or lies
 * outside the workspace, or `unfound` says which part of the command could not be followed.
 */
import { basename, relative, resolve } from 'node:path'
import { showName, showPath } from '../../base/index.ts'
import type { FlowNode, Participant } from '../../contracts/index.ts'
import {
  hasCodeSuffix,
  isPython,
  LIBRARY_VARIABLES,
  LOADING_VARIABLES,
  RUNNERS,
} from './code-names.ts'
import {
  codeNamedIn,
  mainFiles,
  type NamedModule,
  perlModules,
  pythonModules,
  scriptModules,
} from './imports.ts'
import { type InterpreterWords, interpreterWords, isUnread } from './interpreters.ts'
import { type Invocation, invocationsOf, isShell } from './invocations.ts'
import { INSTALLED, type RunnerStart, runnerStart } from './runners.ts'
import { shellCommands, UNKNOWN } from './shell-text.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

export interface NamedPrograms {
  /** Code that runs. */
  readonly programs: readonly string[]
  /** Files that say what runs, or that a script starts: pinned without their directory. */
  readonly parts: readonly string[]
  /** Other files that the command names. */
  readonly data: readonly string[]
  /** Paths, with all below them, that would be loaded if they were there. */
  readonly places: readonly string[]
  /** Directories that modules are loaded from by name: pinned and sealed whole. */
  readonly libraries: readonly string[]
  /** Directories in which a runner, a module or a text looks for code. */
  readonly bases: readonly string[]
  /** Programs of Python that are started, which looks for modules next to them, or in them. */
  readonly pythonFiles: readonly string[]
  /** What the command starts and this search cannot find, in words. */
  readonly unfound: readonly string[]
  /** Programs and texts that scripts start and that are not there yet: part of it unless they are work. */
  readonly absent: readonly string[]
  /** The same of scripts that the command starts. */
  readonly unsure: readonly string[]
  /** `programs` of the participant. A person who names them answers for what the search cannot find. */
  readonly declared: readonly string[]
}

/** The words of a participant that is a program on this host; null for any other. */
export function commandOf(participant: Participant | undefined): readonly string[] | null {
  if (participant === undefined) return null
  if ('command' in participant) return participant.command
  return 'mcp' in participant && Array.isArray(participant.mcp) ? participant.mcp : null
}

/** Null for a participant that is no program on this host. */
export function namedBy(
  files: WorkspaceFiles,
  participant: Participant | undefined,
  searchPath: readonly string[],
): NamedPrograms | null {
  const command = commandOf(participant)
  if (command === null || participant === undefined) return null
  const declared = 'programs' in participant ? (participant.programs ?? []) : []
  const search = new ProgramSearch(files, searchPath)
  const words = command.map((word) => word.replaceAll(UNKNOWN, ''))
  const start = { words, directory: files.root, variables: new Map() }
  for (const invocation of invocationsOf(start)) search.follow(invocation, false)
  const named = search.found()
  return declared.length === 0 ? named : { ...named, declared, unfound: [], unsure: [] }
}

/** The participant that acts at a node. */
export function participantAt({ kind, executor, reviewer }: FlowNode): Participant | undefined {
  return kind === 'CHECK' ? reviewer : kind === 'WORK' ? executor : undefined
}

/** Scripts that start scripts are followed this far. */
const SCRIPTS_MAX = 200
/** Runners that start runners, the same. */
const RUNNERS_MAX = 8

class ProgramSearch {
  readonly #files: WorkspaceFiles
  readonly #searchPath: readonly string[]
  readonly #programs = new Set<string>()
  readonly #parts = new Set<string>()
  readonly #data = new Set<string>()
  readonly #places = new Set<string>()
  readonly #libraries = new Set<string>()
  readonly #bases = new Set<string>()
  /** Directories that are bases unless the directory that was entered from them is sure to be there. */
  readonly #behind = new Map<string, ReadonlySet<string>>()
  readonly #pythonFiles = new Set<string>()
  readonly #absent = new Set<string>()
  readonly #unfound = new Set<string>()
  readonly #unsure = new Set<string>()
  readonly #scripts = new Set<string>()
  /** Whether what is followed now was named by a script and not by the command. */
  #isScript = false
  #depth = 0

  constructor(files: WorkspaceFiles, searchPath: readonly string[]) {
    this.#files = files
    this.#searchPath = searchPath
  }

  found(): NamedPrograms {
    const parts = [...this.#programs, ...this.#parts]
    for (const [entered, behind] of this.#behind)
      if (!parts.some((path) => path.startsWith(`${entered}/`)))
        for (const directory of behind) this.#bases.add(directory)
    return {
      programs: [...this.#programs],
      parts: [...this.#parts],
      data: [...this.#data].filter((path) => !this.#programs.has(path) && !this.#parts.has(path)),
      places: [...this.#places],
      libraries: [...this.#libraries],
      bases: [...this.#bases],
      pythonFiles: [...this.#pythonFiles],
      absent: [...this.#absent],
      unfound: [...this.#unfound],
      unsure: [...this.#unsure],
      declared: [],
    }
  }

  follow(invocation: Invocation, isScript: boolean): void {
    const before = this.#isScript
    this.#isScript = isScript
    this.#variables(invocation)
    const name = this.#program(invocation)
    if (name !== null) {
      this.#words(invocation)
      this.#interpreted(name, invocation)
      this.#runner(name, invocation)
    }
    this.#isScript = before
  }

  #tell(says: string): void {
    const list = this.#isScript ? this.#unsure : this.#unfound
    list.add(says)
  }

  #add(path: string): void {
    const list = this.#isScript ? this.#parts : this.#programs
    list.add(path)
  }

  #addModules(modules: readonly NamedModule[]): void {
    for (const { path, isThere } of modules) {
      if (isThere) this.#add(path)
      else this.#places.add(path)
    }
  }

  /** The absolute path of a word; null, and told, where only the run knows it. */
  #absolute({ directory }: Invocation, word: string): string | null {
    if (!word.includes(UNKNOWN) && (word.startsWith('/') || directory !== null))
      return resolve(directory ?? '/', word)
    const shown = showName(word.replaceAll(UNKNOWN, '…'))
    const where = word.includes(UNKNOWN) ? 'which is' : 'in a directory that is'
    this.#tell(`${shown}, ${where} known only when it runs`)
    return null
  }

  /** The name of the program, once its file is found or known to lie outside; null otherwise. */
  #program(invocation: Invocation): string | null {
    const { program, variables } = invocation
    if (program.includes(UNKNOWN) || program === '') {
      this.#tell('a program whose name is known only when it runs')
      return null
    }
    if (program.includes('/')) {
      const file = this.#absolute(invocation, program)
      const path = file === null ? null : this.#files.pathOf(file)
      if (file === null) return null
      if (path === null) return basename(program)
      if (this.#files.isFile(path)) {
        this.#startedFile(path, invocation)
        return basename(program)
      }
      if (this.#isScript) this.#absent.add(path)
      else this.#tell(`the program ${showPath(path)} is not there`)
      return null
    }
    const own = [variables.get(INSTALLED) ?? '', variables.get('PATH') ?? '']
      .join(':')
      .split(':')
      .filter((one) => one !== '')
    const places = [
      ...own.flatMap((one) => (one.includes(UNKNOWN) ? [] : (this.#inside(invocation, one) ?? []))),
      ...this.#searchPath,
    ]
    const path = places
      .map((place) => (place === '' ? program : `${place}/${program}`))
      .find((one) => this.#files.isFile(one))
    if (path !== undefined) this.#startedFile(path, invocation)
    return program
  }

  /** A file of the workspace that is started by its own name. */
  #startedFile(path: string, invocation: Invocation): void {
    this.#add(path)
    if (this.#isShellFile(path)) this.#script(path, invocation)
    this.#unreadFile(path)
    const [, line = ''] = /^#!(.*)/.exec(this.#files.text(path).slice(0, 200)) ?? []
    const [, name, words = ''] = /\b(python[0-9.]*|pypy[0-9.]*)(.*)$/.exec(line) ?? []
    if (name !== undefined && !/\s-\w*[IP]/.test(words)) this.#pythonFiles.add(path)
  }

  #inside({ directory }: Invocation, word: string): string | null {
    return directory === null && !word.startsWith('/')
      ? null
      : this.#files.pathOf(resolve(directory ?? '/', word))
  }

  /** Variables that say where code is loaded from, and what is loaded first. */
  #variables(invocation: Invocation): void {
    for (const [name, value] of invocation.variables) {
      if (LIBRARY_VARIABLES.has(name)) {
        for (const word of value.split(':').filter((one) => one !== '')) {
          const file = this.#absolute(invocation, word)
          if (file !== null) this.#library(file)
        }
      }
      if (!LOADING_VARIABLES.has(name) || value === '') continue
      if (value.includes(UNKNOWN)) this.#tell(`what the variable ${showName(name)} loads`)
      const { directory, variables } = invocation
      const words = shellCommands(value, { directory, variables, script: null })
      if (name === 'NODE_OPTIONS')
        this.#interpreted('node', { ...invocation, words: [...(words[0]?.words ?? []), '-e', ''] })
      else
        for (const { words: list } of words) for (const word of list) this.#named(invocation, word)
    }
  }

  /** Code may be put into it later, so it counts whether it is there or not. */
  #library(file: string): void {
    const path = this.#files.pathOf(file)
    if (path === null) return
    if (this.#files.isFile(path)) this.#add(path)
    else if (path === '') this.#bases.add('')
    else this.#libraries.add(path)
  }

  /** Files that words name: as they are, behind a sign, and inside a text. */
  #words(invocation: Invocation): void {
    for (const word of [...invocation.words, ...(invocation.reads ?? [])])
      for (const piece of pieces(word)) this.#named(invocation, piece)
  }

  #named(invocation: Invocation, piece: string): void {
    const path = piece.includes(UNKNOWN) ? null : this.#inside(invocation, piece)
    if (path === null || path === '' || !this.#files.isFile(path)) return
    const isCode = hasCodeSuffix(path) || this.#files.isExecutable(path)
    if (isCode) this.#add(path)
    else this.#data.add(path)
  }

  #interpreted(name: string, invocation: Invocation): void {
    const said = interpreterWords(name, invocation.words)
    if (said === null || invocation.isRead === true) return
    const directory = this.#directory(invocation)
    for (const word of said.libraries.flatMap((one) => one.split(':'))) {
      const file = this.#absolute(invocation, word)
      if (file !== null) this.#library(file)
    }
    for (const word of said.loaded) this.#loaded(invocation, word)
    if (looksAround(name, said)) this.#base(invocation)
    for (const text of said.texts) {
      if (text.includes(UNKNOWN))
        this.#tell(`a text for ${showName(name)} that is known only when it runs`)
      else this.#addModules(this.#textModules(name, directory ?? '', text))
    }
    for (const module of said.modules) this.#pythonStart(invocation, module)
    const input = invocation.reads?.at(-1)
    if (said.entry !== null)
      this.#entry(name, invocation, said.entry === '-' ? (input ?? '-') : said.entry)
    const path = input === undefined ? null : this.#inside(invocation, input)
    // A program from the input names its modules from where it runs.
    if (said.entry === '-' && path !== null && !isShell(name))
      this.#addModules(this.#textModules(name, directory ?? '', this.#files.text(path)))
    const file = said.entry === null ? null : this.#inside(invocation, said.entry)
    if (isPython(name) && !said.isIsolated && file !== null && said.entry !== '-')
      if (this.#files.isFile(file) || this.#files.isDirectory(file)) this.#pythonFiles.add(file)
    this.#unread(name, invocation, said)
  }

  #textModules(name: string, directory: string, text: string): readonly NamedModule[] {
    if (isPython(name)) return pythonModules(this.#files, directory, text)
    if (/^(?:node|nodejs|tsx|ts-node)$/.test(name))
      return scriptModules(this.#files, directory, text)
    const named = codeNamedIn(this.#files, text, directory)
    return /^perl/.test(name) ? [...named, ...perlModules(this.#files, directory, text)] : named
  }

  /** A module that is loaded first: by its path, or a package by its name. */
  #loaded(invocation: Invocation, word: string): void {
    const file = this.#absolute(invocation, word)
    if (file === null) return
    const path = this.#files.pathOf(file)
    if (path !== null && this.#files.isFile(path)) return this.#add(path)
    const directory = this.#directory(invocation) ?? ''
    const modules = scriptModules(this.#files, directory, `import ${JSON.stringify(word)}`)
    this.#addModules(modules)
    if (/^\.{1,2}\/|^\//.test(word) && path !== null && !modules.some(({ isThere }) => isThere))
      this.#missing(path)
  }

  #entry(name: string, invocation: Invocation, entry: string): void {
    if (entry === '-') return this.#tell(`${showName(name)} reads its program from its input`)
    const file = this.#absolute(invocation, entry)
    const path = file === null ? null : this.#files.pathOf(file)
    if (path === null) return
    if (this.#files.isFile(path)) {
      this.#add(path)
      if (isShell(name)) this.#script(path, invocation)
      return
    }
    const directory = this.#directory(invocation) ?? ''
    const text = `import ${JSON.stringify(`./${relative(directory, path)}`)}`
    const modules = this.#files.isDirectory(path)
      ? mainFiles(this.#files, path)
      : scriptModules(this.#files, directory, text).filter(({ isThere }) => isThere)
    this.#addModules(modules)
    if (modules.length === 0) this.#missing(path)
  }

  /** A language whose texts are not searched for what they load; outside the workspace, none are. */
  #unread(name: string, invocation: Invocation, words: InterpreterWords): void {
    const { texts, loaded, entry } = words
    const path = entry === null ? null : this.#inside(invocation, entry)
    const isHere = entry === '-' || (path !== null && this.#files.isFile(path))
    if (isUnread(name) && (isHere || texts.length + loaded.length > 0))
      this.#unfound.add(`what ${showName(name)} loads, whose language writ does not read`)
  }

  /** The same of a program that names its interpreter in its first line. */
  #unreadFile(path: string): void {
    const [first = ''] = this.#files.text(path).slice(0, 200).split('\n')
    const name = first.split(/[\s/]+/).find(isUnread)
    if (first.startsWith('#!') && name !== undefined)
      this.#unfound.add(`what ${showName(name)} loads, whose language writ does not read`)
  }

  /** A script may start work that is not there yet; the command of a participant may not. */
  #missing(path: string): void {
    if (this.#isScript) this.#absent.add(path)
    else this.#tell(`${showPath(path)} is not there`)
  }

  /** `python3 -m package.module`, from the directory and from those of PYTHONPATH. */
  #pythonStart(invocation: Invocation, name: string): void {
    if (name.includes(UNKNOWN)) return this.#tell('a module whose name is known only when it runs')
    const said = (invocation.variables.get('PYTHONPATH') ?? '').split(':')
    const places = ['.', ...said.filter((one) => one !== '')].flatMap((one) => {
      const path = one.includes(UNKNOWN) ? null : this.#inside(invocation, one)
      return path === null ? [] : [path]
    })
    const path = name.replaceAll('.', '/')
    const modules = places.flatMap((place) => {
      const at = place === '' ? '' : `${place}/`
      const start = [`${at}${path}.py`, `${at}${path}/__main__.py`]
      const there = start.filter((one) => this.#files.isFile(one))
      return [
        ...there.map((one) => ({ path: one, isThere: true })),
        ...pythonModules(this.#files, place, `import ${name}\n`),
      ]
    })
    this.#addModules(modules)
    const [first = ''] = name.split('.')
    if (RUNNERS.has(first) && !modules.some(({ isThere }) => isThere))
      this.#started(first, invocation, null)
  }

  #runner(name: string, invocation: Invocation): void {
    if (name === 'run-parts') this.#allIn(invocation)
    if (RUNNERS.has(name))
      this.#started(name, invocation, runnerStart(this.#files, name, invocation))
  }

  /** What a runner finds by its manifests; null where that is not known. */
  #started(name: string, invocation: Invocation, start: RunnerStart | null): void {
    this.#base(invocation)
    const before = this.#programs.size + this.#parts.size
    for (const path of start?.manifests ?? []) this.#parts.add(path)
    for (const place of start?.bases ?? []) this.#bases.add(place)
    this.#depth++
    if (this.#depth > RUNNERS_MAX)
      this.#tell(`the code that ${showName(name)} runs, which starts itself`)
    else for (const one of start?.invocations ?? []) this.follow(one, this.#isScript)
    this.#depth--
    for (const says of start?.unknown ?? []) this.#tell(says)
    const isNamed = this.#programs.size + this.#parts.size > before
    const hasWord = invocation.words.some((word) => {
      const path = this.#inside(invocation, word)
      return path !== null && this.#programs.has(path)
    })
    if (start === null && !isNamed && !hasWord) this.#tell(`the code that ${showName(name)} runs`)
  }

  /** `run-parts DIR` runs every program in the directory. */
  #allIn(invocation: Invocation): void {
    const word = invocation.words.findLast((one) => !one.startsWith('-'))
    const file = word === undefined ? null : this.#absolute(invocation, word)
    if (file !== null) this.#library(file)
  }

  #directory(invocation: Invocation): string | null {
    const { directory } = invocation
    return directory === null ? null : this.#files.pathOf(directory)
  }

  /**
   * The directory that code is looked for in. Every call comes through here, of the command as of the
   * texts that it starts: work that puts a module there would decide what the participant does.
   */
  #base(invocation: Invocation): void {
    if (invocation.directory === null)
      this.#unfound.add('a directory that is known only when it runs, in which code is looked for')
    const directory = this.#directory(invocation)
    if (directory !== null) this.#bases.add(directory)
    for (const one of invocation.behind ?? []) {
      const path = this.#files.pathOf(one)
      if (path === null || directory === null) continue
      this.#behind.set(directory, new Set([...(this.#behind.get(directory) ?? []), path]))
    }
  }

  #isShellFile(path: string): boolean {
    if (/\.(?:sh|bash|zsh|ksh)$/.test(path)) return true
    return /^#!.*\b(?:sh|bash|dash|zsh|ksh)\b/.test(this.#files.text(path).slice(0, 200))
  }

  /** Follows what a shell script of the workspace starts, from where it is started. */
  #script(path: string, { directory, variables, behind = [] }: Invocation): void {
    const key = `${path}\0${directory}`
    if (this.#scripts.has(key) || this.#scripts.size >= SCRIPTS_MAX) return
    this.#scripts.add(key)
    const script = resolve(this.#files.root, path)
    const start = { directory, variables, behind, script }
    for (const command of shellCommands(this.#files.text(path), start))
      for (const one of invocationsOf(command)) this.follow(one, true)
  }
}

/** Whether an interpreter looks for code in the directory that it runs in. */
function looksAround(name: string, words: InterpreterWords): boolean {
  const { texts, modules, entry, isIsolated } = words
  if (isIsolated || isShell(name)) return false
  return texts.length + modules.length > 0 || entry === '-'
}

/** The word, what is behind a sign in it, and the words inside it. */
function pieces(word: string): readonly string[] {
  return [word, ...word.split(/[\s'"`;|&()<>=,]+/)].filter((piece) => piece !== '')
}
