/**
 * Sandboxes for tests: opened in a process of its own, as root or as an ordinary user, over a tree that
 * the test made. `drive` runs shell scripts one after another on the same layers and gives back what
 * came out of each; `place` makes a directory that belongs to who will run.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll } from 'vitest'
import type { Fault } from '../../src/base/index.ts'
import type { Caps, Control, Layer, RunOutcome, SandboxRequest } from '../../src/sandbox/index.ts'
import { programFile, runProgram } from '../ledger/program.ts'

/** Who opens the sandbox: the superuser, or the test user without groups and capabilities. */
export type Who = 'root' | 'user'
export const WHO: readonly Who[] = ['root', 'user']

export const TEST_UID = 1777
const TEST_USER = 'writ-test'

export interface DriveOrder {
  readonly watcher: string
  readonly disks?: readonly string[]
  readonly signalAtDoor?: NodeJS.Signals
  readonly request: SandboxRequest
  readonly runs: readonly {
    readonly argv: readonly [string, ...string[]]
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly stdin?: Repeated
    readonly terminal?: TerminalOrder
    readonly isWatched?: boolean
    readonly abortAfterMs?: number
    readonly signal?: { readonly name: NodeJS.Signals; readonly afterMs: number }
  }[]
}

/** A long text, shortly said. */
export interface Repeated {
  readonly text: string
  readonly times: number
}

export interface TerminalOrder {
  readonly rows: number
  readonly columns: number
  readonly resize?: { readonly rows: number; readonly columns: number; readonly afterMs: number }
}

export interface DrivenRun {
  readonly outcome: RunOutcome
  /** Whether the layers stayed as they were when the run was over. */
  readonly isStill: boolean
  readonly stdout: string
  readonly stderr: string
  /** What was written above each root, relative paths in order. */
  readonly uppers: readonly { readonly root: string; readonly entries: readonly string[] }[]
}

export interface Driven {
  readonly ready: {
    readonly layers: readonly Layer[]
    readonly controls: readonly Control[]
  } | null
  readonly runs: readonly DrivenRun[]
  readonly failure: Fault | null
  /** Files of sandboxes that were open when the driver was closed. */
  readonly held: readonly string[]
  /** Complaints of the process itself; empty when all went well. */
  readonly errors: string
}

export interface Drive {
  readonly as: Who
  /** The scope root. */
  readonly root: string
  /** Shell scripts, or whole command lines. */
  readonly scripts: readonly (string | readonly [string, ...string[]])[]
  readonly caps?: Partial<Caps>
  readonly request?: Partial<SandboxRequest>
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly stdin?: Repeated
  readonly terminal?: TerminalOrder
  /** By script, where they differ: null for one without. */
  readonly terminals?: readonly (TerminalOrder | null)[]
  /** Looks at the layers once more, a while after the run is over. */
  readonly isWatched?: boolean
  readonly abortAfterMs?: number
  readonly signal?: { readonly name: NodeJS.Signals; readonly afterMs: number }
  readonly disks?: readonly string[]
  /** Programs that make namespaces and mounts, instead of the interpreter. */
  /** Sent when the way out is opened: everything is ready, and the command was not told to begin. */
  readonly signalAtDoor?: NodeJS.Signals
  /** Kills the process that opened the sandbox, so long after it was ready. */
  readonly killAfterMs?: number
  /** In front of the process that opens the sandbox, such as a shell that leaves a descriptor open. */
  readonly wrapper?: readonly string[]
}

export const CAPS: Caps = {
  cpuMs: 10_000,
  memoryMb: 512,
  diskMb: 64,
  durationMs: 20_000,
  processes: 64,
}

const PROGRAM = 'tests/sandbox/drive.program.ts'

