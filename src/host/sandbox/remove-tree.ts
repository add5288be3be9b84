/**
 * Removes a directory of ours with everything in it. What ran in a sandbox may leave directories that
 * not even their owner can enter, and some that lie deeper than any path: then programs of the machine
 * do it, which go step by step. Does not block, unless there is nothing else to do: removing what was
 * a mount point a moment ago waits for the kernel.
 */
import { execFile } from 'node:child_process'
import { readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { sandboxFailure } from './failure.ts'
import { PROGRAM_ENV, requireProgram } from './programs.ts'

let hasNothingElse = false

/** From now on this process does nothing but wait while a tree is removed. */
export function waitForRemovals(): void {
  hasNothingElse = true
}

/** Going to and fro between threads takes longer than to remove so many. */
const FEW = 256

export async function removeTree(path: string): Promise<void> {
  if (hasNothingElse && isRemovedNow(path)) return
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    await removeStubborn(path)
  }
}

/** False when it is not small, or something is in the way. */
function isRemovedNow(path: string): boolean {
  try {
    return removeFew(path, FEW) > 0
  } catch {
    return false
  }
}

/** How many more could be removed; none when it stopped on the way. */
function removeFew(directory: string, most: number): number {
  let left = most
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (left <= 1) return 0
    const path = `${directory}/${entry.name}`
    if (entry.isDirectory()) left = removeFew(path, left - 1)
    else {
      unlinkSync(path)
      left--
    }
  }
  if (left > 0) rmdirSync(directory)
  return left
}

/**
 * The first attempt may still be at work on other entries when it gives up, so complaints about what is
 * gone count for nothing: what counts is that nothing is left.
 */
async function removeStubborn(path: string): Promise<void> {
  await finished(requireProgram('chmod'), ['-R', 'u+rwx', '--', path])
  const words = await finished(requireProgram('rm'), ['-rf', '--', path])
  const isLeft = await lstat(path).then(
    () => true,
    () => false,
  )
  if (isLeft) throw sandboxFailure('sandbox.failed', path, words.split('\n')[0] ?? '')
}

function finished(program: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, words, { env: PROGRAM_ENV, cwd: '/' }, (_, __, errors) => resolve(errors))
  })
}
