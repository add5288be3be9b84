/** Makes new names and changed entries durable. A new name is durable once its directory is synced. */
import { closeSync, fsync, fsyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const fsyncLater = promisify(fsync)

export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Syncs a file or a directory. Only the sync uses a thread: opening takes less than the way there. */
export async function syncPath(path: string | Buffer): Promise<void> {
  await syncAndClose(openSync(path, 'r'))
}

export async function syncAndClose(handle: number): Promise<void> {
  try {
    await fsyncLater(handle)
  } finally {
    closeSync(handle)
  }
}
