/**
 * What the command of a participant runs in the workspace, by its words: files that they name, and code
 * that scripts among those name in their turn. No text of a shell and no manifest is understood: what is
 * not found here is not pinned, and a reviewer that is not known whole is open, so it finds no code of the
 * work.
 */
import { basename } from 'node:path'
import type { Participant } from '../../contracts/index.ts'
import { hasCodeSuffix, isPython, isShell, isStarter, RUNNERS } from './code-names.ts'
import { codeNamedIn, languageOf, mainFiles, pythonModules, scriptModules } from './imports.ts'
import { commandOf, type NamedPrograms } from './participant-command.ts'
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
  const name = basename(program)
  const started = program.includes('/')
    ? files.pathOf(program)
    : searchPath.map((place) => below(place, program)).find((path) => files.isFile(path))
  const entries = isStarter(name) && !RUNNERS.has(name) ? entriesOf(files, name, words) : []
  const programs = new Set([
    ...(typeof started === 'string' && files.isFile(started) ? [started] : []),
    ...entries,
    ...[...named].filter((path) => hasCodeSuffix(path) || files.isExecutable(path)),
  ])
  const parts = partsOf(files, programs)
  const isElsewhere = words.some((word) => word.startsWith('/') && files.pathOf(word) === null)
  return {
    programs: [...programs],
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

/** The first word that is a file or a directory, with or without a suffix of code, and a module behind `-m`. */
function entriesOf(
  files: WorkspaceFiles,
  name: string,
  words: readonly string[],
): readonly string[] {
  const module = isPython(name) ? words[words.indexOf('-m') + 1] : undefined
  if (module !== undefined && words.includes('-m')) {
    const place = module.replaceAll('.', '/')
    const starts = [`${place}.py`, `${place}/__main__.py`].filter((path) => files.isFile(path))
    const loaded = pythonModules(files, '', `import ${module}\n`).filter(({ isThere }) => isThere)
    return [...starts, ...loaded.map(({ path }) => path)]
  }
  const word = words.find((one) => !/^[-+]/.test(one))
  const path = word === undefined ? null : files.pathOf(word)
  if (path === null || path === '') return []
  if (files.isFile(path)) return [path]
  const modules = files.isDirectory(path)
    ? mainFiles(files, path)
    : isShell(name)
      ? []
      : scriptModules(files, '', `import ${JSON.stringify(`./${path}`)}`)
  return modules.filter(({ isThere }) => isThere).map((one) => one.path)
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
