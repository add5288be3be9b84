/**
 * What a program in JavaScript or Python may start or load besides its literal imports. A coarse search by
 * words: it errs to a reason. Imports of the workspace are followed elsewhere, so they are none.
 */
import { isBuiltin } from 'node:module'
import { showPath } from '../../base/index.ts'
import { hasCodeSuffix } from './code-names.ts'
import { languageOf, loadedBy, pythonNames, SCRIPT_IMPORTS, scriptModules } from './imports.ts'
import { below, directoryOf, upFrom, type WorkspaceFiles } from './workspace-files.ts'

/** Modules of Node that start no program, evaluate no text and change no search path. */
const NODE_MODULES: ReadonlySet<string> = new Set([
  ...['assert', 'assert/strict', 'async_hooks', 'buffer', 'console', 'constants', 'crypto'],
  ...['diagnostics_channel', 'dns', 'dns/promises', 'events', 'fs', 'fs/promises', 'http', 'http2'],
  ...['https', 'net', 'os', 'path', 'path/posix', 'perf_hooks', 'process', 'punycode'],
  ...['querystring', 'readline', 'readline/promises', 'stream', 'stream/promises', 'stream/web'],
  ...['stream/consumers', 'string_decoder', 'timers', 'timers/promises', 'tls', 'tty', 'url'],
  ...['util', 'util/types', 'zlib'],
])

/** The same of Python. */
const PYTHON_MODULES: ReadonlySet<string> = new Set([
  ...['__future__', 'abc', 'argparse', 'array', 'ast', 'base64', 'binascii', 'bisect', 'bz2'],
  ...['calendar', 'cmath', 'collections', 'colorsys', 'configparser', 'contextlib', 'copy', 'csv'],
  ...['dataclasses', 'datetime', 'decimal', 'difflib', 'email', 'enum', 'errno', 'filecmp'],
  ...['fnmatch', 'fractions', 'functools', 'getopt', 'glob', 'gzip', 'hashlib', 'heapq', 'hmac'],
  ...['html', 'http', 'io', 'itertools', 'json', 'keyword', 'locale', 'logging', 'lzma', 'math'],
  ...['mimetypes', 'numbers', 'operator', 'os', 'pathlib', 'pprint', 'queue', 'random', 're'],
  ...['secrets', 'select', 'shlex', 'shutil', 'signal', 'socket', 'sqlite3', 'ssl', 'stat'],
  ...['statistics', 'string', 'struct', 'sys', 'tarfile', 'tempfile', 'textwrap', 'threading'],
  ...['time', 'token', 'tokenize', 'tomllib', 'traceback', 'types', 'typing', 'unicodedata'],
  ...['urllib', 'uuid', 'warnings', 'weakref', 'xml', 'zipfile', 'zlib', 'zoneinfo'],
])

/** Modules of Python that are programs and run no other text. */
export const PYTHON_PROGRAMS: ReadonlySet<string> = new Set([
  ...['json.tool', 'py_compile', 'compileall', 'tabnanny', 'ast', 'tokenize', 'base64', 'calendar'],
  ...['gzip', 'zipfile', 'tarfile'],
])

const SCRIPT_WORDS = new RegExp(
  [
    String.raw`\beval\b|\bFunction\s*\(`,
    String.raw`\bprocess\s*(?:\?\.)?[.[]\s*['"\x60]?binding\b`,
    String.raw`\b(?:chdir|dlopen|_linkedBinding|getBuiltinModule|mainModule)\b`,
    String.raw`\b(?:child_process|worker_threads|createRequire|importScripts)\b`,
    String.raw`\bimport\s*\(\s*(?!(['"\x60])[^'"\x60$\n]*\1\s*[,)])`,
    String.raw`\brequire\b(?!\s*(?:\.\s*resolve\s*)?\(\s*(['"])[^'"\n]*\2\s*\)|\s*\.\s*main\b)`,
  ].join('|'),
  'g',
)
const OS_CALLS =
  'system|popen|exec\\w*|spawn\\w*|posix_spawn\\w*|chdir|fchdir|chroot|fork\\w*|startfile|putenv|environb?\\s*\\['
