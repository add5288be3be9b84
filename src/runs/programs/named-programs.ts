/**
 * What the command of a participant runs in the workspace: its programs, the texts that say what runs
 * (makefiles, manifests), files that it is handed, and what it would load if it were there.
 *
 * INVARIANT (found or told): of every program that the command starts, the file is found here, or lies
 * outside the workspace, or `unfound` says which part of the command could not be followed.
 */
import { basename, relative, resolve } from 'node:path'
import { showName, showPath } from '../../base/index.ts'
import type { Participant } from '../../contracts/index.ts'
import {
  hasCodeSuffix,
  isPython,
  LIBRARY_VARIABLES,
  LOADING_VARIABLES,
  RUNNERS,
} from './code-names.ts'
import {
  codeNamedIn,
  languageOf,
  mainFiles,
  type NamedModule,
  perlModules,
  pythonModules,
  scriptModules,
} from './imports.ts'
import { type InterpreterWords, interpreterWords, isUnread, looksAround } from './interpreters.ts'
import { type Invocation, invocationsOf, isShell } from './invocations.ts'
import { isLoading, isTemporary } from './known-words.ts'
import { outsideReason } from './open-programs.ts'
import { openModules, openWords, PYTHON_PROGRAMS } from './open-texts.ts'
import { commandOf, type NamedPrograms } from './participant-command.ts'
import { INSTALLED, type RunnerStart, runnerStart } from './runners.ts'
import { shellCommands, UNKNOWN } from './shell-text.ts'
import { isShellText, pieces } from './text-ends.ts'
import { WorkspaceFiles } from './workspace-files.ts'

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
  const open = [...named.open, ...openModules(files, [...named.programs, ...named.parts])]
  if (declared.length === 0) return { ...named, open }
  return { ...named, declared, unfound: [], open: [...named.unfound, ...open] }
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
  readonly #open = new Set<string>()
  readonly #scripts = new Set<string>()
  /** Whether what is followed now was named by a script and not by the command. */
  #isScript = false
  /** Where what is followed now is written. */
  #at = 'its command'
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
      open: [...this.#open],
      declared: [],
    }
  }

  follow(invocation: Invocation, isScript: boolean): void {
    const [before, at] = [this.#isScript, this.#at]
    this.#isScript = isScript
    this.#at = invocation.at ?? at
    if (invocation.open !== undefined) this.#leave(invocation.program, invocation.open)
    this.#variables(invocation)
    const name = this.#program(invocation)
    if (name !== null) {
      this.#words(invocation)
      this.#interpreted(name, invocation)
      this.#runner(name, invocation)
    }
    this.#isScript = before
    this.#at = at
  }

  #tell(says: string): void {
    if (this.#isScript) this.#open.add(`${says} (${this.#at})`)
    else this.#unfound.add(says)
  }

  #leave(word: string, why: string): void {
    const shown = showName(word.replaceAll(UNKNOWN, '…'))
    this.#open.add(`${shown}: ${why} (${this.#at})`)
  }

  /** A program outside the workspace: known by its name, or not at all. */
  #outside(name: string, invocation: Invocation): void {
    const why = outsideReason(this.#files, name, invocation)
    if (why !== null) this.#leave(name, why)
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
      if (path === null) {
        this.#outside(basename(program), { ...invocation, program: file })
        return basename(program)
      }
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
    else this.#outside(program, invocation)
    return program
  }

  /** A file of the workspace that is started by its own name. */
  #startedFile(path: string, invocation: Invocation): void {
    this.#add(path)
    if (isShellText(path, this.#files.text(path)))
      this.#script(resolve(this.#files.root, path), invocation)
    // Without a first line that names an interpreter, the shell that starts it reads it.
    else if (!/^#!.*\b(?:python|node)/.test(this.#files.text(path)))
      this.#leave(path, 'a program that writ does not read')
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
      if (isLoading(name, value)) this.#leave(`${name}=`, 'it decides what programs load')
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
    for (const word of said.unknown)
      this.#leave(`${name} ${word}`, 'writ does not know this option')
    for (const word of said.libraries.flatMap((one) => one.split(':'))) {
      const file = this.#absolute(invocation, word)
      if (file !== null) this.#library(file)
    }
    for (const word of said.loaded) this.#loaded(invocation, word)
    if (looksAround(name, said)) this.#base(invocation)
    for (const text of said.texts) {
      if (text.includes(UNKNOWN))
        this.#tell(`a text for ${showName(name)} that is known only when it runs`)
      else this.#text(name, directory ?? '', text)
    }
    for (const module of said.modules) this.#pythonStart(invocation, module)
    const input = invocation.reads?.at(-1)
    if (said.entry !== null)
      this.#entry(name, invocation, said.entry === '-' ? (input ?? '-') : said.entry)
    const path = input === undefined ? null : this.#inside(invocation, input)
    // A program from the input names its modules from where it runs.
    if (said.entry === '-' && path !== null && !isShell(name))
      this.#text(name, directory ?? '', this.#files.text(path))
    const file = said.entry === null ? null : this.#inside(invocation, said.entry)
    if (isPython(name) && !said.isIsolated && file !== null && said.entry !== '-')
      if (this.#files.isFile(file) || this.#files.isDirectory(file)) this.#pythonFiles.add(file)
    this.#unread(name, invocation, said)
  }

  /** A text that an interpreter is handed, which runs in this directory. */
  #text(name: string, directory: string, text: string): void {
    this.#addModules(this.#textModules(name, directory, text))
    const language = isPython(name) ? 'python' : /^node(?:js)?$/.test(name) ? 'script' : null
    if (language === null) return
    const module = directory === '' ? 'text' : `${directory}/text`
    for (const { word, why } of openWords(this.#files, language, module, text))
      this.#leave(word, why)
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
    if (!modules.some(({ isThere }) => isThere)) this.#leave(word, 'writ does not read it')
    if (/^\.{1,2}\/|^\//.test(word) && path !== null && !modules.some(({ isThere }) => isThere))
      this.#missing(path)
  }

  #entry(name: string, invocation: Invocation, entry: string): void {
    if (entry === '-') return this.#tell(`${showName(name)} reads its program from its input`)
    const file = this.#absolute(invocation, entry)
    if (file === null) return
    const path = this.#files.pathOf(file)
    if (path === null) return this.#outsideEntry(name, file, invocation)
    if (this.#files.isFile(path)) {
      this.#add(path)
      if (isShell(name)) this.#script(file, invocation)
      else if (languageOf(path, this.#files.text(path)) === null)
        this.#leave(path, 'its name does not say its language')
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

  /** A program of the host, which no participant changes; it is read all the same. */
  #outsideEntry(name: string, file: string, invocation: Invocation): void {
    const host = new WorkspaceFiles('/')
    const path = file.slice(1)
    if (isTemporary(file) || !host.isFile(path))
      return this.#leave(file, 'it may be made by the work')
    if (isShell(name)) return this.#script(file, invocation)
    for (const says of openModules(host, [path])) this.#open.add(says)
    if (languageOf(path, host.text(path)) === null)
      this.#leave(file, 'its name does not say its language')
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
    if (!modules.some(({ isThere }) => isThere) && !PYTHON_PROGRAMS.has(name))
      this.#leave(`python3 -m ${name}`, 'writ does not know what this program starts or loads')
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
    for (const says of start?.open ?? []) this.#leave(name, says)
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
    else if (invocation.directory !== null)
      this.#leave(invocation.directory, 'code is looked for there, outside the workspace')
    for (const one of invocation.behind ?? []) {
      const path = this.#files.pathOf(one)
      if (path === null || directory === null) continue
      this.#behind.set(directory, new Set([...(this.#behind.get(directory) ?? []), path]))
    }
  }

  /** Follows what a shell script starts, from where it is started. */
  #script(script: string, { directory, variables, behind = [] }: Invocation): void {
    const key = `${script}\0${directory}`
    if (this.#scripts.has(key)) return
    if (this.#scripts.size >= SCRIPTS_MAX) return this.#leave(script, 'too many scripts')
    this.#scripts.add(key)
    const path = this.#files.pathOf(script)
    const text =
      path === null ? new WorkspaceFiles('/').text(script.slice(1)) : this.#files.text(path)
    const start = { directory, variables, behind, script, source: path ?? script }
    for (const command of shellCommands(text, start))
      for (const one of invocationsOf(command)) this.follow(one, true)
  }
}
