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

/** Programs that start the rest of their words. */
interface Wrapper {
  /** Options with a value. */
  readonly values: readonly string[]
  /** Words before the program. */
  readonly before: number
  /** Options that change nothing of what is started; with any other, not all is followed. */
  readonly flags?: RegExp
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map([
  ['exec', { values: ['-a'], before: 0 }],
  ['command', { values: [], before: 0 }],
  ['builtin', { values: [], before: 0 }],
  ['nohup', { values: [], before: 0 }],
  ['setsid', { values: [], before: 0, flags: /^-[wfc]+$/ }],
  ['time', { values: ['-f', '-o'], before: 0 }],
  ['nice', { values: ['-n'], before: 0, flags: /^-n?-?\d+$/ }],
  ['ionice', { values: ['-c', '-n'], before: 0, flags: /^-[cn]\d$/ }],
  ['stdbuf', { values: ['-i', '-o', '-e'], before: 0, flags: /^-[ioe][L0-9]\w*$/ }],
  [
    'timeout',
    { values: ['-k', '-s'], before: 1, flags: /^--(?:foreground|preserve-status|signal=\w+)$/ },
  ],
  ['taskset', { values: [], before: 1 }],
  ['sudo', { values: ['-u', '-g', '-h', '-p', '-C', '-D'], before: 0 }],
  ['doas', { values: ['-u', '-C'], before: 0 }],
  [
    'xargs',
    {
      values: ['-n', '-P', '-I', '-L', '-d', '-a', '-s', '-E'],
      before: 0,
      flags: /^-(?:[0rt]+|[nPLs]\d+|I\S+)$/,
    },
  ],
  ['unshare', { values: [], before: 0 }],
  ['strace', { values: ['-e', '-o', '-p'], before: 0 }],
  ['flock', { values: ['-w', '-E'], before: 1, flags: /^-[nsxe]+$/ }],
  ['chrt', { values: [], before: 1 }],
  ['prlimit', { values: [], before: 0 }],
  ['watch', { values: ['-n'], before: 0 }],
])

/** Wrappers whose options with a value lead elsewhere, so that no form of them is known. */
const LOOSE = /^(?:sudo|doas|watch|strace)$/

const SHELLS = /^(?:sh|bash|dash|zsh|ksh|ash|mksh)$/

/** Options of a shell that load nothing. */
export const SHELL_FLAGS = /^(?:[-+][aefmnuvxCETc]*o?|--(?:posix|norc|noprofile))$/

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
    const { open, ...started } = startedByEnv(rest, directory, variables)
    const own = { ...itself, words: [], isRead: true, ...opened(open) } as const
    return [own, ...(started.words.length === 0 ? [] : within(started))]
  }
  // It says where a program lies and starts none.
  if (name === 'command' && /^-[vV]/.test(rest[0] ?? ''))
    return [{ ...itself, words: [], isRead: true }]
  if (name === 'trap' && rest.length > 1)
    return [
      { ...itself, isRead: true },
      ...textInvocations(rest[0] ?? '', { ...command, directory: null }, depth),
    ]
  const wrapper = WRAPPERS.get(name)
  if (wrapper !== undefined) {
    const { words: behind, unknown } = innerWords(rest, wrapper)
    // More words come from its input.
    const inner = name === 'xargs' && behind.length > 0 ? [...behind, UNKNOWN] : behind
    const open = LOOSE.test(name) ? name : unknown
    const own = { ...itself, words: [], isRead: true, ...opened(open) } as const
    return [own, ...(inner.length === 0 ? [] : within({ words: inner }))]
  }
  if (name === 'busybox') return within({ words: rest })
  if (name === 'find') {
    const place = rest.findIndex((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word))
    const inner = rest.slice(place + 1).map((word) => (word.includes('{}') ? UNKNOWN : word))
    if (place === -1) return [itself]
    const isThere = !/dir$/.test(rest[place] ?? '')
    return [itself, ...within({ words: inner, directory: isThere ? directory : null })]
  }
  return shellInvocations(command, itself, depth)
}

function shellInvocations(
  command: ShellCommand,
  itself: Invocation,
  depth: number,
): readonly Invocation[] {
  const text = isShell(basename(itself.program)) ? shellTextOf(itself.words) : null
  if (text === null) return [itself]
  if (text.includes(UNKNOWN)) return [{ ...itself, program: UNKNOWN }]
  const options = itself.words.slice(0, itself.words.indexOf(text))
  const unknown = options.find((word) => /^[-+]/.test(word) && !SHELL_FLAGS.test(word))
  const own = { ...itself, words: [], isRead: true, ...opened(unknown) } as const
  return [own, ...textInvocations(text, command, depth)]
}

function textInvocations(
  text: string,
  command: ShellCommand,
  depth: number,
): readonly Invocation[] {
  const { at } = command
  return shellCommands(text, { ...command, script: null }).flatMap((one) =>
    invocationsOf({ ...one, ...(at === undefined ? {} : { at }) }, depth + 1),
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

function opened(option: string | null | undefined): Pick<ShellCommand, 'open'> {
  if (option === null || option === undefined) return {}
  return { open: `writ does not follow ${option.replaceAll(UNKNOWN, '…')}` }
}

/** What is left behind the options of a wrapper, and the first option that is not known. */
function innerWords(
  words: readonly string[],
  { values, before, flags }: Wrapper,
): { readonly words: readonly string[]; readonly unknown: string | null } {
  let index = 0
  let unknown: string | null = null
  for (; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '--') {
      index++
      break
    }
    if (values.includes(word)) index++
    else if (!/^[-\0]/.test(word)) break
    else if (flags?.test(word) !== true) unknown ??= word
  }
  const rest = words.slice(index + before)
  // `flock FILE -c TEXT`: options behind the words before the program.
  return {
    words: rest,
    unknown: unknown ?? rest.find((word, at) => at === 0 && /^-/.test(word)) ?? null,
  }
}

function startedByEnv(
  words: readonly string[],
  directory: string | null,
  variables: ReadonlyMap<string, string>,
): ShellCommand {
  const own = new Map(variables)
  let place = directory
  let open: string | undefined
  const started = (rest: readonly string[]): ShellCommand => ({
    words: rest,
    directory: place,
    variables: own,
    ...(open === undefined ? {} : { open }),
  })
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
      const value = parts.join('=')
      own.set(name, name === 'PATH' && value === '' ? UNKNOWN : value)
    } else if (!/^[-\0]/.test(word)) return started(words.slice(index))
    else if (!/^(?:-|-i|-0|--ignore-environment|--null|--)$/.test(word)) open ??= word
  }
  return started([])
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
