/**
 * Small files that must never be seen half written: under another name first, synced, then renamed.
 * And reading what may be gone or closed to this user: `readable…` takes that as empty.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
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

export function readableNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

export function readableText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Of the entry itself, if it is a link. */
export function readableStats(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
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
