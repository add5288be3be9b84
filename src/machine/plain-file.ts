/**
 * Reads and writes single files below a directory without following a link anywhere on the way: a
 * hostile process may have made the entries there, and may still be changing them.
 */
import {
  closeSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  readSync,
  writeSync,
} from 'node:fs'
import { type FaultError, faultError } from '../base/index.ts'
import { codeOf } from './held-directory.ts'
import { openEntry } from './no-follow.ts'

const FILE_MODE = 0o644

/** `below` has names and slashes only. Null when there is no plain file. */
export function readPlainFile(root: string, below: string, bytesMax: number): Uint8Array | null {
  const names = namesOf(below)
  return within(root, names, false, (directory, name) => {
    if (directory === null) return null
    const file = openOrNull(`/proc/self/fd/${directory}/${name}`)
    if (file === null) return null
    try {
      return readWhole(file, below, bytesMax)
    } finally {
      closeSync(file)
    }
  })
}

/** Makes missing directories on the way; what is in the way and no plain file is a failure. */
export function writePlainFile(root: string, below: string, bytes: Uint8Array): void {
  within(root, namesOf(below), true, (directory, name) => {
    if (directory === null) throw notPlain(below)
    const file = orNotPlain(below, () =>
      openEntry(`/proc/self/fd/${directory}/${name}`, 'write', FILE_MODE),
    )
    try {
      if (!fstatSync(file).isFile()) throw notPlain(below)
      ftruncateSync(file)
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
      // The umask may have removed bits that other users of the workspace need to read the file.
      fchmodSync(file, FILE_MODE)
    } finally {
      closeSync(file)
    }
  })
}

function namesOf(below: string): readonly string[] {
  const names = below.split('/').filter((name) => name !== '')
  if (names.length === 0 || names.includes('..') || names.includes('.')) throw notPlain(below)
  return names
}

/** Opens the directories one by one; with null where one is missing. */
function within<T>(
  root: string,
  names: readonly string[],
  isMade: boolean,
  work: (directory: number | null, name: string) => T,
): T {
  const last = names[names.length - 1] ?? ''
  let directory = openEntry(root, 'enter')
  try {
    for (const name of names.slice(0, -1)) {
      const next = enter(directory, name, isMade)
      if (next === null) return work(null, last)
      closeSync(directory)
      directory = next
    }
    return work(directory, last)
  } finally {
    closeSync(directory)
  }
}

function enter(directory: number, name: string, isMade: boolean): number | null {
  const path = `/proc/self/fd/${directory}/${name}`
  for (let tries = isMade ? 2 : 1; tries > 0; tries--) {
    try {
      return openEntry(path, 'enter')
    } catch (error) {
      if (!isAbsent(error)) throw error
      if (tries === 1 || codeOf(error) !== 'ENOENT') return null
      mkdirSync(path)
    }
  }
  return null
}

function openOrNull(path: string): number | null {
  try {
    return openEntry(path, 'read')
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/** A link is no plain file, and neither is anything behind one. */
function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ENAMETOOLONG'].includes(codeOf(error))
}

function readWhole(file: number, below: string, bytesMax: number): Uint8Array | null {
  const stats = fstatSync(file)
  if (!stats.isFile()) return null
  const parts: Buffer[] = []
  let left = bytesMax + 1
  for (;;) {
    const part = Buffer.allocUnsafe(Math.min(left, 256 * 1024))
    const count = readSync(file, part)
    if (count === 0) return Buffer.concat(parts)
    left -= count
    if (left <= 0) {
      throw faultError('diff.too_large', below, `${below} has more than ${bytesMax} bytes`)
    }
    parts.push(part.subarray(0, count))
  }
}

function orNotPlain<T>(below: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (isAbsent(error) || codeOf(error) === 'EISDIR') throw notPlain(below)
    throw error
  }
}

function notPlain(below: string): FaultError {
  return faultError('diff.unsupported', below, 'there is no plain file, and none can be put there')
}
