/**
 * Removes a directory of ours with everything in it. What ran in a sandbox may leave directories that
 * not even their owner can enter; they are opened up first.
 */
import { chmodSync, lstatSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    removeStubborn(path)
  }
}

/** Without recursion: the depth is what somebody inside made it. */
function removeStubborn(top: string): void {
  const open: { path: string; isEntered: boolean }[] = [{ path: top, isEntered: false }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { path, isEntered } = place
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
      unlinkSync(path)
    } else if (isEntered) {
      rmdirSync(path)
    } else {
      chmodSync(path, 0o700)
      open.push({ path, isEntered: true })
      for (const name of readdirSync(path)) open.push({ path: join(path, name), isEntered: false })
    }
  }
}
