/**
 * Removes a directory of ours with everything in it. What ran in a sandbox may leave directories that
 * not even their owner can enter, and some that lie deeper than any path: then programs of the machine
 * do it, which go step by step. Never blocks: removing what was a mount point a moment ago waits for
 * the kernel.
 */
import { execFile } from 'node:child_process'
import { lstat, rm } from 'node:fs/promises'
import { sandboxFailure } from './failure.ts'
import { PROGRAM_ENV, requireProgram } from './programs.ts'

export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    await removeStubborn(path)
  }
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
