/**
 * The programs of the machine that writ starts outside a sandbox: found in a fixed list of system
 * directories, never by the caller's PATH, and started with an environment of their own.
 *
 * INVARIANT (own programs only): this file alone imports `node:child_process`, and its functions take
 *   only a path that `findProgram` returned. The house test refuses any other import. Two exceptions:
 *   `runInstalled` starts a program that a person asks writ to try, with an environment of its own;
 *   `startOwn` starts writ itself for the service, with the environment that the service hands over.
 */
import {
  type ChildProcess,
  type SpawnOptions,
  type SpawnSyncReturns,
  spawn,
  spawnSync,
} from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { FaultError, fault } from '../base/index.ts'

const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** The Debian package that brings each. */
const PACKAGES = {
  bwrap: 'bubblewrap',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  script: 'bsdutils',
  strace: 'strace',
  mount: 'mount',
  sh: 'dash',
  mkfifo: 'coreutils',
  stty: 'coreutils',
  chmod: 'coreutils',
  cp: 'coreutils',
  mknod: 'coreutils',
  mv: 'coreutils',
  rm: 'coreutils',
  sync: 'coreutils',
  touch: 'coreutils',
  flock: 'util-linux',
  xargs: 'findutils',
  getfattr: 'attr',
  setfattr: 'attr',
  perl: 'perl-base',
  git: 'git',
  tar: 'tar',
} as const

export type Program = keyof typeof PACKAGES

declare const found: unique symbol
/** The full path of a program in a system directory. */
export type ProgramPath = string & { readonly [found]: true }

const FOUND = new Map<Program, ProgramPath>()

export function findProgram(name: Program): ProgramPath | null {
  const known = FOUND.get(name)
  if (known !== undefined) return known
  for (const folder of FOLDERS) {
    // The brand says where the path was made: here, from a system directory.
    const path = join(folder, name) as ProgramPath
    if (!isExecutable(path)) continue
    FOUND.set(name, path)
    return path
  }
  return null
}

/** A program that a person names, such as a pager; null unless a system directory holds it. */
export function findNamed(name: string): ProgramPath | null {
  if (!/^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/.test(name)) return null
  // The brand says where the path was made: here, from a system directory.
  const paths = FOLDERS.map((folder) => join(folder, name) as ProgramPath)
  return paths.find(isExecutable) ?? null
}

export function requireProgram(name: Program): ProgramPath {
  const path = findProgram(name)
  if (path !== null) return path
  const message = `the program \`${name}\` is not installed`
  const words = { message, hint: installCommand(name) }
  throw new FaultError(fault('sandbox.control_missing', name, null, words))
}

export function installCommand(name: Program): string {
  return `sudo apt-get install -y ${PACKAGES[name]}`
}

/** All that programs of ours get to see of the environment. */
const PROGRAM_ENV = { PATH: FOLDERS.join(':'), LC_ALL: 'C' } as const

/**
 * As for `spawn`, but the environment is ours, no shell is asked, the default directory is `/`, and a
 * program has a session of its own unless `detached` is false: a signal to the caller's group is for
 * writ, which ends its programs itself. They end when writ is gone, since their input ends then.
 */
interface StartOptions
  extends Pick<SpawnOptions, 'cwd' | 'detached' | 'stdio' | 'timeout' | 'killSignal'> {
  /** Variables besides the fixed ones. */
  readonly variables?: Readonly<Record<string, string>>
}

export function startProgram(
  program: ProgramPath,
  args: readonly string[],
  { variables, ...options }: StartOptions = {},
): ChildProcess {
  const env = { ...PROGRAM_ENV, ...variables }
  return spawn(program, args, { cwd: '/', detached: true, ...options, env })
}

/** Starts a script of this installation with this Node; it takes its passphrase from descriptor 3. */
export function startOwn(
  script: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): ChildProcess {
  const stdio: SpawnOptions['stdio'] = ['pipe', 'pipe', 'pipe', 'pipe']
  return spawn(process.execPath, [script, ...args], { cwd, env, stdio, detached: true })
}

/** Starts a program that the person named who runs this one, with their variables and directory. */
export function startNamed([program = '', ...args]: readonly string[]): ChildProcess {
  return spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
}

/** Runs it to its end while this process waits. */
export function runProgramNow(
  program: ProgramPath,
  args: readonly string[],
  { variables, ...options }: StartOptions & { readonly input?: Uint8Array } = {},
): SpawnSyncReturns<Buffer> {
  return spawnSync(program, args, { cwd: '/', ...options, env: { ...PROGRAM_ENV, ...variables } })
}

/** What a program that ran to its end left behind. */
interface Ended {
  /** Null when it succeeded. */
  readonly error: Error | null
  readonly stderr: string
}

/** Runs it to its end; never rejects. */
export function runProgram(
  program: ProgramPath,
  args: readonly string[],
  { variables, timeout }: Pick<StartOptions, 'variables' | 'timeout'> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = startProgram(program, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: timeout ?? 0,
      ...(variables === undefined ? {} : { variables }),
    })
    let stderr = ''
    child.stderr?.on('data', (piece: Buffer) => {
      stderr += piece.toString('utf8')
    })
    child.on('error', (error) => resolve({ error, stderr }))
    child.on('close', (status, signal) => {
      const error = status === 0 ? null : new Error(`${program} ended with ${status ?? signal}`)
      resolve({ error, stderr })
    })
  })
}

/** A program of a person's, its arguments, and all that it sees of the environment. */
interface InstalledProgram {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  /** After this time the program and everything in its group is killed. */
  readonly limitMs: number
}

export interface InstalledEnd {
  /** Null if a signal ended it. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  readonly isTimedOut: boolean
}

const OUTPUT_MAX = 4 * 1024 * 1024

/** Runs it to its end, without input, in a group of its own; never rejects. */
export function runInstalled(program: InstalledProgram): Promise<InstalledEnd> {
  const { argv, cwd, variables, limitMs } = program
  const [file = '', ...args] = argv
  return new Promise((resolve) => {
    const stdio: SpawnOptions['stdio'] = ['ignore', 'pipe', 'pipe']
    const child = spawn(file, args, { cwd, env: { ...variables }, detached: true, stdio })
    const texts = { stdout: '', stderr: '' }
    let isTimedOut = false
    const timer = setTimeout(() => {
      isTimedOut = true
      killGroup(child)
    }, limitMs)
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (piece: string) => {
        if (texts[name].length < OUTPUT_MAX) texts[name] += piece
      })
    }
    const end = (status: number | null, more = ''): void => {
      clearTimeout(timer)
      killGroup(child)
      resolve({ status, stdout: texts.stdout, stderr: texts.stderr + more, isTimedOut })
    }
    child.on('error', (error) => end(null, error.message))
    // `exit` and not `close`: a process that it left behind may hold the pipes open.
    child.on('exit', (status) => setTimeout(() => end(status), GRACE_MS))
  })
}

/** For the last output to arrive. */
const GRACE_MS = 50

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is gone.
  }
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Quotes words for `sh`, so that it takes every character literally. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ')
}

/**
 * Stops this process's own terminal from making two characters of a line feed, for which Node has no
 * call; without `stty` it goes on.
 */
export function stopOutputProcessing(): void {
  const stty = findProgram('stty')
  if (stty !== null) runProgramNow(stty, ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
}
