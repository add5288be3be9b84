/** Words about sessions: what a settle did, and what is pending. */

import { CODES, isCode } from '../../base/index.ts'
import type { SessionFact } from '../../contracts/index.ts'
import { shortId } from '../../history/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import {
  costText,
  type PendingReason,
  type SessionEnd,
  type SessionFiles,
  type SessionTerms,
  type SessionUse,
  type Settled,
} from '../../sessions/index.ts'
import { counted, countsText, grouped, sizeText, visibleName } from '../../words/index.ts'
import type { Paint } from '../call/terminal.ts'

const SHORT_ID = 8
const PATHS_SHOWN = 3

/** One line for each thing that a person should know; none if nothing happened. */
export function settledLines(settled: Settled, sessionId: string): readonly string[] {
  const { promoted, asked, blocked, stale, answered } = settled
  return [
    ...(answered?.how === 'denied'
      ? ['what was asked about was denied; it stays in the view']
      : []),
    ...(promoted === null ? [] : [promotedLine(promoted)]),
    ...(asked === null ? [] : [askedLine(asked)]),
    ...(blocked === null ? [] : [blockedLine(blocked, sessionId)]),
    ...(stale.length === 0
      ? []
      : [
          `changed outside, and the agent still sees it as it was, because a process of it uses it: ${few(stale)}`,
        ]),
  ]
}

/** Where a settle had nothing to judge, though changes may still wait for something. */
export function nothingNew(sessionId: string, pending: number): string {
  if (pending === 0) return 'nothing new to settle'
  const id = sessionId.slice(-SHORT_ID)
  return `nothing new to settle; ${counted(pending, 'change')} still pending: \`writ session show ${id}\` says why`
}

/** For a person who asked for the settle; a server that writes its log would be named at each other. */
export function busyLines({ busy }: Settled): readonly string[] {
  return busy.length === 0 ? [] : [`left out, because a process writes to it: ${few(busy)}`]
}

function promotedLine(answer: GateAnswer): string {
  const { promoted, result, action_id } = answer
  if (!promoted || result === null) return `not promoted: ${whyNot(answer)}`
  const id = shortId(action_id)
  return `promoted ${countsText(result.diff.counts)} (${id}); take it back with \`writ rollback ${id}\``
}

function askedLine(answer: GateAnswer): string {
  const { pending, result } = answer
  const what = result === null ? 'changes' : countsText(result.diff.counts)
  if (pending === undefined) return `refused ${what}: ${whyNot(answer)}`
  return `${what} wait for an answer: \`writ inbox ${pending.id}\``
}

function blockedLine(answer: GateAnswer, sessionId: string): string {
  const found = (answer.result?.findings ?? []).filter(({ path }) => path !== undefined)
  const [first] = found
  const where = first?.path === undefined ? '' : `: ${visibleName(first.path)}`
  const count = new Set(found.map(({ path }) => path)).size
  const more = count > 1 ? ` and ${count - 1} more` : ''
  const next = `\`writ session show ${sessionId.slice(-SHORT_ID)}\` says what to do`
  return `blocked${where}${more}: ${whyNot(answer)}; ${next}`
}

/** What stood in the way, such as a full disk, or what the code says; then the code. */
function whyNot({ decision, obstacles = [] }: GateAnswer): string {
  const says = isCode(decision.code) ? CODES[decision.code].says : decision.code
  return `${obstacles[0]?.detail ?? says} (${decision.code})`
}

function few(paths: readonly string[]): string {
  const shown = paths.slice(0, PATHS_SHOWN).map(visibleName).join(', ')
  const more = paths.length - PATHS_SHOWN
  return more > 0 ? `${shown} and ${more} more` : shown
}

/** How long a session may run, as the option says it. */
function timeText(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}

type RunEnd = Extract<SessionEnd, { kind: 'ended' }>['outcome']

/** What a person should know about the end of an agent, and what to type next. */
export function endLines(
  { session_id, limits }: SessionTerms,
  { killedBy, backgroundProcesses }: RunEnd,
  hasPending: boolean,
): readonly string[] {
  // Of a session with nothing pending nothing is kept to go on with.
  const again = hasPending
    ? `\`writ run --resume ${session_id.slice(-SHORT_ID)} -- AGENT\``
    : 'a new session: `writ run -- AGENT`'
  const ends = {
    duration: `the session reached its time of ${timeText(limits.seconds)}; go on with ${again}`,
    memory: `the agent itself needed more than ${limits.memory_mb} MB of memory; go on with \`--memory\` and ${again}`,
    disk: `the agent itself wrote more than ${limits.disk_mb} MB into the view, or the disk is nearly full; make room or use \`--disk\`, then ${again}`,
    processes: `the agent itself has too many threads; go on with ${again}`,
    cpu: `the agent used up its computing time; go on with ${again}`,
  }
  const left =
    backgroundProcesses === 1
      ? '1 process that the agent left running was ended'
      : `${backgroundProcesses} processes that the agent left running were ended`
  return [
    ...(killedBy === null ? [] : [ends[killedBy]]),
    ...(backgroundProcesses === 0 ? [] : [left]),
  ]
}

/** What a session used, in a line for its model and one for each host. */
function useLines({ model, network }: SessionUse): readonly string[] {
  const { requests, failures, input_tokens, output_tokens } = model
  const failed = failures === 0 ? '' : ` (${grouped(failures)} failed)`
  const asked = `model: ${counted(requests, 'request')}${failed}, ${grouped(input_tokens)} tokens in, ${grouped(output_tokens)} out${costWords(model)}`
  const hosts = network.map((host) => {
    const counts = (['passed', 'refused', 'failed'] as const)
      .filter((outcome) => host[outcome] > 0)
      .map((outcome) => `${grouped(host[outcome])} ${outcome}`)
    const bytes = `${sizeText(host.bytes_sent)} sent, ${sizeText(host.bytes_received)} received`
    return `network: ${visibleName(host.host)}: ${counts.join(', ')}; ${bytes}`
  })
  return [...(requests === 0 ? [] : [asked]), ...hosts]
}

