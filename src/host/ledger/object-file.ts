/**
 * Writes one small body in one go: each step of the other way (objects.ts) goes by a thread and back,
 * which takes longer than the step. The steps and their order are the same, and so is the promise: when
 * it returns, the bytes and the name are synced, and a name stands for whole contents at every moment.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

export function putNow(directory: string, file: string, bytes: Uint8Array): void {
  makeDirectory(dirname(file))
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.size !== bytes.length) write(join(directory, 'tmp'), file, bytes)
  // Also when the file was there: whoever wrote it may not have come as far as this.
  syncPath(dirname(file))
}

function write(scratch: string, file: string, bytes: Uint8Array): void {
  makeDirectory(scratch)
  const temporary = join(scratch, randomBytes(12).toString('hex'))
  try {
    const descriptor = openSync(temporary, 'wx', FILE_MODE)
    try {
      writeFileSync(descriptor, bytes)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** The directory, and its name in the one above, durable. */
function makeDirectory(directory: string): void {
  const first = mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE })
  if (first === undefined) return
  for (let made = directory; made.length >= first.length; made = dirname(made)) {
    syncPath(dirname(made))
  }
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
