/**
 * Attempts: directories for displaced entries whose exchange has changed nothing yet. Until the intent
 * is durable, such a directory holds only files that writ writes there for itself, so a process that
 * dies before that leaves no entry of a user in it.
 */
import { readdirSync } from 'node:fs'
import { errnoOf } from '../../machine/index.ts'
import { AFTER_TIMES, type Exchange, PLAN, planLines } from './exchange.ts'
import { SHARED_FILES } from './shared-directory.ts'

/** The name of the file by which a promotion tries whether the filesystem has hard links. */
export const PROBE = 'probe'

const BEFORE_INTENT: ReadonlySet<string> = new Set([PLAN, PROBE, 'index.lock', ...SHARED_FILES])
const HALF_WRITTEN = /^(.+)\.[0-9a-f]+\.tmp$/

/** Whether writ wrote the file for itself before the first change. */
function isBeforeIntent(name: string): boolean {
  return BEFORE_INTENT.has(HALF_WRITTEN.exec(name)?.[1] ?? name)
}

/** Whether the file is writ's own and holds nothing that was displaced. */
export function isOwnFile(name: string): boolean {
  return name === AFTER_TIMES || isBeforeIntent(name)
}

/**
 * Returns true if the directory holds only what writ writes before the first change. An act that only
 * made new files looks the same if its times were not kept: the ledger tells the two apart.
 */
export function isAttempt(keep: string): boolean {
  return namesIfThere(keep)?.every(isBeforeIntent) ?? false
}

/** Returns null where there is no such directory. */
export function namesIfThere(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

/** Returns the head of a plan; null without a plan, or with one that was never written whole. */
export function readHead(keep: string): Omit<Exchange, 'parts'> | null {
  try {
    for (const line of planLines(keep)) return 'head' in line ? line.head : null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return null
}