/** By the prices in the laws; nothing without them. */
function costWords({ cost_micros, unpriced = 0 }: SessionUse['model']): string {
  if (cost_micros === undefined) return ''
  const without =
    unpriced === 0 ? '' : ` and ${counted(unpriced, 'request')} of models without a price`
  return `, cost ${costText(cost_micros)}${without}`
}

interface ShownSession {
  readonly session_id: string
  readonly state: string
  readonly question: string | null
  readonly use: SessionUse
  readonly conflicts: readonly { readonly path: string; readonly detail: string }[]
  readonly stale: readonly string[]
  readonly left: readonly { readonly path: string; readonly detail: string }[]
  readonly pending: readonly {
    readonly path: string
    readonly change: string
    readonly why: PendingReason
  }[]
}

/** What each reason means, and what to type next. */
const NEXT: Readonly<Record<PendingReason, (id: string) => string | null>> = {
  asked: () => 'answer what is asked: `writ inbox`',
  conflict: (id) =>
    `conflict: \`writ session settle ${id} --take PATH\` puts the version of the session in place, \`writ session discard ${id} PATH\` drops it`,
  denied: (id) =>
    `denied: a person said no, so it is asked about again only after the agent changes it; \`writ session discard ${id} PATH\` takes it out of the view`,
  held: () =>
    'held: it lies in a new directory that is not settled itself, or removes one that holds a conflict; solve that first',
  'in use': () => 'in use: a process writes to it; it is judged when the file is closed',
  'not taken': (id) =>
    `not taken: a person took another part of its question; \`writ session settle ${id}\` asks about it`,
  pending: () => null,
  refused: (id) =>
    `refused: it stays out as it is; the agent can change or undo it, or \`writ session discard ${id} PATH\` takes it out of the view`,
}

const LEFT = 'it cannot become real, and stays in the view'

/** More are counted. */
const ROWS_MAX = 200

const HIDDEN = 'changed outside; the agent sees it as it was until its processes let go of it'

/** What is pending in a session, and what to type next. */
export function pendingText(shown: ShownSession, files: SessionFiles, paint: Paint): string {
  const { agent } = files.terms()
  const id = shown.session_id.slice(-SHORT_ID)
  const rows = shown.pending
    .slice(0, ROWS_MAX)
    .map(
      ({ path, change, why }) => `  ${change.padEnd(8)}  ${visibleName(path)}  ${paint.dim(why)}\n`,
    )
  const conflicts = shown.conflicts.map(
    ({ path, detail }) => `  ${paint.bad('conflict')}  ${visibleName(path)}: ${detail}\n`,
  )
  return [
    `${paint.strong(visibleName(agent))}  ${shown.session_id}  ${shown.state}\n`,
    ...useLines(shown.use).map((line) => `${paint.dim(line)}\n`),
    ...(rows.length === 0 ? ['nothing is pending\n'] : rows),
    ...restLines(shown.pending.slice(ROWS_MAX)),
    ...conflicts,
    ...shown.stale.map((path) => `  hidden    ${visibleName(path)}  ${paint.dim(HIDDEN)}\n`),
    ...shown.left.map(
      ({ path, detail }) =>
        `  left out  ${visibleName(path)}  ${paint.dim(`${detail}; ${LEFT}`)}\n`,
    ),
    ...nextLines(shown, id),
    ...(rows.length === 0
      ? []
      : [
          `see the lines with \`writ session diff ${id}\`, judge again with \`writ session settle ${id}\`, take changes back with \`writ session discard ${id} PATH\`\n`,
        ]),
  ].join('')
}

/** How many of the rows that are not shown each kind and reason has. */
function restLines(rest: ShownSession['pending']): readonly string[] {
  const counts = new Map<string, number>()
  for (const { change, why } of rest) {
    const kind = `${change}, ${why}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const kinds = [...counts].map(([kind, count]) => `${grouped(count)} ${kind}`)
  return rest.length === 0 ? [] : [`  and more (--json lists all): ${kinds.join('; ')}\n`]
}

/** One line for each reason that is there. */
function nextLines({ question, pending }: ShownSession, id: string): readonly string[] {
  const reasons = new Set(pending.map(({ why }) => why))
  if (question !== null) reasons.add('asked')
  return [...reasons].flatMap((reason) => NEXT[reason](id) ?? []).map((line) => `${line}\n`)
}

/** A session of which nothing is kept but its facts. */
export function pastText(facts: readonly SessionFact[], paint: Paint): string {
  const started = facts.find(({ event }) => event === 'STARTED')
  const ended = facts.findLast(({ event }) => event === 'ENDED')
  const used = facts.findLast(({ model }) => model !== undefined)
  const { model, network } = used ?? {}
  const how = ended === undefined ? '' : `, ${ended.ended} ${ended.at}`
  const status = ended?.exit_code == null ? '' : ` with status ${ended.exit_code}`
  return [
    `${paint.strong(visibleName(started?.agent ?? ''))}  ${facts[0]?.session_id}  started ${started?.at}${how}${status}\n`,
    ...(model === undefined || network === undefined
      ? []
      : useLines({ model, network }).map((line) => `${line}\n`)),
    `nothing is pending; what it changed: \`writ log\`\n`,
  ].join('')
}
