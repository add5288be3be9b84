/**
 * What no participant of a run may change (F-5a): the programs of all participants with the modules that they
 * import, and for reviewers everything that decides what their programs do.
 *
 * The rule, as `docs/flow-controls.md` tells it:
 * 1. Every program that a command names, there or not, and every module that it imports by a relative
 *    path; code that a script names, unless a node declares that it writes or requires it.
 * 2. Of a reviewer also the directory of the program with all below it. If that is the workspace
 *    itself: code directly in it, there or new, and Python packages there; and other files directly in it
 *    that are there when the run begins, such as rules, unless a node declares that it writes or requires them.
 * 3. Of a reviewer also manifests, lock files, settings and installed packages, from the program's
 *    directory up to the workspace; other files that its command names, unless a node declares that it
 *    writes or requires them; what agents read as instructions; and what makes git run programs.
 *    Of an executor with secrets or hosts: what Python finds next to its program, and packages it imports.
 * 4. Directories of the search path that lie in the workspace.
 * 5. What a participant lists in `programs`.
 * What tools load from any directory is held against each node's `writes`, and while a reviewer is open
 * everything but data that the flow names: `run-programs.ts`.
 *
 * INVARIANT (from the promoted tree): a stage that changes any of it is blocked, so no participant ever
 * runs over a view in which one of its parts is not the promoted one.
 */
import { type Digest, digestDocument, faultError, showPath } from '../../base/index.ts'
import { type Flow, type FlowNode, matchesPath, parseGlob } from '../../contracts/index.ts'
import type { PinnedFile, PinnedProgram } from '../../flow/index.ts'
import {
  CODE_PATTERNS,
  GIT_PATTERNS,
  hasCodeSuffix,
  INSTRUCTION_FILES,
  MANIFEST_PATTERNS,
  PACKAGE_DIRECTORIES,
  PYTHON_PATTERNS,
} from './code-names.ts'
import { codeNamedIn, loadedBy } from './imports.ts'
import { packagePlaces } from './installed-packages.ts'
import { namedBy } from './named-programs.ts'
import { commandOf, type NamedPrograms, participantAt, runsWork } from './participant-command.ts'
import { below, directoryOf, LOG_FILE, upFrom, type WorkspaceFiles } from './workspace-files.ts'

export interface ProtectedPrograms {
  /** Patterns below the workspace that no stage may change. */
  readonly sealed: readonly string[]
  /** Places below the workspace that are there now and can be mounted read-only. */
  readonly readOnly: readonly string[]
  readonly programs: readonly PinnedProgram[]
  readonly pins: readonly PinnedFile[]
  /** Directories of reviewers' programs, each pinned with everything in it. */
  readonly directories: readonly string[]
  /**
   * Files next to a reviewer's program in the root of the workspace. They are sealed and on the record; a
   * person may change them while the run goes on.
   */
  readonly rootFiles: readonly string[]
  /** Where packages are looked for that reviewers import: those that are there are pinned. */
  readonly packages: readonly string[]
  /** Programs that are not there: one that appears is not run. */
  readonly absent: readonly string[]
  /**
   * Participants whose programs are not all found, or that may run the work they judge, by the digest of
   * the declaration: what they say verifies nothing.
   */
  readonly unpinned: readonly string[]
}

/** `core.hooksPath`, and `path` of an include. */
const GIT_SETTINGS = /^\s*(hookspath|path)\s*=\s*("?)([^"\n]*?)\2\s*$/gim
const GIT_SETTINGS_MAX = 20

/** More files than this are not what a reviewer is made of. */
const PINS_MAX = 5_000
const ROOT_FILES_MOUNTED_MAX = 64

interface NamedParticipant extends ProgramOwner {
  readonly digest: Digest
  /** As `runs_work` says. */
  readonly isRunningWork: boolean
  readonly named: NamedPrograms
}

/** The part of a participant's declaration that decides whether its program may be made in the run. */
interface ProgramOwner {
  readonly isReviewer: boolean
  readonly secrets?: readonly string[] | undefined
  readonly egress?: readonly string[] | undefined
}

/**
 * Whether some node declares to write a program, so that it need not be there at the beginning. No work
 * makes its own reviewer, or a program that is handed a secret.
 */
export function isMadeInFlow(
  { nodes }: Pick<Flow, 'nodes'>,
  { isReviewer, secrets = [] }: ProgramOwner,
  path: string,
): boolean {
  if (isReviewer || secrets.length > 0) return false
  return nodes.some(
    ({ writes = [], required_files = [] }) =>
      required_files.includes(path) ||
      isFitting(
        writes.filter((pattern) => pattern !== '**'),
        path,
      ),
  )
}