export async function drive(asked: Drive): Promise<Driven> {
  const order = await orderOf(asked)
  const wrapper = [...userWrapper(asked.as), ...(asked.wrapper ?? [])]
  const { lines, errors } = await runProgram(PROGRAM, order, {
    wrapper,
    ...(asked.killAfterMs === undefined ? {} : { killAfterMs: asked.killAfterMs }),
  })
  const said = lines.map((line) => JSON.parse(line))
  return {
    ready: said.find((line) => 'ready' in line)?.ready ?? null,
    runs: said.filter((line) => 'outcome' in line),
    failure: said.find((line) => 'failure' in line)?.failure ?? null,
    held: said.find((line) => 'held' in line)?.held ?? [],
    errors,
  }
}

export async function orderOf(asked: Drive): Promise<DriveOrder> {
  const watcher = await programFile('src/sandbox/supervision/watch.worker.ts')
  return {
    watcher: pathToFileURL(watcher).href,
    ...(asked.disks === undefined ? {} : { disks: asked.disks }),
    ...(asked.signalAtDoor === undefined ? {} : { signalAtDoor: asked.signalAtDoor }),
    request: {
      sandboxId: `test-${process.pid}-${Math.random().toString(36).slice(2)}`,
      scopeRoots: [asked.root],
      watchedRoots: [],
      hidden: [],
      caps: { ...CAPS, ...asked.caps },
      sockets: 'inside',
      allOwners: false,
      ...asked.request,
    },
    runs: asked.scripts.map((script, index) => ({
      argv: typeof script === 'string' ? ['/bin/sh', '-c', script] : script,
      cwd: asked.cwd ?? asked.root,
      env: asked.env ?? { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
      ...(asked.stdin === undefined ? {} : { stdin: asked.stdin }),
      ...terminalAt(asked, index),
      ...(asked.isWatched === undefined ? {} : { isWatched: asked.isWatched }),
      ...(asked.abortAfterMs === undefined ? {} : { abortAfterMs: asked.abortAfterMs }),
      ...(asked.signal === undefined ? {} : { signal: asked.signal }),
    })),
  }
}

function terminalAt({ terminal, terminals }: Drive, index: number) {
  const own = terminals === undefined ? terminal : terminals[index]
  return own === undefined || own === null ? {} : { terminal: own }
}

/** One script, whose outcome is wanted; a failure of the sandbox fails the test. */
export async function driveOne(asked: Omit<Drive, 'scripts'>, script: string): Promise<DrivenRun> {
  const { runs, failure, errors } = await drive({ ...asked, scripts: [script] })
  const [run] = runs
  if (run === undefined) throw new Error(`no run: ${JSON.stringify(failure)} ${errors}`)
  return run
}

/** Runs what follows as this user; nothing for root. */
export function userWrapper(who: Who): readonly string[] {
  if (who === 'root') {
    if (process.getuid?.() !== 0) throw new Error('this test has to be run by root')
    return []
  }
  requireTestUser()
  const ids = [`--reuid=${TEST_UID}`, `--regid=${TEST_UID}`, '--clear-groups']
  return ['setpriv', ...ids, 'env', `HOME=/home/${TEST_USER}`]
}

let isUserThere = false

function requireTestUser(): void {
  if (isUserThere) return
  if (spawnSync('id', [TEST_USER]).status !== 0) {
    const made = spawnSync('useradd', ['-u', String(TEST_UID), '-m', TEST_USER])
    if (made.status !== 0) throw new Error(`no test user: ${made.stderr}`)
  }
  isUserThere = true
}

const PLACES: string[] = []
afterAll(() => {
  for (const place of PLACES.splice(0)) rmSync(place, { recursive: true, force: true })
})

/** A fresh directory that belongs to who will run; removed when the tests are over. */
export function place(who: Who, parent = '/tmp'): string {
  if (who === 'user') requireTestUser()
  const path = mkdtempSync(join(parent, 'writ-sandbox-test-'))
  PLACES.push(path)
  chmodSync(path, 0o755)
  if (who === 'user') chownSync(path, TEST_UID, TEST_UID)
  return path
}
