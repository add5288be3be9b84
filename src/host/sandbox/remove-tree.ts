/**
 * Removes a directory of ours with everything in it. What ran in a sandbox may leave directories that
 * not even their owner can enter; they are opened up first. Never blocks: removing what was a mount
 * point a moment ago waits for the kernel.
 */
import { chmod, lstat, readdir, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    await removeStubborn(path)
  }
}

/**
 * Without recursion: the depth is what somebody inside made it. The first attempt may still be at work
 * on other entries when it gives up, so what is gone meanwhile is what was wanted.
 */
async function removeStubborn(top: string): Promise<void> {
  const open: { path: string; isEntered: boolean }[] = [{ path: top, isEntered: false }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { path, isEntered } = place
    try {
      if (!(await lstat(path)).isDirectory()) {
        await unlink(path)
      } else if (isEntered) {
        await rmdir(path)
      } else {
        await chmod(path, 0o700)
        open.push({ path, isEntered: true })
        for (const name of await readdir(path))
          open.push({ path: join(path, name), isEntered: false })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}
