/**
 * Removes a directory of writ's with everything in it. A command in a sandbox may leave directories that
 * not even their owner can enter, and paths that are too long for the kernel: then programs of the
 * machine, which go step by step, remove them. Removing a directory that was a mount point a moment ago
 * waits for the kernel. So directories are removed asynchronously, several at once; only plain files
 * are removed with blocking calls, in processes that have nothing else to do.
 */
import { readdirSync, rmdir, unlinkSync } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { FaultError, fault } from '../base/index.ts'
import { requireProgram, runProgram } from './programs.ts'

let hasNothingElse = false

/** From now on this process does nothing but wait while a tree is removed. */
export function waitForRemovals(): void {
  hasNothingElse = true
}

/** Going to and fro between threads takes longer than to remove so many. */
const FEW = 256

export async function removeTree(path: string): Promise<void> {
  if (hasNothingElse && (await isRemovedNow(path))) return
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    await removeStubborn(path)
  }
}

/** False when it is not small, or something is in the way. */
async function isRemovedNow(path: string): Promise<boolean> {
  try {
    await removeFew(path, { left: FEW })
    return true
  } catch {
    return false
  }
}

/** Files at once, and then the directories from the innermost, neighbours together. */
async function removeFew(directory: string, most: { left: number }): Promise<void> {
  const inner: Promise<void>[] = []
  try {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (--most.left < 0) throw new Error('there is more than a few')
      const path = `${directory}/${entry.name}`
      if (entry.isDirectory()) inner.push(removeFew(path, most))
      else unlinkSync(path)
    }
  } finally {
    // Waits also after a failure, so that the next attempt does not start while some still run.
    await Promise.allSettled(inner)
  }
  await Promise.all(inner)
  await removed(directory)
}

function removed(directory: string): Promise<void> {
  return new Promise((resolve, reject) => {
    rmdir(directory, (error) => (error === null ? resolve() : reject(error)))
  })
}

/**
 * The first attempt may still be removing entries when it gives up, so complaints of `rm` about missing
 * entries are ignored. Fails only if something is left.
 */
async function removeStubborn(path: string): Promise<void> {
  await runProgram(requireProgram('chmod'), ['-R', 'u+rwx', '--', path])
  const { stderr: words } = await runProgram(requireProgram('rm'), ['-rf', '--', path])
  const isLeft = await lstat(path).then(
    () => true,
    () => false,
  )
  const message = words.split('\n')[0] ?? ''
  if (isLeft) throw new FaultError(fault('sandbox.failed', path, null, { message }))
}
