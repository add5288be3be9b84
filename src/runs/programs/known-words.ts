/**
 * Words of a shell text that start and load nothing but what the words themselves show. Everything that is
 * not known here, and that the search does not follow, leaves its reviewer open: default deny.
 *
 * INVARIANT (no guess): a word that is not on a list, and an option that no row knows, has a reason.
 */
import { UNKNOWN } from './shell-text.ts'

/** Programs and builtins that start no program in any of their forms. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...[':', 'true', 'false', 'test', '[', '[[', 'echo', 'exit', 'return', 'shift', 'break'],
  ...['continue', 'read', 'unset', 'set', 'wait', 'umask', 'ulimit', 'getopts', 'type', 'kill'],
  ...['cat', 'head', 'tail', 'tac', 'rev', 'wc', 'nl', 'cut', 'paste', 'tr', 'fold', 'fmt'],
  ...['expand', 'unexpand', 'column', 'uniq', 'comm', 'join', 'cmp', 'diff', 'diff3', 'grep'],
  ...['egrep', 'fgrep', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum', 'md5sum'],
  ...['b2sum', 'cksum', 'sum', 'base32', 'base64', 'basenc', 'od', 'xxd', 'hexdump', 'strings'],
  ...['file', 'stat', 'ls', 'dir', 'du', 'df', 'pwd', 'basename', 'dirname', 'realpath'],
  ...['readlink', 'mktemp', 'touch', 'mkdir', 'rmdir', 'rm', 'cp', 'mv', 'ln', 'chmod', 'date'],
  ...['sleep', 'seq', 'expr', 'factor', 'tee', 'yes', 'id', 'whoami', 'uname', 'hostname', 'nproc'],
  ...['arch', 'tty', 'sync', 'truncate', 'shuf', 'numfmt', 'tsort', 'pr', 'iconv', 'gzip'],
  ...['gunzip', 'zcat', 'bzip2', 'bunzip2', 'xz', 'unxz', 'xzcat', 'which', 'printenv', 'logname'],
])

const DIRECT = 'writ does not know what it starts'

/** Programs that start others in some of their forms: the reason against these words, or null. */
const GUARDED: ReadonlyMap<string, (words: readonly string[]) => string | null> = new Map([
  ['printf', ([first = '']) => (/^-v/.test(first) ? 'it sets a variable' : null)],
  ['sort', (words) => unknownOption(words, /^-[a-zA-Z0-9,.+]+$|^--(?:unique|reverse|check)$/)],
  ['find', findReason],
  ['sed', sedReason],
  ...['awk', 'gawk', 'mawk', 'nawk'].map((name) => [name, awkReason] as const),
  ['jq', jqReason],
  ['tar', (words) => unknownOption(words, /^-[cxtruvzjJpOkCf]+$|^--strip-components=\d+$/)],
  ['git', gitReason],
])

/** Why a program may start or load what its words do not show; null for one that does not. */
export function wordReason(program: string, words: readonly string[]): string | null {
  if (HARMLESS.has(program)) return null
  const guard = GUARDED.get(program)
  return guard === undefined ? DIRECT : guard(words)
}

/** A word that only the run knows may be an option. */
function unknownOption(words: readonly string[], known: RegExp): string | null {
  const end = words.indexOf('--')
  const options = (end === -1 ? words : words.slice(0, end)).filter((word) => /^[-\0]/.test(word))
  const other = options.find((word) => word !== '-' && !known.test(word))
  if (other === undefined) return null
  return other.startsWith(UNKNOWN)
    ? 'a word of it that is known only when it runs may be an option'
    : `writ does not know its option ${other.replaceAll(UNKNOWN, '…')}`
}

/** What the first `-exec` starts is followed. */
function findReason(words: readonly string[]): string | null {
  const starts = words.filter((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word))
  if (starts.length > 1) return 'it starts several programs'
  return words.some((word) => word.startsWith(UNKNOWN))
    ? 'a word of it that is known only when it runs may start a program'
    : null
}

