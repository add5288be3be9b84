/**
 * Removes a directory of writ's with everything in it. Symbolic links are removed, never followed.
 * Directories that their owner may not enter are opened up first. Where that fails, for example because
 * paths are too long for the kernel, programs of the machine remove the rest.
 *
 * Removing a directory that was a mount point a moment ago waits for the kernel, and removing a file for
 * the journal of its disk while another file is synced. `removeTree` therefore waits for several entries
 * at once and leaves its thread free; `removeTreeSync` is for callers that cannot wait.
 *
 * No directory is listed whole: a refused act may leave millions of entries.
 */
import { chmodSync, lstatSync, opendirSync, rmdir, rmdirSync, unlink, unlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { faultError } from '../base/index.ts'
import { Pace } from './pace.ts'
import { requireProgram, runProgram, runProgramNow } from './programs.ts'

/** So many entries wait for the kernel together. */
const AT_ONCE = 16
const SLASH = Buffer.from('/')
/** What removes a tree that calls by path cannot remove. */
const PROGRAMS = [
  ['chmod', '-R', 'u+rwx', '--'],
  ['rm', '-rf', '--'],
] as const

/** Does nothing if there is nothing. */
export async function removeTree(path: string): Promise<void> {
  try {
    const pace = new Pace()
    const going: Promise<void>[] = []
    try {
      for (const { place, isDirectory, hasHeldOthers } of entriesOf(path)) {
        if (hasHeldOthers || going.length === AT_ONCE) await settled(going)
        going.push(quietly(isDirectory ? removeLater(place) : unlinkLater(place)))
        await pace.step()
      }
    } finally {
      await settled(going)
    }
  } catch {
    const words: string[] = []
    for (const [name, ...options] of PROGRAMS) {
      words.push((await runProgram(requireProgram(name), [...options, path])).stderr)
    }
    refuseLeft(path, words)
  }
}

/** Does nothing if there is nothing. */
export function removeTreeSync(path: string): void {
  try {
    for (const { place, isDirectory } of entriesOf(path)) {
      if (isDirectory) rmdirSync(place)
      else unlinkSync(place)
    }
  } catch {
    const words = PROGRAMS.map(([name, ...options]) =>
      runProgramNow(requireProgram(name), [...options, path]).stderr.toString(),
    )
    refuseLeft(path, words)
  }
}

interface Entry {
  readonly place: Buffer
  readonly isDirectory: boolean
  /** Its entries were yielded before it and have to be gone first. */
  readonly hasHeldOthers: boolean
}

/** Yields each directory after everything in it. */
function* entriesOf(path: string): Generator<Entry> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (stats.isDirectory()) yield* entriesBelow(Buffer.from(path))
  else yield { place: Buffer.from(path), isDirectory: false, hasHeldOthers: false }
}

function* entriesBelow(directory: Buffer): Generator<Entry> {
  let hasHeldOthers = false
  if (process.getuid?.() !== 0) openUp(directory)
  // The types know only names that are texts.
  const open = opendirSync(directory as unknown as string, { encoding: 'buffer' as BufferEncoding })
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      // Bytes, as `encoding` says.
      const name = entry.name as unknown as Buffer
      const place = Buffer.concat([directory, SLASH, name])
      hasHeldOthers = true
      if (entry.isDirectory()) yield* entriesBelow(place)
      else yield { place, isDirectory: false, hasHeldOthers: false }
    }
  } finally {
    open.closeSync()
  }
  yield { place: directory, isDirectory: true, hasHeldOthers }
}

function openUp(directory: Buffer): void {
  const { mode } = lstatSync(directory)
  if ((mode & 0o700) !== 0o700) chmodSync(directory, (mode & 0o7777) | 0o700)
}

const removeLater = promisify(rmdir)
const unlinkLater = promisify(unlink)

/** Waits also after a failure, so that the programs do not start while some still run. */
async function settled(going: Promise<void>[]): Promise<void> {
  const all = going.splice(0)
  await Promise.allSettled(all)
  await Promise.all(all)
}

/** A failure is reported by the wait for all of them. */
function quietly(work: Promise<void>): Promise<void> {
  work.catch(() => undefined)
  return work
}

/** What the programs say of missing entries does not count: fails only if something is left. */
function refuseLeft(path: string, words: readonly string[]): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
  throw faultError('sandbox.failed', path, words.join('').split('\n')[0] ?? '')
}
