/**
 * Makes new names and changed entries durable. A new name is durable once its directory is synced.
 * Many files are made durable with few calls: each is synced if there are few, the whole filesystem
 * in one call if there are many.
 */
import { closeSync, fsync, fsyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import type { RawPath } from '../gate/index.ts'
import { toolFailure } from './failure.ts'
import { codeOf, nodePath } from './held-directory.ts'
import { runTool } from './tool.ts'

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

/** From here on one call for all is cheaper, and keeps within the number of calls that is promised. */
const SINGLY_MAX = 32

/** `paths` are files and directories; links are durable with the directory that holds them. */
export async function makeDurable(paths: Iterable<RawPath>, directory: string): Promise<void> {
  const few = new Set<RawPath>()
  for (const path of paths) {
    few.add(path)
    if (few.size > SINGLY_MAX) return syncFilesystem(directory)
  }
  try {
    await Promise.all([...few].map((path) => syncPath(nodePath(path))))
  } catch (error) {
    // What may not be opened even by its owner is synced with everything else.
    if (codeOf(error) !== 'EACCES') throw error
    await syncFilesystem(directory)
  }
}

async function syncFilesystem(directory: string): Promise<void> {
  const { status, stderr } = await runTool('sync', ['--file-system', '--', directory])
  if (status === 0) return
  throw toolFailure('sync', directory, stderr)
}
