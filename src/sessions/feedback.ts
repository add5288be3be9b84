/**
 * The line that an agent gets after a settle (S-6): it says what was promoted, what waits, and what
 * was blocked with the reason and what to do, so that the model can correct itself.
 */
import { CODES, digestBytes, isCode } from '../base/index.ts'
import { rawOfText } from '../gate/index.ts'
import { readPlainFile } from '../machine/index.ts'
import type { GateAnswer } from '../service/index.ts'
import type { Settler } from './settle.ts'
import type { Settled } from './settled.ts'

const PATHS_SHOWN = 5
const BYTES_MAX = 64 * 1024 * 1024

/** Null if there is nothing that the agent should know. */
export function feedbackOf({ asked, blocked, answered, stale }: Settled): string | null {
  const parts = [
    ...laterWords({ answered, stale }).map((words) => `${words}.`),
    ...(asked === null ? [] : [askedText(asked)]),
    ...(blocked === null ? [] : [blockedText(blocked)]),
  ]
  return parts.length === 0 ? null : `writ: ${parts.join(' ')}`
}

/** What the agent hears at its next report if it was found between two. Full stops are the caller's. */
export function laterWords({
  answered,
  stale,
}: Pick<Settled, 'answered' | 'stale'>): readonly string[] {
  return [
    ...(answered?.how === 'denied' ? [deniedWords(answered)] : []),
    ...(stale.length === 0
      ? []
      : [
          `Changed outside, but you still see it as it was, because a process of yours uses it or works in its directory: ${few(stale)}. End that process or leave the directory, then look again`,
        ]),
  ]
}

/** What a person denied, with their reason. */
function deniedWords({ paths, reason }: NonNullable<Settled['answered']>): string {
  const why = reason === null ? '' : ` Their reason: ${JSON.stringify(reason)}.`
  return `A person denied these changes: ${few(paths)}.${why} Undo them`
}

function askedText({ pending, result, decision }: GateAnswer): string {
  const paths = few(pathsOf(result))
  if (pending === undefined) return `Refused (${decision.code}): ${paths}.`
  return `Waiting for a person's approval, not real yet: ${paths}. Go on with other work.`
}

function blockedText({ decision, result }: GateAnswer): string {
  const why = isCode(decision.code) ? CODES[decision.code].says : decision.code
  const found = (result?.findings ?? []).flatMap(({ path, detail }) =>
    path === undefined ? [] : [detail === undefined ? path : `${path} (${detail})`],
  )
  const where = found.length === 0 ? few(pathsOf(result)) : few(found)
  const isConflict = decision.code === 'session.conflict'
  const next = isConflict
    ? 'Until then only this file waits'
    : 'Undo this change; the rest can go on'
  return `Blocked, ${why} (${decision.code}): ${where}. ${next}.`
}

function pathsOf(result: GateAnswer['result']): readonly string[] {
  const { deleted = [], modified = [], added = [] } = result?.diff ?? {}
  return [...deleted, ...modified, ...added].map(({ path }) => path)
}

function few(paths: readonly string[]): string {
  const shown = paths.slice(0, PATHS_SHOWN).map((path) => JSON.stringify(path).slice(1, -1))
  const more = paths.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

/**
 * Returns the real version of a file in conflict (S-10). Fails with words for the agent if there is nothing to read. No link on the
 * way is followed.
 */
export function realVersion(path: string, settler: Settler | null): Uint8Array {
  const isKnown = settler?.isConflict(rawOfText(path)) === true
  if (!isKnown) throw new Error(`${path} is in no conflict: read the file itself`)
  const bytes = readPlainFile('/', path, BYTES_MAX)
  settler.noteRead(rawOfText(path), bytes === null ? 'nothing' : digestBytes(bytes))
  if (bytes === null) throw new Error(`${path} was removed from the real tree`)
  return bytes
}
