/** Small files that must never be seen half written: under another name first, synced, then renamed. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isAbsent } from './failure.ts'

export function writeWhole(file: string, text: string, mode: number): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const handle = openSync(temporary, 'wx', mode)
    try {
      writeSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(temporary, file)
    syncFolder(dirname(file))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Null when there is no such file. */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

export function syncFolder(directory: string): void {
  const handle = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
