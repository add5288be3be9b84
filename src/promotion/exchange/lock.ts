/**
 * One at a time on a workspace: an exclusive flock(2) on its root directory. `flock` from util-linux
 * sets it on a directory that this process has open and is gone again; the lock belongs to the open
 * directory, so the kernel drops it at the moment this process ends, however it ends. Nothing has to
 * be cleaned up after a crash, and no child is left to hold it.
 *
 * Taking it twice in one process waits as well, and is no way to nest.
 */
import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { FaultError, fault, showName, showPath } from '../../base/index.ts'
import {
  FLOCK_CONFLICT,
  flockWords,
  openEntry,
  requireProgram,
  startProgram,
} from '../../machine/index.ts'
import { machineFailure } from '../entries/failure.ts'

declare const locked: unique symbol
/** Proof that the lock is held: functions that need the lock take it as an argument. */
export interface WorkspaceLock {
  readonly root: string
  readonly [locked]: true
}

interface LockOptions {
  /** How long to wait for another holder of the lock; 0 does not wait. */
  readonly waitMs: number
}

/**
 * Runs `work` under the lock of the workspace; the root is a real path. Fails with `workspace.busy` if
 * another process holds the lock for longer than `waitMs`.
 */
export async function withWorkspaceLock<T>(
  root: string,
  { waitMs }: LockOptions,
  work: (lock: WorkspaceLock) => Promise<T>,
): Promise<T> {
  const handle = openRoot(root)
  try {
    const status = await setLock(handle, waitMs)
    if (status === FLOCK_CONFLICT) throw busy(root)
    if (status !== 0) throw machineFailure({ code: 'ENOLCK' }, root)
    // The brand says what `setLock` has just done.
    return await work({ root } as WorkspaceLock)
  } finally {
    closeSync(handle)
  }
}

function openRoot(root: string): number {
  try {
    return openEntry(root, 'list')
  } catch (error) {
    throw machineFailure(error, root)
  }
}

function setLock(handle: number, waitMs: number): Promise<number | null> {
  return new Promise((resolved, rejected) => {
    const child = startProgram(requireProgram('flock'), flockWords(waitMs), {
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
      // The process has exited, or belongs to another user: tries the next one.
    }
  }
  return null
}
