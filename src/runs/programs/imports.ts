/**
 * What a program loads by name: modules that its text imports, and their modules. Found by reading the
 * text, so a name that the program puts together at run time is not seen; the directory rule and the
 * patterns of `protected-programs.ts` hold for those.
 */
import { hasCodeSuffix, PACKAGE_DIRECTORIES } from './code-names.ts'
import { below, directoryOf, upFrom, type WorkspaceFiles } from './workspace-files.ts'

/** `import x from '…'`, `export … from '…'`, `import('…')`, `require('…')`, `new Worker('…')`. */
const BLANK = String.raw`(?:\s|/\*[\s\S]*?\*/|//.*\n)*`
export const SCRIPT_IMPORTS = new RegExp(
  String.raw`\b(from|import|require(?:\.resolve)?|URL|Worker)${BLANK}(?:\(${BLANK})?(['"\x60])([^'"\x60\n]+)\2`,
  'g',
)
/** At the beginning of a line, and behind another statement of it. */
const PYTHON_IMPORT =
  /(?:^|[;:])[ \t]*import[ \t]+([\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w. \t]+)*)/gm
const PYTHON_FROM = /(?:^|[;:])[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]*import\b[ \t(]*([\w., \t]*)/gm
const PYTHON_CALLED = /\b(?:import_module|__import__)[ \t]*\([ \t]*(['"])([\w.]+)\1/g
/** What parts words in a command line, a shell script or a makefile. */
const WORD_BREAKS = /[\s'"`;|&()<>{}=,$@\\]+/

/** More directories in one text are not looked into. */
const FOLDERS_MAX = 20

const SCRIPT_SUFFIXES = ['', '.js', '.mjs', '.cjs', '.json', '.node', '.ts', '.mts', '.cts', '.tsx']

interface Loaded {
  /** Files that are there. */
  readonly modules: ReadonlySet<string>
  /** Paths, with all below them, that would be loaded if they were there. */
  readonly places: ReadonlySet<string>
}

/** Everything that these programs load, with the programs themselves. */
export function loadedBy(files: WorkspaceFiles, programs: Iterable<string>): Loaded {
  const modules = new Set<string>(programs)
  const places = new Set<string>()
  for (const module of modules) {
    for (const { path, isThere } of namedIn(files, module, files.text(module))) {
      if (isThere) modules.add(path)
      else places.add(path)
    }
  }
  return { modules, places }
}

interface NamedModule {
  readonly path: string
  readonly isThere: boolean
}

/** What a text loads: one of a program at this path, or one that runs in this directory (`dir/`). */
function namedIn(files: WorkspaceFiles, module: string, text: string): readonly NamedModule[] {
  const directory = directoryOf(module)
  switch (languageOf(module, text)) {
    case 'python':
      return pythonModules(files, directory, text)
    case 'script':
      return scriptModules(files, directory, text)
    // Data, and texts of which only words are read: `named-programs.ts`.
    default:
      return []
  }
}

const LANGUAGES = [
  ['python', /\.pyw?$/i, /^#!.*\bpython/],
  ['script', /\.[cm]?[jt]sx?$/i, /^#!.*\b(?:node|deno|bun)\b/],
] as const

/** By its name, or by its first line. */
export function languageOf(path: string, text: string): (typeof LANGUAGES)[number][0] | null {
  const found = LANGUAGES.find(([, name, line]) => name.test(path) || line.test(text))
  return found?.[0] ?? null
}

/**
 * Code of the workspace that words of a text name: from the root, from the directory of the text, and
 * from directories that other words of it name.
 */
export function codeNamedIn(
  files: WorkspaceFiles,
  text: string,
  directory = '',
): readonly NamedModule[] {
  const words = [...new Set(text.split(WORD_BREAKS))].filter((word) => word !== '')
  const own = new Set(['', directory])
  const places = [...own].flatMap((from) => words.flatMap((word) => files.pathOf(word, from) ?? []))
  const folders = places.filter((path) => files.isDirectory(path)).slice(0, FOLDERS_MAX)
  const named = folders.flatMap((from) => words.flatMap((word) => files.pathOf(word, from) ?? []))
  return [...new Set([...places, ...named])].flatMap((path) => {
    if (path === '' || !files.isFile(path)) return []
    return hasCodeSuffix(path) || files.isExecutable(path) ? [{ path, isThere: true }] : []
  })
}

export function scriptModules(
  files: WorkspaceFiles,
  directory: string,
  text: string,
): readonly NamedModule[] {
  return [...text.matchAll(SCRIPT_IMPORTS)].flatMap(([, word = '', , name = '']) => {
    // An address is a module only if it looks like one: programs build addresses of data as well.
    if ((word === 'URL' || word === 'Worker') && !hasCodeSuffix(name)) return []
    if (/^\.{1,2}\/|^\/|^file:/.test(name)) return relativeModule(files, directory, name)
    return [...ownModule(files, directory, name), ...linkedPackage(files, directory, name)]
  })
}

/** A name that the nearest manifest gives a meaning: `#name` of `imports`, or the package itself. */
function ownModule(files: WorkspaceFiles, directory: string, name: string): readonly NamedModule[] {
  const folder = upFrom(directory).find((up) => files.isFile(below(up, 'package.json')))
  if (folder === undefined) return []
  const manifest = files.text(below(folder, 'package.json'))
  const own = fieldOf(manifest, 'name')
  if (name.startsWith('#')) return targetsOf(files, folder, fieldOf(manifest, 'imports'), name)
  if (typeof own !== 'string' || (name !== own && !name.startsWith(`${own}/`))) return []
  const exported = fieldOf(manifest, 'exports')
  const entry = `.${name.slice(own.length)}`
  const isMap = typeof exported === 'object' && exported !== null && !Array.isArray(exported)
  const hasNames = isMap && Object.keys(exported).some((key) => key.startsWith('.'))
  if (exported === undefined)
    return entry === '.' ? mainFiles(files, folder) : relativeModule(files, folder, entry)
  return targetsOf(files, folder, hasNames ? exported : { '.': exported }, entry)
}

/** Every file that a map of a manifest may lead to for a name, under any condition. */
function targetsOf(
  files: WorkspaceFiles,
  folder: string,
  map: unknown,
  name: string,
): readonly NamedModule[] {
  if (typeof map !== 'object' || map === null) return []
  return Object.entries(map).flatMap(([key, target]) => {
    const [before = '', after] = key.split('*')
    const isFitting =
      after === undefined ? key === name : name.startsWith(before) && name.endsWith(after)
    if (!isFitting) return []
    const part = after === undefined ? '' : name.slice(before.length, name.length - after.length)
    return textsIn(target).flatMap((text) => {
      const path = text.replaceAll('*', part)
      if (path.startsWith('./')) return relativeModule(files, folder, path)
      return linkedPackage(files, folder, path)
    })
  })
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** All ways in which the name is looked up: one that is not there yet could come before the others. */
function relativeModule(
  files: WorkspaceFiles,
  directory: string,
  name: string,
): readonly NamedModule[] {
  const path = files.pathOf(name.replace(/[?#].*$/, ''), directory)
  if (path === null || path === '') return []
  // The name as it is comes first in every way of looking it up.
  if (files.isFile(path)) return [{ path, isThere: true }]
  return SCRIPT_SUFFIXES.map((suffix) => `${path}${suffix}`).flatMap((one) => [
    { path: one, isThere: files.isFile(one) },
    ...(files.isDirectory(one) ? mainFiles(files, one) : []),
  ])
}

/** What a directory is started by. */
export function mainFiles(files: WorkspaceFiles, directory: string): readonly NamedModule[] {
  const names = ['index.js', 'index.mjs', 'index.cjs', 'index.ts', '__main__.py', '__init__.py']
  const main = fieldOf(files.text(below(directory, 'package.json')), 'main')
  return [...names, ...(typeof main === 'string' ? [main] : [])].flatMap((name) => {
    const path = files.pathOf(name, directory)
    return path !== null && files.isFile(path) ? [{ path, isThere: true }] : []
  })
}

/** A package that is a link into the workspace, as those of a monorepo are. */
function linkedPackage(
  files: WorkspaceFiles,
  directory: string,
  name: string,
): readonly NamedModule[] {
  const [scope = '', second = ''] = name.split('/')
  const own = scope.startsWith('@') ? `${scope}/${second}` : scope
  return upFrom(directory).flatMap((up) => {
    const place = below(up, `node_modules/${own}`)
    const led = files.withLinks(place).filter((path) => !isInstalled(path))
    return led.flatMap((path) => [{ path, isThere: false }, ...mainFiles(files, path)])
  })
}

function isInstalled(path: string): boolean {
  return path.split('/').some((name) => PACKAGE_DIRECTORIES.includes(name))
}

/** Python looks in the directory of the program first, which may be any directory above a module. */
export function pythonModules(
  files: WorkspaceFiles,
  directory: string,
  text: string,
): readonly NamedModule[] {
  return pythonNames(text).flatMap(({ dots, name }) => {
    const up = upFrom(directory)
    const places = dots === '' ? up : up.slice(dots.length - 1, dots.length)
    return places.flatMap((from) => pythonModule(files, from, name))
  })
}

/** Modules that a text of Python imports: the dots before the name, and where in the text. */
export function pythonNames(
  text: string,
): readonly { readonly dots: string; readonly name: string; readonly index: number }[] {
  const lines = text.replaceAll('\\\n', ' ')
  const first = (one: string): string => one.trim().split(/\s/)[0] ?? ''
  const plain = [...lines.matchAll(PYTHON_IMPORT)].flatMap(({ 1: names = '', index }) =>
    names.split(',').map((name) => ({ dots: '', name: first(name), index })),
  )
  const parted = [...lines.matchAll(PYTHON_FROM)].flatMap(
    ({ 1: dots = '', 2: name = '', 3: names = '', index }) =>
      // `from . import a, b`: the names are modules.
      (name === '' ? names.split(',') : [name]).map((one) => ({ dots, name: first(one), index })),
  )
  const called = [...lines.matchAll(PYTHON_CALLED)].map(({ 2: name = '', index }) => ({
    dots: '',
    name,
    index,
  }))
  return [...plain, ...parted, ...called]
}

/** What of a package that is not there would be loaded: a package counts before a module of its name. */
const PYTHON_PACKAGE = ['**/*.py', '**/*.pyc', '**/*.so']
const PYTHON_SUFFIXES = ['.py', '.pyc', '.so', '.*.so']

/** A module in a directory, or a package there with everything below it; and what would hide them. */
function pythonModule(files: WorkspaceFiles, from: string, name: string): readonly NamedModule[] {
  const [first = ''] = name.split('.')
  if (first === '') return []
  const place = below(from, first)
  const file = `${place}.py`
  const absent = [
    ...PYTHON_SUFFIXES.map((suffix) => `${place}${suffix}`),
    ...PYTHON_PACKAGE.map((pattern) => `${place}/${pattern}`),
  ].map((path) => ({ path, isThere: false }))
  if (files.isFile(file)) return [{ path: file, isThere: true }, ...absent]
  if (!files.isDirectory(place)) return absent
  const inside = files.filesBelow(place, (one) => PACKAGE_DIRECTORIES.includes(one))
  const modules = inside.filter(hasCodeSuffix).map((path) => ({ path, isThere: true }))
  return [{ path: place, isThere: false }, ...modules]
}

/** A field of a JSON text; undefined when there is none. */
export function fieldOf(text: string, name: string): unknown {
  try {
    const document: unknown = JSON.parse(text)
    if (typeof document !== 'object' || document === null) return undefined
    return Object.hasOwn(document, name)
      ? // An object that has the field.
        (document as Readonly<Record<string, unknown>>)[name]
      : undefined
  } catch {
    return undefined
  }
}
