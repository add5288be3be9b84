/**
 * The scripts of one run, read by the shells inside: limits, directory, environment, command. The shell
 * that is ready becomes the command. If something has to run next to the command, the first process
 * starts another shell, and the one that is ready finds an empty script. The first process never changes.
 *
 * The side shell: a shell that waits next to a command with a channel. These are the lines around the
 * command's own script.
 *
 * The shells write `D` when the command has ended, `S` when the streams of the side shell's next script
 * are open, and `O` with the exit status when that script has ended.
 *
 * The files that the shells inside read, held open for writing: they lie there for whichever shell is
 * told to begin, and nothing has to be opened when a command is waited for.
 */

import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { faultError } from '../../base/index.ts'
import { quote, quoteAll, requireProgram } from '../../machine/index.ts'
import type { Caps, RunRequest, TerminalShape } from '../driver/driver.ts'

import type { Pipes } from '../pipes/pipe-ends.ts'
import { FD } from './bubble.ts'

export interface ProcessLimits {
  readonly cpuSeconds: number
  readonly fileBytes: number
  readonly openFiles: number
  /** Null where the kernel counts per sandbox already, or not at all. */
  readonly processes: number | null
}

/** `script`, the loop that sets sizes, and `stty` in it. */
export const TERMINAL_TASKS = 3
const SEEN_TASKS = 8
const OPEN_FILES = 4096
const BLOCK_BYTES = 512
/** Where the pipes lie inside. */
export const TOOLS = '/run/writ'
/** The side shell itself, and the shell that becomes what it runs. */
const SIDE_SHELL_TASKS = 2
/** Their names in a sandbox's directory. */
export const OWN = 'command'
export const AROUND = 'around'

/** What one process may take at most; backstops behind the caps of the whole sandbox. */
export function processLimits(
  { cpuMs, diskMb, processes }: Caps,
  hasTerminal: boolean,
  hasCounter: boolean,
): ProcessLimits {
  // The waiting shell, and a few above the cap: who stops at the limit has to be seen beyond the cap.
  const own = 1 + SEEN_TASKS + (hasTerminal ? TERMINAL_TASKS : 0)
  return {
    cpuSeconds: Math.ceil(cpuMs / 1000) + 1,
    fileBytes: diskMb * 1024 * 1024,
    openFiles: OPEN_FILES,
    processes: hasCounter ? null : processes + own,
  }
}

/** Returns how many tasks of writ's own run next to the command. */
export function extraTasks({
  terminal,
  channel,
}: Pick<RunRequest, 'channel' | 'terminal'>): number {
  return (terminal === null ? 0 : TERMINAL_TASKS) + (channel === undefined ? 0 : SIDE_SHELL_TASKS)
}

type Said = Pick<RunRequest, 'argv' | 'cwd' | 'env' | 'terminal' | 'channel'>

/** One of them is empty. */
interface RunScripts {
  /** For the shell that is ready and becomes the command. */
  readonly own: string
  /** For the first process. */
  readonly around: string
}

