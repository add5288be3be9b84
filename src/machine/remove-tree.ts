/**
 * Removes a directory of writ's with everything in it. A command in a sandbox may leave directories that
 * not even their owner can enter, and paths that are too long for the kernel: then programs of the
 * machine, which go step by step, remove them. Removing a directory that was a mount point a moment ago
 * waits for the kernel. So directories are removed asynchronously, several at once; files are removed
 * with blocking calls, for a short time each turn.
 *
 * No directory is listed whole: a refused act may leave millions of entries.
 */
import { lstatSync, opendirSync, rmdir, unlinkSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { FaultError, fault } from '../base/index.ts'
import { Pace } from './pace.ts'
import { requireProgram, runProgram } from './programs.ts'

/** So many directories of one directory wait for the kernel together. */
const AT_ONCE = 16

export async function removeTree(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  try {
    if (stats.isDirectory()) await emptyDirectory(path, new Pace()).then(() => removed(path))
    else unlinkSync(path)
  } catch {
    await removeStubborn(path)
  }
}

/** Removes what is in a directory, one after another; only its directories go together. */
async function emptyDirectory(path: string, pace: Pace): Promise<void> {
  const going: Promise<void>[] = []
  const open = opendirSync(path)
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      const place = `${path}/${entry.name}`
      if (entry.isDirectory()) {
        await emptyDirectory(place, pace)
        const gone = removed(place)
        // A failure is reported by the wait for all of them.
        gone.catch(() => undefined)
        going.push(gone)
      } else unlinkSync(place)
      if (going.length === AT_ONCE) {
        await Promise.all(going)
        going.length = 0
      }
      await pace.step()
    }
  } finally {
    open.closeSync()
    // Waits also after a failure, so that the next attempt does not start while some still run.
    await Promise.allSettled(going)
  }
  await Promise.all(going)
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
