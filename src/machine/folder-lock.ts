/**
 * One process at a time on the files of a folder, for a read, a change and a write that belong together.
 * `flock` from util-linux sets the lock on a handle of this process, so the kernel drops it however this
 * process ends.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { FaultError, fault, showPath } from '../base/index.ts'
import { unwritable } from './file.ts'
import { requireProgram, runProgramNow } from './programs.ts'

const WAIT_SECONDS = 10
const HANDLE_INSIDE = 3
/** How `flock` exits if another process held the lock all the time. */
export const FLOCK_CONFLICT = 75

/** Returns the words after `flock` for a lock on the child's descriptor 3; 0 does not wait. */
export function flockWords(waitMs: number): readonly string[] {
  const wait = waitMs <= 0 ? ['--nonblock'] : ['--timeout', (waitMs / 1000).toFixed(3)]
  const conflict = ['--conflict-exit-code', String(FLOCK_CONFLICT)]
  return ['--exclusive', ...conflict, ...wait, String(HANDLE_INSIDE)]
}

/** Runs `work` under the lock of a folder. Fails if another process holds the lock for ten seconds. */
export function withFolderLock<T>(folder: string, work: () => T): T {
  const handle = openFolder(folder)
  try {
    const { status } = runProgramNow(requireProgram('flock'), flockWords(WAIT_SECONDS * 1000), {
      stdio: ['ignore', 'ignore', 'ignore', handle],
    })
    if (status === FLOCK_CONFLICT) throw busy(folder)
    if (status !== 0) throw unwritable(folder, { code: 'ENOLCK' })
    return work()
  } finally {
    closeSync(handle)
  }
}

/**
 * Takes the lock of a folder for as long as this process lives, or until the returned function is
 * called. Returns null if another process holds it.
 */
export function holdFolderLock(folder: string): (() => void) | null {
  const handle = openFolder(folder)
  const { status } = runProgramNow(requireProgram('flock'), flockWords(0), {
    stdio: ['ignore', 'ignore', 'ignore', handle],
  })
  if (status === 0) return () => closeSync(handle)
  closeSync(handle)
  if (status === FLOCK_CONFLICT) return null
  throw unwritable(folder, { code: 'ENOLCK' })
}

function openFolder(folder: string): number {
  try {
    return openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch (error) {
    throw unwritable(folder, error)
  }
}

function busy(folder: string): FaultError {
  const message = `another process of writ has been writing in ${showPath(folder)} for ${WAIT_SECONDS} seconds; nothing was changed`
  const hint = 'wait until it has ended, then run the same again'
  return new FaultError(
    fault('workspace.busy', folder, { process: null, command: null }, { message, hint }),
  )
}
