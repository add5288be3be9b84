/**
 * What the command of a participant names in the workspace: programs, files that it is handed, and
 * texts that it runs. A word counts if something of that name is there; words inside a word, such as
 * those of `sh -c` or behind `=`, count too.
 */
import { basename, isAbsolute } from 'node:path'
import type { Participant } from '../../contracts/index.ts'
import { hasCodeSuffix, isInterpreter, isPython, RUNNERS } from './code-names.ts'
import { codeNamedIn, fieldOf, mainFiles, pythonModules, scriptModules } from './imports.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

export interface NamedPrograms {
  /** Code that runs. */
  readonly programs: readonly string[]
  /** Other files that the command names. */
  readonly data: readonly string[]
  /** Paths, with all below them, that a text in the command would load if they were there. */
  readonly places: readonly string[]
  /** What runs is looked for from the root of the workspace on: a runner, a module, a text. */
  readonly isFromRoot: boolean
}

/** The words of a participant that is a program on this host; null for any other. */
export function commandOf(participant: Participant | undefined): readonly string[] | null {
  if (participant === undefined) return null
  if ('command' in participant) return participant.command
  return 'mcp' in participant && Array.isArray(participant.mcp) ? participant.mcp : null
}

export function namedBy(
  files: WorkspaceFiles,
  command: readonly string[],
  searchPath: readonly string[],
): NamedPrograms {
  const [program = '', ...words] = command
  const runner = basename(program)
  const found = [
    ...(isAbsolute(program) || program.includes('/')
      ? pieces(program)
      : searchPath.map((directory) => `${directory}/${program}`)),
    ...words.flatMap(pieces),
  ].flatMap((word) => {
    const path = files.pathOf(word)
    return path !== null && path !== '' && files.isFile(path) ? [path] : []
  })
  const texts = textsIn(files, runner, words)
  const entry = isInterpreter(runner) && found.length === 0 ? entriesOf(files, words) : []
  const isCode = (path: string): boolean => hasCodeSuffix(path) || files.isExecutable(path)
  const programs = [...found.filter(isCode), ...entry, ...texts.programs]
  return {
    programs: [...new Set(programs)],
    data: found.filter((path) => !isCode(path)),
    places: texts.places,
    isFromRoot: texts.isText || RUNNERS.has(runner),
  }
}

/** The word, what is behind a sign in it, and the words inside it. */
function pieces(word: string): readonly string[] {
  return [word, ...word.split(/[\s'"`;|&()<>=,]+/)].filter((piece) => piece !== '')
}

/** A directory that an interpreter is started with: `node agents/review`, `python3 agents/review`. */
function entriesOf(files: WorkspaceFiles, words: readonly string[]): readonly string[] {
  for (const word of words) {
    const path = files.pathOf(word)
    if (word.startsWith('-') || path === null || !files.isDirectory(path)) continue
    return mainFiles(files, path).map((main) => main.path)
  }
  return []
}

interface CommandTexts {
  readonly programs: readonly string[]
  readonly places: readonly string[]
  readonly isText: boolean
}

/** Programs that are named in a text of the command, or in a manifest that it points into. */
function textsIn(files: WorkspaceFiles, runner: string, words: readonly string[]): CommandTexts {
  const after = (...flags: readonly string[]): readonly string[] =>
    words.flatMap((word, index) => (flags.includes(words[index - 1] ?? '') ? [word] : []))
  const named = [
    ...(isPython(runner) ? after('-m').flatMap((name) => pythonStart(files, name)) : []),
    ...(isPython(runner) ? after('-c').flatMap((text) => pythonModules(files, '', text)) : []),
    ...after('-e', '--eval', '-p', '--print').flatMap((text) => scriptModules(files, '', text)),
    ...(RUNNERS.has(runner) ? scriptsNamed(files, words) : []),
    ...(/make$|^just$/.test(runner)
      ? ['Makefile', 'makefile', 'GNUmakefile', 'justfile'].flatMap((name) =>
          codeNamedIn(files, files.text(name)),
        )
      : []),
  ]
  const isText = isInterpreter(runner) && after('-m', '-c', '-e', '--eval', '-p').length > 0
  return {
    programs: named.flatMap(({ path, isThere }) => (isThere ? [path] : [])),
    places: named.flatMap(({ path, isThere }) => (isThere ? [] : [path])),
    isText,
  }
}

/** `python3 -m package.module`. */
function pythonStart(files: WorkspaceFiles, name: string) {
  const path = name.replaceAll('.', '/')
  const start = [`${path}.py`, `${path}/__main__.py`].filter((one) => files.isFile(one))
  const modules = pythonModules(files, '', `import ${name}\n`)
  return [...start.map((one) => ({ path: one, isThere: true })), ...modules]
}

/** Scripts of `package.json` that a word names, with those that run before and after them. */
function scriptsNamed(files: WorkspaceFiles, words: readonly string[]) {
  const scripts = fieldOf(files.text('package.json'), 'scripts')
  if (typeof scripts !== 'object' || scripts === null) return []
  const wanted = new Set(words.flatMap((word) => [word, `pre${word}`, `post${word}`]))
  return Object.entries(scripts).flatMap(([name, text]) =>
    wanted.has(name) && typeof text === 'string' ? codeNamedIn(files, text) : [],
  )
}
