/**
 * Programs that only read: a reviewer made of one of them cannot be made to run what the work wrote. A
 * coarse search by words against lists of what is harmless; everything else is a reason to call it open.
 *
 * INVARIANT (in doubt, open): a module, a word or an option that no list has is a reason.
 */
import { isBuiltin } from 'node:module'
import { showPath } from '../../base/index.ts'
import { languageOf, loadedBy, pythonNames, SCRIPT_IMPORTS } from './imports.ts'
import { below, directoryOf, type WorkspaceFiles } from './workspace-files.ts'

/** Modules of Node that start no program, evaluate no text and load nothing, under any name. */
const NODE_MODULES: ReadonlySet<string> = new Set([
  ...['assert', 'assert/strict', 'buffer', 'crypto', 'dns', 'dns/promises', 'events', 'fs'],
  ...['fs/promises', 'http', 'https', 'net', 'os', 'path', 'path/posix', 'perf_hooks'],
  ...['querystring', 'readline', 'readline/promises', 'stream', 'stream/consumers'],
  ...['stream/promises', 'string_decoder', 'timers', 'timers/promises', 'url', 'util', 'zlib'],
])

/** The same of Python; of `os` and `sys` only some names are harmless. */
const PYTHON_MODULES: ReadonlySet<string> = new Set([
  ...['__future__', 'abc', 'argparse', 'ast', 'base64', 'binascii', 'bisect', 'calendar'],
  ...['collections', 'configparser', 'contextlib', 'copy', 'csv', 'dataclasses', 'datetime'],
  ...['decimal', 'difflib', 'enum', 'fnmatch', 'fractions', 'functools', 'glob', 'gzip'],
  ...['hashlib', 'heapq', 'hmac', 'html', 'http', 'io', 'itertools', 'json', 'math', 'numbers'],
  ...['os', 'pathlib', 'pprint', 'random', 're', 'secrets', 'shlex', 'socket', 'ssl', 'stat'],
  ...['statistics', 'string', 'struct', 'sys', 'tempfile', 'textwrap', 'time', 'tokenize'],
  ...['tomllib', 'traceback', 'typing', 'unicodedata', 'urllib', 'xml', 'zlib'],
])

const PROCESS_NAMES =
  'argv|cwd|emitWarning|env|exit|exitCode|hrtime|memoryUsage|nextTick|off|on|once|pid|platform|stderr|stdin|stdout|uptime|version|versions'
/** Behind `import` and `require`: a name in quotation marks, and nothing that is put together. */
const LITERAL = String.raw`(['"])[^'"\n]*\1`
const SCRIPT_WORDS: readonly RegExp[] = [
  /\b(?:eval|Function|globalThis|Reflect|WebAssembly|Worker|importScripts|dlopen|chdir)\b/g,
  /\b(?:child_process|worker_threads|createRequire|getBuiltinModule|mainModule)\b/g,
  /\b(?:setEngine|\w+CertEngine|privateKeyEngine)\b|\bglobal\b(?=\s*(?:\?\.|[.[;,)]))/g,
  /\b__(?:proto|define|lookup)\w*/g,
  // Not the constructor of a class.
  /(?<!^[ \t]*)\bconstructor\b/gm,
  /(?<!\brequire\.main ===? )\bmodule\b(?=\s*(?:\.(?!\s*exports\b)|\?\.|[[;,)]))/g,
  new RegExp(String.raw`\bprocess\b(?!\s*\.\s*(?:${PROCESS_NAMES})\b)(?![ \t]+[A-Za-z])`, 'g'),
  new RegExp(
    String.raw`\bimport\b(?!\s*(?:[\w$*\s{},]+?\bfrom\s*|\(\s*)?${LITERAL}|\.meta\.(?:url|dirname|filename)\b)`,
    'g',
  ),
  new RegExp(String.raw`\bimport\s*\(\s*${LITERAL}(?!\s*\))`, 'g'),
  new RegExp(String.raw`\brequire\b(?!\s*\(\s*${LITERAL}\s*\)|\s*\.\s*main\b)`, 'g'),
]

const OS_NAMES =
  'access|cpu_count|environ|fspath|getcwd|getenv|getpid|linesep|listdir|makedirs|mkdir|name|path|remove|scandir|sep|stat|unlink|walk|[FRWX]_OK'
const SYS_NAMES =
  'argv|byteorder|exit|getsizeof|maxsize|platform|setrecursionlimit|stderr|stdin|stdout|version|version_info'
const DUNDERS =
  'all|author|call|contains|doc|enter|eq|exit|file|future|getitem|hash|init|iter|len|lt|main|name|next|post_init|repr|str|version'