const SED_ADDRESS = String.raw`(?:\d+|\$|/(?:\\.|[^/\\])*/I?)`
const SED_PARTS = [
  String.raw`s(?<a>[^\s\\\w])(?:\\.|(?!\k<a>)[^\\])*\k<a>(?:\\.|(?!\k<a>)[^\\])*\k<a>[gpIiMm\d]*`,
  String.raw`y(?<b>[^\s\\\w])(?:\\.|(?!\k<b>)[^\\])*\k<b>(?:\\.|(?!\k<b>)[^\\])*\k<b>`,
  String.raw`[qQ]\d*|[pdDPnNhHgGxlz={}]`,
]
const SED_COMMAND = new RegExp(
  String.raw`^(?:${SED_ADDRESS}(?:,\s*[+~]?${SED_ADDRESS})?\s*!?\s*)?(?:${SED_PARTS.join('|')})[\s;}]*`,
)

/** Only scripts whose every command is one that edits lines. */
function sedReason(words: readonly string[]): string | null {
  const scripts: string[] = []
  let isNamed = false
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (/^-[nErsuzi]*e$|^--expression$/.test(word)) {
      isNamed = true
      scripts.push(words[++index] ?? UNKNOWN)
    } else if (/^-[nErsuzi]+$|^--(?:quiet|silent|posix|regexp-extended)$/.test(word)) continue
    else if (/^[-\0]/.test(word) && word !== '-') return 'writ does not know an option of it'
    else if (!isNamed && scripts.length === 0) scripts.push(word)
  }
  return scripts.every(isSedScript) ? null : 'writ does not read its script'
}

function isSedScript(script: string): boolean {
  let rest = script.trimStart()
  if (rest.includes(UNKNOWN)) return false
  while (rest !== '') {
    const [command] = SED_COMMAND.exec(rest) ?? []
    if (command === undefined) return false
    rest = rest.slice(command.length)
  }
  return true
}

function awkReason(words: readonly string[]): string | null {
  let index = 0
  for (; /^-/.test(words[index] ?? ''); index++) {
    const word = words[index] ?? ''
    if (word === '-F' || word === '-v') index++
    else if (!/^-[Fv]./.test(word)) return 'writ does not know an option of it'
  }
  const text = words[index] ?? UNKNOWN
  const isPlain = !/\bsystem\b|\bgetline\b|@|\0|(?:^|[^|])\|(?:[^|]|$)/.test(text)
  return isPlain ? null : 'its text may start a program'
}

function jqReason(words: readonly string[]): string | null {
  if (words.some((word) => /^-[a-zA-Z]*[fL]|^--(?:from-file|library-path)/.test(word)))
    return 'it loads a file'
  return words.some((word) => /\b(?:import|include)\b/.test(word)) ? 'its text loads a file' : null
}

/** Commands of git that read, or write the index; sealed settings say what they start. */
const GIT_COMMANDS =
  /^(?:status|diff|log|show|ls-files|ls-tree|cat-file|rev-parse|rev-list|merge-base|describe|blame|hash-object|shortlog|diff-index|diff-files|diff-tree|for-each-ref|check-ignore|check-attr|name-rev|add|write-tree)$/

function gitReason(words: readonly string[]): string | null {
  const rest = words.filter((word) => !/^(?:--no-pager|-P|--no-optional-locks)$/.test(word))
  const [command = ''] = rest
  if (!GIT_COMMANDS.test(command)) return 'writ does not know this form of it'
  return null
}

/** Variables that decide what programs load or start. */
const LOADING =
  /^(?:PATH|HOME|SHELL|IFS|CDPATH|ENV|BASH_ENV|PS4|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|CLASSPATH|EDITOR|VISUAL|PAGER|MAKEFILES|MAKEFLAGS|GNUMAKEFLAGS|TAR_OPTIONS|XDG_CONFIG_HOME|POSIXLY_CORRECT|(?:LD_|PYTHON|PERL|RUBY|GEM_|BUNDLE_|NODE_|NPM_|npm_|GIT_|JAVA_|_JAVA|LUA_|PHP|AWK|JQ_|LESS|UV_|PIP_|DENO_|BUN_)\w*)$/
const PLAIN =
  /^(?:PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED|PYTHONIOENCODING|PYTHONUTF8|PYTHONHASHSEED|NODE_ENV|NODE_NO_WARNINGS)$/

/** Whether a value of this variable, set by a text, decides what programs load. */
export function isLoading(name: string, value: string): boolean {
  return LOADING.test(name) && !PLAIN.test(name) && value !== ''
}

/** Where any process may have put a file: what lies there is no program of the host. */
export function isTemporary(path: string): boolean {
  return /^\/(?:tmp|var\/tmp|dev|proc|run|var\/run)(?:\/|$)/.test(path)
}
