/**
 * One at a time on a workspace: an exclusive flock(2) on its root directory. `flock` from util-linux
 * sets it on a directory that this process has open and is gone again; the lock belongs to the open
 * directory, so the kernel drops it at the moment this process ends, however it ends. Nothing has to
 * be cleaned up after a crash, and no child is left to hold it.
 *
 * Taking it twice in one process waits as well, and is no way to nest.
 */
import type { ChildProcess } from 'node:child_process'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs'
import { FaultError, fault, showName, showPath } from '../../base/index.ts'
import { requireProgram, startProgram } from '../sandbox/programs.ts'
import { machineFailure } from './failure.ts'

declare const locked: unique symbol
/** That the lock is held: who asks for one of these works under it. */
export interface WorkspaceLock {
  readonly root: string
  readonly [locked]: true
}

export interface LockOptions {
  /** How long somebody else is waited for; 0: not at all. */
  readonly waitMs: number
}

const CONFLICT = 75

/** One that is held until it is let go, once. */
export interface HeldLock {
  readonly lock: WorkspaceLock
  release(): void
}

/** The root is a real path. Fails with `workspace.busy` when somebody else has it for too long. */
export async function takeWorkspaceLock(root: string, { waitMs }: LockOptions): Promise<HeldLock> {
  const handle = openRoot(root)
  try {
    const status = await setLock(handle, waitMs)
    if (status === CONFLICT) throw busy(root)
    if (status !== 0) throw machineFailure({ code: 'ENOLCK' }, root)
    return heldBy(root, handle)
  } catch (error) {
    closeSync(handle)
    throw error
  }
}

function heldBy(root: string, handle: number): HeldLock {
  // The brand says only what the caller has found out.
  return { lock: { root } as WorkspaceLock, release: () => closeSync(handle) }
}

/**
 * A program that sets the lock when it is told to, started while there is nothing else to do: starting
 * one stops this process for as long as half a promotion takes. Told once, or ended.
 */
export class ParkedLock {
  readonly #root: string
  readonly #handle: number
  readonly #child: ChildProcess
  readonly #status: Promise<number | null>

  constructor(root: string) {
    this.#root = root
    this.#handle = openRoot(root)
    try {
      // It ends with this process: then nobody can tell it anything any more.
      this.#child = startProgram(requireProgram('sh'), ['-c', parked()], {
        stdio: ['pipe', 'ignore', 'ignore', this.#handle],
      })
    } catch (error) {
      closeSync(this.#handle)
      throw error
    }
    this.#child.stdin?.on('error', () => undefined)
    this.#status = new Promise((resolved) => {
      this.#child.on('error', () => resolved(null))
      this.#child.on('exit', (status) => resolved(status))
    })
  }

  async take(options: LockOptions): Promise<HeldLock> {
    const status = this.#isElsewhere() ? null : await this.#tell(options)
    if (status === 0) return heldBy(this.#root, this.#handle)
    this.end()
    if (status === CONFLICT) throw busy(this.#root)
    // Whatever kept it from that is told by who tries anew.
    return takeWorkspaceLock(this.#root, options)
  }

  end(): void {
    this.#child.stdin?.destroy()
    closeSync(this.#handle)
  }

  #tell({ waitMs }: LockOptions): Promise<number | null> {
    this.#child.stdin?.end(`${waitingOptions(waitMs).join(' ')}\n`)
    return this.#status
  }

  /** The root was replaced meanwhile, or cannot be looked at, which is told by who tries anew. */
  #isElsewhere(): boolean {
    try {
      const [opened, now] = [fstatSync(this.#handle), lstatSync(this.#root)]
      return now.dev !== opened.dev || now.ino !== opened.ino
    } catch {
      return true
    }
  }
}

export async function withWorkspaceLock<T>(
  root: string,
  options: LockOptions,
  work: (lock: WorkspaceLock) => Promise<T>,
): Promise<T> {
  const { lock, release } = await takeWorkspaceLock(root, options)
  try {
    return await work(lock)
  } finally {
    release()
  }
}

function openRoot(root: string): number {
  try {
    return openSync(root, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    throw machineFailure(error, root)
  }
}

const HANDLE_INSIDE = 3
const OPTIONS = ['--exclusive', '--conflict-exit-code', String(CONFLICT)]

function parked(): string {
  const flock = requireProgram('flock')
  return `read -r waiting && exec ${flock} ${OPTIONS.join(' ')} $waiting ${HANDLE_INSIDE}`
}

function waitingOptions(waitMs: number): readonly string[] {
  return waitMs <= 0 ? ['--nonblock'] : ['--timeout', (waitMs / 1000).toFixed(3)]
}

function setLock(handle: number, waitMs: number): Promise<number | null> {
  const options = [...OPTIONS, ...waitingOptions(waitMs)]
  return new Promise((resolved, rejected) => {
    const child = startProgram(requireProgram('flock'), [...options, String(HANDLE_INSIDE)], {
      stdio: ['ignore', 'ignore', 'ignore', handle],
    })
    child.on('error', (error) => rejected(machineFailure(error, 'flock')))
    child.on('exit', (status) => resolved(status))
  })
}

function busy(root: string): FaultError {
  const holder = findHolder(root)
  const details = { process: holder?.process ?? null, command: holder?.command ?? null }
  const who =
    holder === null ? 'another process' : `process ${holder.process} (${showName(holder.command)})`
  const message = `${who} of writ is at work in ${showPath(root)}; nothing was changed`
  const hint = 'wait until it has ended, then run the same again'
  return new FaultError(fault('workspace.busy', root, details, { message, hint }))
}

/** The process that has the root open with a lock on it, as far as this user may look. */
function findHolder(root: string): { readonly process: number; readonly command: string } | null {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      for (const handle of readdirSync(`/proc/${name}/fd`)) {
        if (readlinkSync(`/proc/${name}/fd/${handle}`) !== root) continue
        if (!/^lock:.*FLOCK/m.test(readFileSync(`/proc/${name}/fdinfo/${handle}`, 'utf8'))) continue
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\u0000', ' ')
        return { process: Number(name), command: command.trim() }
      }
    } catch {
      // Gone meanwhile, or somebody else's: look on.
    }
  }
  return null
}