const PYTHON_WORDS: readonly RegExp[] = [
  /(?<![\w.])(?:eval|exec|compile|execfile|breakpoint|globals|locals|vars)\b/g,
  /\b(?:getattr|setattr|delattr|importlib|subprocess|ctypes|builtins|pickle|marshal|runpy)\b/g,
  new RegExp(String.raw`\b__(?!(?:${DUNDERS})__)\w+`, 'g'),
  ...[
    ['os', OS_NAMES],
    ['sys', SYS_NAMES],
  ].flatMap(([name, names]) => [
    // Each use by a name of the list, so that neither the module nor another name of it is handed on.
    new RegExp(
      String.raw`(?<!(?:^|;)[ \t]*(?:import|from)[ \t][\w., \t]*)\b${name}\b(?!\s*\.\s*(?:${names})\b)`,
      'gm',
    ),
    new RegExp(String.raw`\b${name}[ \t]+as\b`, 'g'),
    new RegExp(
      String.raw`\bfrom[ \t]+${name}[ \t]+import\b(?![ \t]+(?:${names})(?:[ \t]*,[ \t]*(?:${names}))*[ \t]*(?:[#;].*)?$)`,
      'gm',
    ),
  ]),
]

/** Of a package, and of a module that is on no list. */
export const UNREAD_MODULE = 'writ does not know what this module starts or loads'
const MAY_RUN = 'it may start or load what no text shows'

/** Why a program may do more than read, with the place; null for one that only reads. */
export function programReason(files: WorkspaceFiles, program: string): string | null {
  const { modules } = loadedBy(files, [program])
  for (const path of modules) {
    const why = moduleReason(files, path, directoryOf(program))
    if (why !== null) return why
  }
  return null
}

/** `base`: where Python looks for modules. */
function moduleReason(files: WorkspaceFiles, path: string, base: string): string | null {
  const text = files.text(path)
  // An interpreter looks for modules where the link leads to.
  if (files.withLinks(path).length > 1) return `it is found through a link (${showPath(path)})`
  const language = languageOf(path, text)
  if (path.split('/').includes('node_modules'))
    return `an installed package: ${UNREAD_MODULE} (${showPath(path)})`
  if (path.endsWith('.json')) return null
  if (text === '' && files.bytes(path)?.length !== 0) return `it is too large (${showPath(path)})`
  if (language === 'python') return textReason(path, text, PYTHON_WORDS, pythonImport(files, base))
  if (language === 'script' && !/\.[cm]?tsx?$|\.jsx$/i.test(path))
    return textReason(path, text, SCRIPT_WORDS, scriptImport(files, path))
  return `a program that writ does not read (${showPath(path)})`
}

interface Found {
  readonly word: string
  readonly index: number
  readonly why: string
}

function textReason(
  path: string,
  text: string,
  words: readonly RegExp[],
  unknownImport: (code: string) => Omit<Found, 'why'> | undefined,
): string | null {
  const code = withoutComments(text, /\.pyw?$/.test(path) || /^#!.*python/.test(text))
  const said = words
    .flatMap((word) => [...code.matchAll(word)])
    .sort((one, other) => one.index - other.index)[0]
  const named = unknownImport(code)
  const found: Found | null =
    named !== undefined
      ? { ...named, why: UNREAD_MODULE }
      : said === undefined
        ? null
        : { word: said[0].trim().split('\n')[0] ?? '', index: said.index, why: MAY_RUN }
  if (found === null) return null
  const line = code.slice(0, found.index).split('\n').length
  return `\`${found.word}\`: ${found.why} (${path}:${line})`
}

/** Blanks lines that are comments whole. Where several lines may be one text, nothing is taken for a comment. */
function withoutComments(text: string, isPython: boolean): string {
  if (isPython) return /'''|"""/.test(text) ? text : text.replace(/^[ \t]*#.*$/gm, '')
  const first = text.indexOf('`')
  const head = first === -1 ? text : text.slice(0, first)
  const plain = head
    .replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/^[ \t]*\/\/.*$/gm, '')
  return first === -1 ? plain : plain + text.slice(first)
}

/** The first import of something that is neither on the list nor a file of the workspace. */
function scriptImport(files: WorkspaceFiles, path: string) {
  return (code: string) =>
    [...code.matchAll(SCRIPT_IMPORTS)]
      .filter(({ 1: word }) => word !== 'URL')
      .map(({ 3: name = '', index }) => ({ word: name, index }))
      .find(({ word }) =>
        isBuiltin(word)
          ? !NODE_MODULES.has(word.replace(/^node:/, ''))
          : !/^\.{1,2}\//.test(word) || files.pathOf(word, directoryOf(path)) === null,
      )
}

function pythonImport(files: WorkspaceFiles, base: string) {
  return (code: string) => {
    const names = pythonNames(code)
    const unknown = names
      .filter(({ dots }) => dots === '')
      .map(({ name: word, index }) => ({ word, index }))
      .find(({ word }) => !isKnownPython(files, base, word.split('.')[0] ?? ''))
    if (unknown !== undefined) return unknown
    // One that was not read as a statement.
    const all = [...code.matchAll(/\bimport\b/g)]
    const statements = new Set(names.map(({ index }) => index))
    const odd = all.length > statements.size ? all.at(-1) : undefined
    return odd === undefined ? undefined : { word: 'import', index: odd.index }
  }
}

function isKnownPython(files: WorkspaceFiles, base: string, name: string): boolean {
  if (PYTHON_MODULES.has(name)) return true
  return files.isFile(below(base, `${name}.py`)) || files.isFile(below(base, `${name}/__init__.py`))
}
