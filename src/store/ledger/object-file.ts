/**
 * Writes one small body with synchronous calls, except for the syncs: a round trip through Node's thread
 * pool takes longer than most steps, but not longer than a sync. `objects.ts` does every step through
 * the pool. The order of steps and the promise are the same: when `putSmall` resolves, the bytes and the
 * name are synced, and a file under its name is complete at every moment.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncPath } from '../../machine/index.ts'

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

export async function putSmall(directory: string, file: string, bytes: Uint8Array): Promise<void> {
  const holders = makeDirectory(dirname(file))
  const found = statSync(file, { throwIfNoEntry: false })
  const written = found?.size === bytes.length ? [] : [write(join(directory, 'tmp'), file, bytes)]
  await Promise.all([...written, ...holders.map(syncPath)])
  // Also when the file was there: the process that wrote it may not have synced the directory yet.
  await syncPath(dirname(file))
}

async function write(scratch: string, file: string, bytes: Uint8Array): Promise<void> {
  const holders = makeDirectory(scratch)
  const temporary = join(scratch, randomBytes(12).toString('hex'))
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: FILE_MODE })
    await syncPath(temporary)
    await Promise.all(holders.map(syncPath))
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** The directories in which a name came by this, which is not durable before they are synced. */
function makeDirectory(directory: string): readonly string[] {
  const first = mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE })
  const holders: string[] = []
  if (first === undefined) return holders
  for (let made = directory; made.length >= first.length; made = dirname(made)) {
    holders.push(dirname(made))
  }
  return holders
}
