/**
 * What the command of a participant runs in the workspace, by its words: files that they name, and code
 * that scripts among those name in their turn. No text of a shell and no manifest is understood: what is
 * not found here is not pinned, and a reviewer that is not known whole is open, so it finds no code of the
 * work.
 */
import type { Participant } from '../../contracts/index.ts'
import { hasCodeSuffix, isStarter } from './code-names.ts'
import { codeNamedIn, languageOf, mainFiles, pythonModules, scriptModules } from './imports.ts'
import { commandOf, type NamedPrograms } from './participant-command.ts'
import { type Operand, operandsOf, starterOf } from './program-operands.ts'
import { below, directoryOf, type WorkspaceFiles } from './workspace-files.ts'

/** What parts words in a command line. */
const PARTS = /[\s'"`;|&()<>=,:]+/
/** Texts that name texts are searched this far. */
const TEXTS_MAX = 200

/** Null for a participant that is no program on this host. */
export function namedBy(
  files: WorkspaceFiles,
  participant: Participant | undefined,
  searchPath: readonly string[],
): NamedPrograms | null {
  const command = commandOf(participant)
  if (command === null || participant === undefined) return null
  const declared = 'programs' in participant ? (participant.programs ?? []) : []
  const [program = '', ...words] = command
  const pieces = command.flatMap((word) => [word, ...word.split(PARTS)])
  const inside = pieces.flatMap((word) => files.pathOf(word) ?? [])
  const directories = [...new Set(['', ...inside.filter((path) => files.isDirectory(path))])]
  const named = new Set(filesNamed(files, pieces, directories))
  const name = starterOf(command)
  const started = program.includes('/')
    ? files.pathOf(program)
    : searchPath.map((place) => below(place, program)).find((path) => files.isFile(path))
  const own = typeof started === 'string' && started !== '' ? [started] : []
  const run = operandsOf(command).map((operand) => placesOf(files, operand, directories))
  const programs = new Set([
    ...own.filter((path) => files.isFile(path)),
    ...run.flatMap(({ there }) => there),
    ...[...named].filter((path) => hasCodeSuffix(path) || files.isExecutable(path)),
  ])
  const parts = partsOf(files, programs)
  const isElsewhere = words.some((word) => word.startsWith('/') && files.pathOf(word) === null)
  return {
    programs: [...programs],
    absent: [...own.filter((path) => !files.isFile(path)), ...run.flatMap(({ absent }) => absent)],
    places: run.flatMap(({ places }) => places),
    parts,
    data: [...named].filter((path) => !programs.has(path) && !parts.includes(path)),
    directories,
    declared,
    isUnfound: isStarter(name) && !isElsewhere && programs.size + declared.length === 0,
  }
}

function filesNamed(
  files: WorkspaceFiles,
  words: readonly string[],
  directories: readonly string[],
): readonly string[] {
  return directories
    .flatMap((directory) => words.flatMap((word) => files.pathOf(word, directory) ?? []))
    .filter((path) => path !== '' && files.isFile(path))
}

interface OperandPlaces {
  readonly there: readonly string[]
  readonly absent: readonly string[]
  readonly places: readonly string[]
}

/** What an operand means: a file, the main file of a directory, or a module; there or not. */
function placesOf(
  files: WorkspaceFiles,
  { word, directory, isModule = false, isCompleted = false }: Operand,
  directories: readonly string[],
): OperandPlaces {
  if (isModule) return moduleFiles(files, word)
  const within = files.pathOf(directory === '' ? '.' : directory) ?? ''
  const bases = [...new Set([within, ...directories])]
  const paths = bases.flatMap((base) => files.pathOf(word, base) ?? []).filter((one) => one !== '')
  const found = paths.map((path) => lookedUp(files, path, isCompleted))
  const there = found.flatMap((modules) => modules.filter(({ isThere }) => isThere))
  const absent = paths.filter((path) => !files.isFile(path) && !files.isDirectory(path))
  const [first = []] = found
  return {
    there: there.map((one) => one.path),
    absent: there.length === 0 ? absent : [],
    places: first.filter(({ isThere }) => !isThere).map((one) => one.path),
  }
}

/** A name without its suffix, as Node takes it, is looked up in each of its ways. */
function lookedUp(
  files: WorkspaceFiles,
  path: string,
  isCompleted: boolean,
): ReturnType<typeof mainFiles> {
  if (files.isFile(path)) return [{ path, isThere: true }]
  if (files.isDirectory(path)) return mainFiles(files, path)
  return !isCompleted ? [] : scriptModules(files, '', `import ${JSON.stringify(`./${path}`)}`)
}

/** A module that Python finds by its name: the workspace comes before what is installed. */
function moduleFiles(files: WorkspaceFiles, module: string): OperandPlaces {
  const place = module.replaceAll('.', '/')
  const starts = [`${place}.py`, `${place}/__main__.py`].filter((path) => files.isFile(path))
  const found = pythonModules(files, '', `import ${module}\n`)
  const pathsOf = (isOne: boolean): readonly string[] =>
    found.filter(({ isThere }) => isThere === isOne).map(({ path }) => path)
  return { there: [...starts, ...pathsOf(true)], absent: [], places: pathsOf(false) }
}

/** Code that the programs name in their texts, and the texts among that code in theirs. */
function partsOf(files: WorkspaceFiles, programs: ReadonlySet<string>): readonly string[] {
  const texts = new Set(programs)
  for (const path of texts) {
    const text = files.text(path)
    if (texts.size > TEXTS_MAX) break
    // What programs in JavaScript and Python import is followed instead.
    if (languageOf(path, text) !== null) continue
    for (const one of codeNamedIn(files, text, directoryOf(path))) texts.add(one.path)
  }
  return [...texts].filter((path) => !programs.has(path))
}
