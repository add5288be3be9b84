/** Words about sessions: what a settle did, and what is pending. */
import { CODES, isCode } from '../../base/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import type { SessionFiles, Settled } from '../../sessions/index.ts'
import type { Paint } from '../call/terminal.ts'
import { countsText } from '../effects/amount.ts'
import { visibleName } from '../effects/visible.ts'

const SHORT_ID = 8
const PATHS_SHOWN = 3

/** One line for each thing that a person should know; none if nothing happened. */
export function settledLines(settled: Settled): readonly string[] {
  const { promoted, asked, blocked, stale, answered } = settled
  return [
    ...(answered === 'denied' ? ['what was asked about was denied; it stays in the view'] : []),
    ...(promoted === null ? [] : [promotedLine(promoted)]),
    ...(asked === null ? [] : [askedLine(asked)]),
    ...(blocked === null ? [] : blockedLines(blocked)),
    ...(stale.length === 0 ? [] : [`still shown as it was, because it is in use: ${few(stale)}`]),
  ]
}

function promotedLine({ promoted, result, action_id, decision }: GateAnswer): string {
  if (!promoted || result === null) return `not promoted (${decision.code})`
  const id = action_id.slice(-SHORT_ID)
  return `promoted ${countsText(result.diff.counts)} (${id}); take it back with \`writ undo ${id}\``
}

function askedLine({ pending, decision, result }: GateAnswer): string {
  const what = result === null ? 'changes' : countsText(result.diff.counts)
  if (pending === undefined) return `refused ${what} (${decision.code})`
  return `${what} wait for an answer: \`writ inbox ${pending.id}\``
}

function blockedLines({ decision, result }: GateAnswer): readonly string[] {
  const found = (result?.findings ?? []).filter(({ path }) => path !== undefined)
  const [first] = found
  const says = isCode(decision.code) ? CODES[decision.code].says : decision.code
  const where = first?.path === undefined ? '' : `: ${visibleName(first.path)}`
  const more = found.length > 1 ? ` and ${found.length - 1} more` : ''
  return [`blocked${where}${more}: ${says} (${decision.code})`]
}

function few(paths: readonly string[]): string {
  const shown = paths.slice(0, PATHS_SHOWN).map(visibleName).join(', ')
  const more = paths.length - PATHS_SHOWN
  return more > 0 ? `${shown} and ${more} more` : shown
}

interface ShownSession {
  readonly session_id: string
  readonly state: string
  readonly question: string | null
  readonly conflicts: readonly { readonly path: string; readonly detail: string }[]
  readonly pending: readonly {
    readonly path: string
    readonly change: string
    readonly why: string
  }[]
}

/** What is pending in a session, and what to type next. */
export function pendingText(shown: ShownSession, files: SessionFiles, paint: Paint): string {
  const { agent } = files.terms()
  const id = shown.session_id.slice(-SHORT_ID)
  const rows = shown.pending.map(
    ({ path, change, why }) => `  ${change.padEnd(8)}  ${visibleName(path)}  ${paint.dim(why)}\n`,
  )
  const conflicts = shown.conflicts.map(
    ({ path, detail }) => `  ${paint.bad('conflict')}  ${visibleName(path)}: ${detail}\n`,
  )
  return [
    `${paint.strong(visibleName(agent))}  ${shown.session_id}  ${shown.state}\n`,
    ...(rows.length === 0 ? ['nothing is pending\n'] : rows),
    ...conflicts,
    ...(shown.question === null ? [] : [`answer what is asked: \`writ inbox\`\n`]),
    ...(rows.length === 0
      ? []
      : [
          `see the lines with \`writ session diff ${id}\`, judge again with \`writ session settle ${id}\`, take changes back with \`writ session discard ${id} PATH\`\n`,
        ]),
  ].join('')
}
