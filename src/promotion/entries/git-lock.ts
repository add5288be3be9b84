/**
 * Git's own lock: while entries of a repository's `.git` change, its `index.lock` is held, so that no
 * git command writes the index at the same time. The file says whose it is; after a crash recovery
 * knows it again and removes it.
 */
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError, fault, showName } from '../../base/index.ts'
import { displayOfRaw, isBelow, joinRaw, type RawPath, rawOfText } from '../../gate/index.ts'
import { errnoOf, isAbsent } from '../../machine/index.ts'
import { lookAt } from './entry.ts'
import type { Ground } from './ground.ts'
import { type ExchangeStep, isInPlace } from './plan.ts'

const INSIDE = '/.git/'
const LOCK = 'index.lock'

/** The lock files to hold: of repositories that are there and that no step moves whole. */
export function gitLocksOf(steps: readonly ExchangeStep[], ground: Ground): RawPath[] {
  const directories = new Set<RawPath>()
  for (const { path } of steps) {
    const end = path.indexOf(INSIDE)
    // The front of a raw path is one, too.
    if (end !== -1) directories.add(path.slice(0, end + INSIDE.length - 1) as RawPath)
  }
  return [...directories]
    .filter((directory) => lookAt(ground.atIfThere(directory))?.kind === 'directory')
    .map((directory) => joinRaw(directory, rawOfText(LOCK)))
    .filter((lock) => !steps.some((step) => !isInPlace(step) && isBelow(lock, step.path)))
}

/** `keep`: a directory of this exchange, where the file is made before it appears. */
export function holdGitLocks(
  locks: readonly RawPath[],
  id: string,
  keep: string,
  ground: Ground,
): void {
  const held: RawPath[] = []
  const made = join(keep, LOCK)
  try {
    if (locks.length > 0) writeFileSync(made, markOf(id), { mode: 0o600 })
    for (const lock of locks) {
      linkSync(made, ground.at(lock))
      held.push(lock)
    }
  } catch (error) {
    releaseGitLocks(held, id, ground)
    if (errnoOf(error) !== 'EEXIST') throw error
    // Linking failed at the lock after those that are held.
    const lock = displayOfRaw(locks[held.length] as RawPath)
    const message = `git is at work: ${showName(lock)} is there`
    const hint = 'wait for the git command to end; remove the file if none is running'
    const details = { paths: [lock], processes: [] }
    throw new FaultError(fault('promote.busy', lock, details, { message, hint }))
  }
}

/** Only what this exchange itself put there. */
export function releaseGitLocks(locks: readonly RawPath[], id: string, ground: Ground): void {
  for (const lock of locks) {
    const address = ground.atIfThere(lock)
    if (address === null) continue
    try {
      const text = readFileSync(address, 'utf8')
      if (text === markOf(id)) unlinkSync(address)
    } catch (error) {
      if (!isAbsent(error)) throw error
    }
  }
}

function markOf(id: string): string {
  return `writ ${id}\n`
}