/** `pinned`: of a run that goes on, what it began with. Other files that commands and scripts name are work by now. */
export function protectedPrograms(
  files: WorkspaceFiles,
  flow: Flow,
  searchPath: string,
  pinned: ReadonlySet<string> | null = null,
): ProtectedPrograms {
  const inside = searchPath.split(':').flatMap((directory) => {
    const path = files.pathOf(directory === '' ? '.' : directory)
    return path === null ? [] : [path]
  })
  const isOwn = (path: string): boolean =>
    pinned === null || pinned.has(path) || [...pinned].some((one) => one.startsWith(`${path}/`))
  const participants = participantsOf(files, flow, inside).map((one) => {
    const { programs, data, parts, absent, places } = one.named
    const isWork = (path: string): boolean => isMadeInFlow(flow, one, path)
    const isPart = (path: string): boolean => isOwn(path) && !isDeclared(path, flow.nodes)
    return {
      ...one,
      named: {
        ...one.named,
        programs: programs.filter((path) => isOwn(path) || !isWork(path)),
        data: data.filter(isPart),
        parts: parts.filter(isPart),
        absent: absent.filter((path) => !isWork(path)),
        places: places.filter((path) => !isDeclared(path, flow.nodes)),
      },
    }
  })
  const parts = new Parts(files)
  for (const directory of participants.length === 0 ? [] : inside)
    if (directory !== '') parts.seal(`${directory}/**`)
  parts.addPrograms(participants.map(({ named }) => named))
  for (const { named, isReviewer, secrets = [], egress = [] } of participants) {
    parts.addDeclared(named.declared)
    if (!isReviewer && secrets.length + egress.length > 0) parts.addTrusted(named)
    if (!isReviewer) continue
    parts.addReviewer(named)
    parts.addRootFiles(named, (path) => isOwn(path) && !isDeclared(path, flow.nodes))
    parts.addPackages(named)
  }
  return parts.finish(participants)
}

function isPython(files: WorkspaceFiles, path: string): boolean {
  return /\.pyw?$/.test(path) || /^#!.*\bpython/.test(files.text(path))
}

function participantsOf(
  files: WorkspaceFiles,
  { nodes }: Flow,
  searchPath: readonly string[],
): readonly NamedParticipant[] {
  const known = new Set<string>()
  return nodes.flatMap((node) => {
    const { kind } = node
    const participant = participantAt(node)
    if (participant === undefined || commandOf(participant) === null) return []
    const digest = digestDocument(participant)
    if (known.has(`${kind} ${digest}`)) return []
    known.add(`${kind} ${digest}`)
    const named = namedBy(files, participant, searchPath)
    const isRunningWork = runsWork(participant)
    const { secrets, egress } = participant
    const isReviewer = kind === 'CHECK'
    return named === null ? [] : [{ digest, isReviewer, secrets, egress, isRunningWork, named }]
  })
}

class Parts {
  readonly #files: WorkspaceFiles
  readonly #sealed = new Set<string>()
  readonly #pinned = new Set<string>()
  readonly #directories = new Set<string>()
  readonly #packages = new Set<string>()
  readonly #rootFiles = new Set<string>()
  readonly #absent = new Set<string>()

  constructor(files: WorkspaceFiles) {
    this.#files = files
  }

  seal(pattern: string): void {
    this.#sealed.add(pattern)
  }

  /** A file, with the links that lead to it. */
  #pin(path: string): void {
    for (const one of this.#files.withLinks(path)) this.seal(one)
    this.#pinned.add(path)
  }

  addPrograms(named: readonly NamedPrograms[]): void {
    const programs = named.flatMap((one) => [...one.programs, ...one.parts])
    const loaded = loadedBy(this.#files, programs)
    for (const module of loaded.modules) this.#pin(module)
    for (const place of [...loaded.places, ...named.flatMap(({ places }) => places)])
      this.seal(`${place}/**`)
    for (const path of named.flatMap(({ absent }) => absent)) this.#addAbsent(path)
  }

  /** A program that is not there, with the links that lead to its place. */
  #addAbsent(path: string): void {
    this.#absent.add(path)
    for (const one of this.#files.withLinks(path)) {
      this.seal(one)
      this.seal(`${one}/**`)
    }
  }

