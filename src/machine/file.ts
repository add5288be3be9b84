/** Small files that must never be seen half written: under another name first, synced, then renamed. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { FaultError, fault, showName } from '../base/index.ts'
import { isAbsent } from './errno.ts'
import { syncDirectory } from './sync.ts'

/**
 * Replaces a file whole. `owner` names the only writer that uses this word: it removes what its own
 * interrupted write left.
 */
export function writeWhole(file: string, text: string, mode: number, owner?: string): void {
  const temporary = `${file}.${owner ?? randomBytes(6).toString('hex')}.tmp`
  try {
    if (owner !== undefined) rmSync(temporary, { force: true })
    const handle = openSync(temporary, 'wx', mode)
    try {
      writeSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(temporary, file)
    syncDirectory(dirname(file))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw unwritable(file, error)
  }
}

/** Makes a folder and those above it; tells whether it was not there before. */
export function makeFolder(folder: string, mode: number): boolean {
  try {
    return mkdirSync(folder, { recursive: true, mode }) !== undefined
  } catch (error) {
    throw unwritable(folder, error)
  }
}

/** In order; none when there is no such folder. */
export function namesIfThere(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

/** Null when there is no such file. */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return null
    const reason = reasonOf(error)
    const message = `${showName(file)} cannot be read (${reason})`
    throw new FaultError(fault('cli.file_unreadable', file, { file, reason }, { message }))
  }
}

export function unwritable(file: string, error: unknown): FaultError {
  const reason = reasonOf(error)
  const message = `${showName(file)} cannot be written (${reason})`
  return new FaultError(fault('cli.file_unwritable', file, { file, reason }, { message }))
}

function reasonOf(error: unknown): string {
  // Errors of the system have a code; others may lack it.
  return (error as NodeJS.ErrnoException).code ?? 'unknown reason'
}
