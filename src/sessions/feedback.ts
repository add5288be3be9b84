/**
 * The line that an agent gets after a settle (S-6): it says what was promoted, what waits, and what
 * was blocked with the reason and what to do, so that the model can correct itself.
 */
import { CODES, isCode } from '../base/index.ts'
import type { GateAnswer } from '../service/index.ts'
import type { Settled } from './settle.ts'

const PATHS_SHOWN = 5

/** Null if there is nothing that the agent should know. */
export function feedbackOf({ asked, blocked, answered, stale }: Settled): string | null {
  const parts = [
    ...(answered === 'denied' ? ['A person denied the changes that were waiting; undo them.'] : []),
    ...(asked === null ? [] : [askedText(asked)]),
    ...(blocked === null ? [] : [blockedText(blocked)]),
    ...(stale.length === 0 ? [] : [`Read again, it changed outside: ${few(stale)}.`]),
  ]
  return parts.length === 0 ? null : `writ: ${parts.join(' ')}`
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
  return `Blocked, ${why} (${decision.code}): ${where}. Undo this change; the rest can go on.`
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