  addReviewer({ programs, absent, parts, data, directories }: NamedPrograms): void {
    for (const path of data) this.#pin(path)
    this.#addGit()
    for (const path of INSTRUCTION_FILES) this.seal(`${path}/**`)
    for (const pattern of GIT_PATTERNS) this.seal(pattern)
    const real = [...programs, ...absent].flatMap((path) => this.#files.withLinks(path))
    const own = new Set(real.map(directoryOf))
    for (const directory of own) if (directory !== '') this.#addDirectory(directory)
    if (own.has('')) for (const pattern of CODE_PATTERNS) this.seal(pattern)
    const { modules } = loadedBy(this.#files, [...programs, ...parts])
    const loaded = [...modules].map(directoryOf)
    for (const directory of new Set([...own, ...directories, ...loaded]))
      for (const up of upFrom(directory)) this.#addManifests(up)
  }

  /** Files next to a program in the root: the workspace cannot be sealed whole, since it holds the work. */
  addRootFiles({ programs }: NamedPrograms, isPart: (path: string) => boolean): void {
    const isAtRoot = programs
      .flatMap((path) => this.#files.withLinks(path))
      .some((path) => directoryOf(path) === '')
    if (!isAtRoot) return
    for (const name of this.#files.names('')) {
      if (name === LOG_FILE || !isPart(name) || !this.#files.isSmallFile(name)) continue
      this.#rootFiles.add(name)
      if (this.#rootFiles.size > PINS_MAX) throw tooMany('.')
    }
  }

  /** Hooks in another place, settings that settings include, and programs that they name. */
  #addGit(): void {
    const settings = new Set(['.git/config', '.git/config.worktree'])
    for (const path of settings) {
      const text = this.#files.text(path)
      for (const { path: program } of codeNamedIn(this.#files, text)) this.#pin(program)
      for (const [, name = '', , value = ''] of text.matchAll(GIT_SETTINGS)) {
        const isHooks = name.toLowerCase() === 'hookspath'
        const place = this.#files.pathOf(value, isHooks ? '' : directoryOf(path))
        if (place === null || place === '') continue
        this.seal(`${place}/**`)
        if (isHooks) this.#addDirectory(place)
        else if (settings.size < GIT_SETTINGS_MAX && settings.add(place)) this.#pinThere(place)
      }
    }
  }

  #pinThere(path: string): void {
    if (this.#files.isFile(path)) this.#pin(path)
  }

  /** Installed packages that a reviewer imports. */
  addPackages({ programs, parts }: NamedPrograms): void {
    const { modules } = loadedBy(this.#files, [...programs, ...parts])
    for (const place of packagePlaces(this.#files, modules)) {
      this.#packages.add(place)
      if (this.#files.digest(place) !== null) this.#pinned.add(place)
    }
  }

  /**
   * What the program of an executor that gets secrets or reaches hosts loads besides what it names: Python looks
   * into its directory first, also for what modules of its library import; and the packages that it imports.
   */
  addTrusted({ programs, absent, parts }: NamedPrograms): void {
    for (const path of [...programs, ...absent, ...parts].filter((one) =>
      isPython(this.#files, one),
    ))
      for (const real of this.#files.withLinks(path))
        for (const pattern of PYTHON_PATTERNS) this.seal(below(directoryOf(real), pattern))
    const { modules } = loadedBy(this.#files, [...programs, ...parts])
    for (const place of packagePlaces(this.#files, modules)) {
      this.seal(`${place}/**`)
      if (this.#files.digest(place) !== null) this.#pinned.add(place)
    }
  }

  /** Files, directories and patterns that a participant names as its programs. */
  addDeclared(patterns: readonly string[]): void {
    for (const pattern of patterns) {
      const path = plainPath(pattern)
      if (this.#files.isFile(path)) this.#pin(path)
      else if (this.#files.isDirectory(path)) this.#addDirectory(path)
      else this.seal(pattern)
      for (const one of filesFitting(this.#files, pattern)) this.#pin(one)
      if (this.#pinned.size > PINS_MAX) throw tooMany(pattern)
    }
  }

  #addDirectory(directory: string): void {
    for (const one of this.#files.withLinks(directory)) this.seal(`${one}/**`)
    if (!this.#files.isDirectory(directory) || this.#directories.has(directory)) return
    this.#directories.add(directory)
    for (const link of this.#files.linksBelow(directory, isPackageDirectory)) this.#addLinked(link)
    for (const path of this.#files.filesBelow(directory, isPackageDirectory)) {
      this.#pinned.add(path)
      if (this.#pinned.size > PINS_MAX) throw tooMany(directory)
    }
  }

  /** What a link in a reviewer's directory leads to is as much a part of it. */
  #addLinked(link: string): void {
    const [, ...led] = this.#files.withLinks(link)
    for (const path of led) {
      if (this.#files.isDirectory(path) && path !== '') this.#addDirectory(path)
      else this.seal(`${path}/**`)
      this.#pinThere(path)
    }
  }

  #addManifests(directory: string): void {
    for (const name of PACKAGE_DIRECTORIES) this.seal(`${below(directory, name)}/**`)
    for (const pattern of MANIFEST_PATTERNS) this.seal(below(directory, pattern))
    for (const name of this.#files.names(directory)) {
      const path = below(directory, name)
      if (isFitting(MANIFEST_PATTERNS, name) && this.#files.isFile(path)) this.#pin(path)
    }
  }

  finish(participants: readonly NamedParticipant[]): ProtectedPrograms {
    const rootFiles = [...this.#rootFiles].filter((path) => !this.#pinned.has(path))
    const own = [...this.#sealed].sort()
    const sealed = [...new Set([...own, ...rootFiles])].sort()
    const rows = participants.flatMap(({ digest: participant, named }) =>
      [...named.programs, ...named.declared.flatMap((one) => codeOf(this.#files, one))].map(
        (path) => ({ participant, ...pinOf(this.#files, path) }),
      ),
    )
    const programs = new Map(rows.map((row) => [`${row.participant} ${row.path}`, row]))
    return {
      sealed,
      // A mount for each of many files would cost more than the look at the stage.
      readOnly: this.#readOnly(rootFiles.length > ROOT_FILES_MOUNTED_MAX ? own : sealed),
      programs: [...programs.values()],
      pins: [...this.#pinned, ...rootFiles].sort().map((path) => pinOf(this.#files, path)),
      rootFiles,
      directories: [...this.#directories],
      packages: [...this.#packages],
      absent: [...this.#absent],
      unpinned: [
        ...new Set(
          participants
            .filter(({ named, isRunningWork }) => named.isUnfound || isRunningWork)
            .map(({ digest }) => digest),
        ),
      ],
    }
  }

  /** Entries of the workspace that a pattern covers, and whose parents it does not cover. */
  #readOnly(sealed: readonly string[]): readonly string[] {
    const plain = sealed.filter((pattern) => !pattern.replace(/\/\*\*$/, '').includes('*'))
    const places = plain.map((pattern) => pattern.replace(/\/\*\*$/, ''))
    const known = new Set(plain)
    const globbed = new Set(sealed.filter((pattern) => !known.has(pattern)).map(directoryOf))
    const fitting = [...globbed].flatMap((directory) => {
      if (directory.includes('*')) return []
      const own = sealed.filter((pattern) => directoryOf(pattern) === directory)
      const names = own.map((pattern) => pattern.slice(directory === '' ? 0 : directory.length + 1))
      return this.#files
        .names(directory)
        .filter((name) => isFitting(names, name))
        .map((name) => below(directory, name))
    })
    // A link cannot be mounted: a stage that replaces one is blocked.
    return [...new Set([...places, ...fitting])].sort().filter((path) => !this.#files.isLink(path))
  }
}

function pinOf(files: WorkspaceFiles, path: string): PinnedFile {
  const digest = files.digest(path)
  if (digest !== null) return { path, digest }
  const message = `${showPath(path)}, which a participant runs, cannot be read`
  throw faultError('flow.program_changed', path, message)
}

/** A node that says it writes or needs a file takes it for work, not for a part of the reviewer. */
export function isDeclared(path: string, nodes: readonly FlowNode[]): boolean {
  return nodes.some(
    ({ writes = [], required_files = [] }) =>
      required_files.includes(path) || isFitting(writes, path),
  )
}

function isFitting(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => {
    const glob = parseGlob(`/${pattern}`)
    return glob !== null && matchesPath(glob, `/${path}`)
  })
}

function plainPath(pattern: string): string {
  return pattern.replace(/^(?:\.\/)+|\/+$/g, '')
}

/** Files of the workspace that a pattern with `*` covers. */
function filesFitting(files: WorkspaceFiles, pattern: string): readonly string[] {
  if (!pattern.includes('*')) return []
  const fixed = directoryOf(pattern.slice(0, pattern.indexOf('*')))
  if (!files.isDirectory(fixed)) return []
  return files.filesBelow(fixed, isPackageDirectory).filter((path) => isFitting([pattern], path))
}

/** Code among what a participant names as its programs. */
function codeOf(files: WorkspaceFiles, pattern: string): readonly string[] {
  const path = plainPath(pattern)
  if (files.isFile(path)) return [path]
  const found = files.isDirectory(path)
    ? files.filesBelow(path, isPackageDirectory)
    : filesFitting(files, pattern)
  return found.filter((one) => hasCodeSuffix(one) || files.isExecutable(one))
}

/** Whether something in the workspace is what a participant names as its programs. */
export function isDeclaredThere(files: WorkspaceFiles, pattern: string): boolean {
  const path = plainPath(pattern)
  if (files.isFile(path) || files.isDirectory(path)) return true
  return filesFitting(files, pattern).length > 0
}

function isPackageDirectory(name: string): boolean {
  return PACKAGE_DIRECTORIES.includes(name)
}

function tooMany(directory: string) {
  const message = `${showPath(directory)}, where a reviewer's program lies, has more than ${PINS_MAX} files`
  const hint = 'give the program a directory of its own, and name it there'
  return faultError('flow.program_large', directory, message, hint)
}