const PYTHON_WORDS = new RegExp(
  [
    String.raw`(?<![\w.])(?:eval|exec|compile|__import__|execfile|breakpoint)\s*\(`,
    String.raw`\bos\s*\.\s*(?:${OS_CALLS})`,
    String.raw`\bfrom\s+os\s+import\b(?:\s*\([^)]*|[^\n]*)(?:\b(?:${OS_CALLS})|\*)`,
    String.raw`\bsys\s*\.\s*(?:path|meta_path|path_hooks|modules)\b`,
    String.raw`\bfrom\s+sys\s+import\b(?:\s*\([^)]*|[^\n]*)(?:\bpath|\bmodules|\*)`,
    String.raw`\b(?:os|sys)\s+as\b`,
    String.raw`\b__builtins__\b|\b__loader__\b|\b__subclasses__\b`,
  ].join('|'),
  'g',
)

/** Of a package, and of a module that is on no list. */
export const UNREAD_MODULE = 'writ does not know what this module starts or loads'

type TextLanguage = 'script' | 'python'

/** A word of a text, the line that it is in, and why it counts. */
interface OpenWord {
  readonly word: string
  readonly line: number
  readonly why: string
}

/** Programs that are not read, and those whose texts may start or load what no text shows. */
export function openModules(files: WorkspaceFiles, programs: readonly string[]): readonly string[] {
  const { modules } = loadedBy(files, programs)
  return [...modules].flatMap((path) => openModule(files, path))
}

function openModule(files: WorkspaceFiles, path: string): readonly string[] {
  const text = files.text(path)
  const language = languageOf(path, text)
  if (path.split('/').includes('node_modules'))
    return [`an installed package: ${UNREAD_MODULE} (${showPath(path)})`]
  if (language === 'perl') return [`a program of Perl, which writ does not follow (${path})`]
  if (language === 'script' || language === 'python')
    return openWords(files, language, path, text).map(
      ({ word, line, why }) => `\`${word}\`: ${why} (${path}:${line})`,
    )
  const isProgram = files.isExecutable(path) && language === null
  const isCode = hasCodeSuffix(path) && language === null
  return isProgram || isCode ? [`a program that writ does not read (${path})`] : []
}

/** `module`: the path of the program, or a directory that a text runs in (`dir/`). */
export function openWords(
  files: WorkspaceFiles,
  language: TextLanguage,
  module: string,
  text: string,
): readonly OpenWord[] {
  const code = text.replace(/^[ \t]*(?:\/\/|\*|#).*$/gm, '')
  const at = (index: number): number => code.slice(0, index).split('\n').length
  const words = [...code.matchAll(language === 'python' ? PYTHON_WORDS : SCRIPT_WORDS)].map(
    ({ 0: word, index }) => ({
      word: word.trim().split('\n')[0] ?? '',
      line: at(index),
      why: 'it may start or load what no text shows',
    }),
  )
  const imported = (language === 'python' ? pythonImports(code) : scriptImports(code)).filter(
    ({ name }) => !isFollowed(files, language, directoryOf(module), name),
  )
  return [
    ...words,
    ...imported.map(({ name, index }) => ({
      word: name,
      line: at(index),
      why: UNREAD_MODULE,
    })),
  ]
}

interface Import {
  readonly name: string
  readonly index: number
}

function scriptImports(code: string): readonly Import[] {
  return [...code.matchAll(SCRIPT_IMPORTS)].flatMap(({ 1: word = '', 3: name = '', index }) =>
    word === 'URL' || word === 'Worker' || /^(?:\.{1,2}\/|\/|file:)/.test(name)
      ? []
      : [{ name, index }],
  )
}

function pythonImports(code: string): readonly Import[] {
  return pythonNames(code).flatMap(({ dots, name, index }) =>
    dots === '' ? [{ name, index }] : [],
  )
}

function isFollowed(
  files: WorkspaceFiles,
  language: TextLanguage,
  directory: string,
  name: string,
): boolean {
  if (language === 'python') {
    const [first = ''] = name.split('.')
    if (PYTHON_MODULES.has(first)) return true
    return upFrom(directory).some(
      (up) => files.isFile(below(up, `${first}.py`)) || files.isDirectory(below(up, first)),
    )
  }
  if (isBuiltin(name)) return NODE_MODULES.has(name.replace(/^node:/, ''))
  const text = `import ${JSON.stringify(name)}`
  return scriptModules(files, directory, text).some(({ isThere }) => isThere)
}
