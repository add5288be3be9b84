/**
 * Writes one small body with few steps beside the caller: going by a thread and back takes longer than
 * most steps (objects.ts does all of them so), but not longer than a sync. The order is the same, and so
 * is the promise: when it resolves, the bytes and the name are synced, and a name stands for whole
 * contents at every moment.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

export async function putSmall(directory: string, file: string, bytes: Uint8Array): Promise<void> {
  const holders = makeDirectory(dirname(file))
  const found = statSync(file, { throwIfNoEntry: false })
  const written = found?.size === bytes.length ? [] : [write(join(directory, 'tmp'), file, bytes)]
  await Promise.all([...written, ...holders.map(syncPath)])
  // Also when the file was there: whoever wrote it may not have come as far as this.
  await syncPath(dirname(file))
}

async function write(scratch: string, file: string, bytes: Uint8Array): Promise<void> {
  const holders = makeDirectory(scratch)
  const temporary = join(scratch, randomBytes(12).toString('hex'))
  try {
    const descriptor = openSync(temporary, 'wx', FILE_MODE)
    try {
      writeFileSync(descriptor, bytes)
      await sync(descriptor)
    } finally {
      closeSync(descriptor)
    }
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

async function syncPath(path: string): Promise<void> {
  const descriptor = openSync(path, 'r')
  try {
    await sync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const sync = promisify(fsync)