export function runScripts(said: Said, limits: ProcessLimits): RunScripts {
  const { argv, cwd, env, channel, terminal } = said
  if (terminal !== null) return { own: '', around: terminalScript(said, terminal, limits) }
  const moved = channel !== undefined ? `${CHANNEL}<&${FD.channel} ` : ''
  const own = [...beginning(cwd, limits, moved), ...commandLines(argv, env)]
  if (channel === undefined) return { own: text(own), around: '' }
  return { own: '', around: text([...sideShellLines(), '(', ...own, ')', ...SIDE_SHELL_END]) }
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

/**
 * Returns a script that gives the command a terminal of its own from `script(1)`, the first one in this
 * sandbox's devpts. A loop next to it sets each new size that the host sends.
 */
function terminalScript({ argv, cwd, env }: Said, size: Size, limits: ProcessLimits): string {
  const { SHELL } = env
  const inside = [
    SHELL === undefined ? 'unset SHELL' : `export SHELL=${quote(SHELL)}`,
    `${requireProgram('stty')} ${sizeLine(size)} 2>/dev/null`,
    ...foundLines(argv),
    `exec ${quoteAll(argv)}`,
  ].join('\n')
  const script = [requireProgram('script'), '-qefE', 'always', '-c', inside, '/dev/null']
  return [
    `( while read -r line <&${FD.inner}; do ${requireProgram('stty')} -F ${TERMINAL} $line; done )\\`,
    `>/dev/null 2>&1 ${FD.own}<&- ${FD.around}<&- ${FD.stderr}>&- &`,
    '(',
    ...beginning(cwd, limits),
    ...commandLines(script, { ...env, SHELL: '/bin/sh' }),
    ')',
    'status=$?',
    '{ kill -KILL $! && wait $!; } 2>/dev/null',
    '( exit $status )',
    '',
  ].join('\n')
}

type Size = Pick<TerminalShape, 'rows' | 'columns'>

const TERMINAL = '/dev/pts/0'
const SIZE_MAX = 9999

/** As `stty` takes it, and the loop inside. */
export function sizeLine({ rows, columns }: Size): string {
  const bounded = (count: number): number => Math.min(Math.max(Math.trunc(count) || 1, 1), SIZE_MAX)
  return `rows ${bounded(rows)} cols ${bounded(columns)}`
}

/** What a shell does before it becomes the command; `moved` goes to the command's own descriptors. */
function beginning(cwd: string, limits: ProcessLimits, moved = ''): readonly string[] {
  return [
    ...limitLines(limits),
    `cd ${quote(cwd)} 2>&- || { echo C >&${FD.inner}; exit 125; }`,
    `exec ${moved}2>&${FD.stderr} ${OURS}`,
  ]
}

/** Closes what the shells inside speak over and read from. */
const OURS = [
  `${FD.own}<&-`,
  `${FD.inner}>&-`,
  `${FD.around}<&-`,
  `${FD.stderr}>&-`,
  `${FD.channel}<&-`,
].join(' ')

/** The descriptor on which a command finds its channel. */
const CHANNEL = 3

/** Returns the lines that set limits. A limit that is already lower stays; its message is dropped. */
export function limitLines(limits: ProcessLimits): readonly string[] {
  return [
    '{',
    `ulimit -c 0; ulimit -n ${limits.openFiles}; ulimit -t ${limits.cpuSeconds}`,
    `ulimit -f ${Math.ceil(limits.fileBytes / BLOCK_BYTES)}`,
    ...(limits.processes === null ? [] : [processLine(limits.processes)]),
    '} 2>&-',
  ]
}

/** The letter is `p` for dash and `u` for bash, where `p` is something that cannot be set. */
function processLine(value: number): string {
  return `ulimit -p ${value} || ulimit -u ${value}`
}

/** Names that mean something to the shell itself, or that it cannot export. */
const PLAIN_NAME = /^(?!(?:IFS|LINENO|OPTIND|OPTARG|PPID|PS1|PS2|PS4|_)$)[A-Za-z_]\w*$/

/** `exec` never takes a builtin of the shell and forks no second time. */
export function commandLines(argv: readonly string[], env: RunRequest['env']): readonly string[] {
  const pairs = Object.entries(env)
  if (!pairs.every(([name]) => PLAIN_NAME.test(name))) {
    const assignments = pairs.map(([name, value]) => `${name}=${value}`)
    return [`exec /usr/bin/env -i ${quoteAll(assignments)} ${quoteAll(argv)}`]
  }
  return [
    'unset PWD OLDPWD',
    ...pairs.map(([name, value]) => `export ${name}=${quote(value)}`),
    ...foundLines(argv),
    `exec ${quoteAll(argv)}`,
  ]
}

const NOT_FOUND = 127

/** Says which command is not there; the shell's own words name the shell and a line. */
function foundLines([program = '']: readonly string[]): readonly string[] {
  const [name, said] = [quote(program), quote(`command not found: ${program}`)]
  return [`command -v -- ${name} >/dev/null || { printf '%s\\n' ${said} >&2; exit ${NOT_FOUND}; }`]
}

export function toolPipes(directory: string): Pipes {
  const at = (name: string): string => join(directory, name)
  return { stdin: at('stdin'), stdout: at('stdout'), stderr: at('stderr') }
}

/** Returns the lines before the script of a command: they start the side shell in the background. */
function sideShellLines(): readonly string[] {
  const { stdin, stdout, stderr } = toolPipes(TOOLS)
  const others = `${FD.own}<&- ${FD.around}<&- ${FD.stderr}>&- ${FD.channel}<&-`
  return [
    '( script=',
    `while IFS= read -r line <&${FD.inner}; do case $line in`,
    '+*) script="$script',
    `\${line#+}" ;;`,
    `.) ( echo S >&${FD.inner}; exec ${FD.inner}>&-; eval "$script" ) <${stdin} >${stdout} 2>${stderr}`,
    `echo "O$?" >&${FD.inner}; script= ;;`,
    'end) exit ;;',
    'esac; done',
    `) >/dev/null 2>&1 ${others} &`,
    'side_shell=$!',
  ]
}

/** The lines after the script of a command. They exit with the command's status. */
const SIDE_SHELL_END: readonly string[] = [
  'status=$?',
  `echo D >&${FD.inner}`,
  'wait $side_shell 2>/dev/null',
  '( exit $status )',
]

export class ScriptFiles {
  readonly #own: ScriptFile
  readonly #around: ScriptFile

  constructor(directory: string) {
    this.#own = new ScriptFile(join(directory, OWN))
    try {
      this.#around = new ScriptFile(join(directory, AROUND))
    } catch (error) {
      this.#own.close()
      throw error
    }
  }

  write({ own, around }: RunScripts): void {
    this.#own.write(own)
    this.#around.write(around)
  }

  close(): void {
    this.#own.close()
    this.#around.close()
  }
}

class ScriptFile {
  readonly #descriptor: number
  /** What is in it; null when that is not known. */
  #text: string | null = ''

  constructor(path: string) {
    this.#descriptor = openSync(path, 'wx', 0o600)
  }

  write(text: string): void {
    if (text === this.#text) return
    const isEmpty = this.#text === ''
    this.#text = null
    if (!isEmpty) ftruncateSync(this.#descriptor)
    if (!this.#isWritten(Buffer.from(text))) {
      throw faultError('sandbox.failed', '', 'there is no room for the script of the command')
    }
    this.#text = text
  }

  #isWritten(bytes: Buffer): boolean {
    try {
      return writeSync(this.#descriptor, bytes, 0, bytes.length, 0) === bytes.length
    } catch (error) {
      // Thrown by writeSync.
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
      throw error
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
