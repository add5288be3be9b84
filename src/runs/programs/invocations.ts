/**
 * The programs that a command starts: through `env`, `timeout`, `sh -c` and other programs that start
 * what they are handed. Each comes with the directory and the variables that it starts with.
 */
import { basename, resolve } from 'node:path'
import { type ShellCommand, shellCommands, UNKNOWN } from './shell-text.ts'

/** One program that is started, by a name that may be searched for. */
export interface Invocation extends ShellCommand {
  readonly program: string
  /** Its text was followed: it reads no other. */
  readonly isRead?: true
}

/** Programs that start the rest of their words: options with a value, and words before the program. */
const WRAPPERS: ReadonlyMap<string, readonly [values: readonly string[], before: number]> = new Map(
  [
    ['exec', [['-a'], 0]],
    ['command', [[], 0]],
    ['builtin', [[], 0]],
    ['nohup', [[], 0]],
    ['setsid', [[], 0]],
    ['time', [['-f', '-o'], 0]],
    ['nice', [['-n'], 0]],
    ['ionice', [['-c', '-n'], 0]],
    ['stdbuf', [['-i', '-o', '-e'], 0]],
    ['timeout', [['-k', '-s'], 1]],
    ['taskset', [[], 1]],
    ['sudo', [['-u', '-g', '-h', '-p', '-C', '-D'], 0]],
    ['doas', [['-u', '-C'], 0]],
    ['xargs', [['-n', '-P', '-I', '-L', '-d', '-a', '-s', '-E'], 0]],
    ['unshare', [[], 0]],
    ['strace', [['-e', '-o', '-p'], 0]],
    ['flock', [['-w', '-E'], 1]],
    ['chrt', [[], 1]],
    ['prlimit', [[], 0]],
    ['watch', [['-n'], 0]],
  ],
)

const SHELLS = /^(?:sh|bash|dash|zsh|ksh|ash|mksh)$/

export function isShell(program: string): boolean {
  return SHELLS.test(program)
}

/** Deeper than this, a command is not followed: what it starts is unknown. */
const DEPTH_MAX = 8

/** Everything that these words start, the outermost program last. */
export function invocationsOf(command: ShellCommand, depth = 0): readonly Invocation[] {
  const { words, directory, variables } = command
  const [first = '', ...rest] = words
  if (depth > DEPTH_MAX || first.includes(UNKNOWN) || first === 'eval')
    return [{ ...command, program: UNKNOWN, words: rest }]
  const name = basename(first)
  const within = (inner: Partial<ShellCommand>): readonly Invocation[] =>
    invocationsOf({ ...command, ...inner }, depth + 1)
  const itself = { ...command, program: first, words: rest }
  if (first === '.' || first === 'source') return [{ ...itself, program: 'sh' }]
  if (name === 'env') {
    const started = startedByEnv(rest, directory, variables)
    return [{ ...itself, words: [] }, ...(started.words.length === 0 ? [] : within(started))]
  }
  // It says where a program lies and starts none.
  if (name === 'command' && /^-[vV]/.test(rest[0] ?? '')) return [{ ...itself, words: [] }]
  if (name === 'trap' && rest.length > 1)
    return [itself, ...textInvocations(rest[0] ?? '', { ...command, directory: null }, depth)]
  const wrapper = WRAPPERS.get(name)
  if (wrapper !== undefined) {
    const inner = behind(rest, ...wrapper)
    return [{ ...itself, words: [] }, ...(inner.length === 0 ? [] : within({ words: inner }))]
  }
  if (name === 'busybox') return within({ words: rest })
  if (name === 'find') {
    const place = rest.findIndex((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word))
    const inner = rest.slice(place + 1).map((word) => (word.includes('{}') ? UNKNOWN : word))
    if (place === -1) return [itself]
    const isThere = !/dir$/.test(rest[place] ?? '')
    return [itself, ...within({ words: inner, directory: isThere ? directory : null })]
  }
  const text = isShell(name) ? shellTextOf(rest) : null
  if (text === null) return [itself]
  if (text.includes(UNKNOWN)) return [{ ...itself, program: UNKNOWN }]
  return [{ ...itself, words: [], isRead: true }, ...textInvocations(text, command, depth)]
}

function textInvocations(
  text: string,
  command: ShellCommand,
  depth: number,
): readonly Invocation[] {
  return shellCommands(text, { ...command, script: null }).flatMap((one) =>
    invocationsOf(one, depth + 1),
  )
}

/** The text behind `-c`; null for a shell that is handed a script, or nothing. */
function shellTextOf(words: readonly string[]): string | null {
  let isText = false
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (!/^[-+]/.test(word)) return isText ? word : null
    if (word.startsWith('--')) continue
    if (word.includes('c') && word.startsWith('-')) isText = true
    if (/[oO]$/.test(word)) index++
  }
  return null
}

/** What is left behind the options of a wrapper. */
function behind(
  words: readonly string[],
  values: readonly string[],
  before: number,
): readonly string[] {
  let index = 0
  for (; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '--') return words.slice(index + 1 + before)
    if (values.includes(word)) index++
    else if (!word.startsWith('-')) break
  }
  return words.slice(index + before)
}

function startedByEnv(
  words: readonly string[],
  directory: string | null,
  variables: ReadonlyMap<string, string>,
): ShellCommand {
  const own = new Map(variables)
  let place = directory
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const [option, given] = splitOption(word)
    const value = (): string => given ?? words[++index] ?? UNKNOWN
    if (option === '-C' || option === '--chdir') place = placeFrom(place, value())
    else if (option === '-u' || option === '--unset') own.delete(value())
    else if (option === '-S' || option === '--split-string') {
      const [split] = shellCommands(value(), { directory: place, variables: own, script: null })
      const rest = words.slice(index + 1)
      return startedByEnv([...(split?.words ?? []), ...rest], place, split?.variables ?? own)
    } else if (/^[A-Za-z_]\w*=/.test(word)) {
      const [name = '', ...parts] = word.split('=')
      own.set(name, parts.join('='))
    } else if (!word.startsWith('-'))
      return { words: words.slice(index), directory: place, variables: own }
  }
  return { words: [], directory: place, variables: own }
}

/** An option and the value that is written together with it: `--chdir=DIR`, `-CDIR`. */
function splitOption(word: string): readonly [option: string, value: string | undefined] {
  const [, long, rest] = /^(--[a-z-]+)=([\s\S]*)$/.exec(word) ?? []
  if (long !== undefined) return [long, rest]
  const [, short, more] = /^(-[CuS])([\s\S]+)$/.exec(word) ?? []
  return short === undefined ? [word, undefined] : [short, more]
}

/** Null where either is known at run time alone. */
export function placeFrom(directory: string | null, word: string): string | null {
  return directory === null || word.includes(UNKNOWN) ? null : resolve(directory, word)
}
