/**
 * What is closed in a sandbox that knows every owner belongs to an owner that this sandbox does not know: an
 * empty file and an empty directory that cover banned paths, and the standard output of a command whose
 * answer counts. The kernel lets no right of the sandbox count on such an entry, so root inside keeps the
 * right to open every file, and opens none of these.
 */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '../../machine/index.ts'
import type { SandboxRequest } from '../driver/driver.ts'
import { spareOwner } from '../driver/owner.ts'
import { CLOSED_DIRECTORY, CLOSED_FILE } from '../layers/mount-lines.ts'

type ClosingRequest = Pick<SandboxRequest, 'allOwners' | 'banned' | 'hasClosedOutput'>

/** Returns whether something is closed to every process inside. */
export function closesAny({ banned = [], hasClosedOutput = false }: ClosingRequest): boolean {
  return banned.length > 0 || hasClosedOutput
}

/**
 * Makes both in the working directory and returns their owner. Null where nothing is closed, or where
 * this process may not give entries away: then root inside goes without the right.
 */
export function makeClosed(request: ClosingRequest, directory: string): number | null {
  const owner = request.allOwners && closesAny(request) ? spareOwner() : null
  if (owner === null) return null
  const [file, folder] = [join(directory, CLOSED_FILE), join(directory, CLOSED_DIRECTORY)]
  writeFileSync(file, '', { mode: 0o000 })
  mkdirSync(folder, { mode: 0o000 })
  try {
    for (const path of [file, folder]) chownSync(path, owner, 0)
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return null
  }
  return owner
}
