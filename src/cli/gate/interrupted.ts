/** Released runs that were interrupted: what may have been sent, for `inbox` and `recover`. */
import type { InterruptedRun } from '../../gate/index.ts'
import { readAct } from '../../history/index.ts'
import type { FinishedYes, ResolvedRecovery } from '../../service/index.ts'
import { counted } from '../../words/index.ts'
import type { Terminal } from '../call/terminal.ts'
import { titleOf } from '../history/act-text.ts'
import { plain } from '../history/text.ts'
import { deciderOf } from './named-question.ts'
import type { GateSession } from './open.ts'

interface ShownInterruption {
  readonly action_id: string
  readonly code: 'request.unknown'
  readonly hosts: readonly string[]
  readonly methods: readonly string[]
  readonly found_at: string
}

export async function interruptionsOf(
  sessions: readonly Pick<GateSession, 'gate'>[],
): Promise<readonly ShownInterruption[]> {
  const found: InterruptedRun[] = []
  for (const { gate } of sessions) found.push(...(await gate.interrupted()))
  return found.map(({ actionId, hosts, methods, foundMs }) => ({
    action_id: actionId,
    code: 'request.unknown',
    hosts,
    methods,
    found_at: new Date(foundMs).toISOString(),
  }))
}

/** One line each. */
export function interruptionText(
  { action_id, hosts, methods }: ShownInterruption,
  { paint }: Terminal,
): string {
  const what = `${methods.map(plain).join(', ')} to ${hosts.map(plain).join(', ')}`
  const advice = 'look there, nothing is sent again by itself'
  return `${paint.bad('interrupted')}  ${plain(action_id)}: ${what} may have been sent; ${advice}\n`
}

/** Says which approved acts were interrupted and are not ended yet; empty for none. */
export async function unfinishedText(
  sessions: readonly Pick<GateSession, 'gate'>[],
  { paint }: Pick<Terminal, 'paint'>,
): Promise<string> {
  const ids: string[] = []
  for (const { gate } of sessions) ids.push(...(await gate.unfinished()))
  const words = 'approved before and interrupted, not carried out yet; `writ recover` ends it'
  const more = 'after a halt: `writ resume` first'
  return ids.map((id) => `${paint.bad('interrupted')}  ${plain(id)}: ${words} (${more})\n`).join('')
}

/** With what the act does, in one line; absent where that is not known. */
type Shown<Ended> = Ended & { readonly command?: string }

/** Returns the one line that `writ log` shows for an act; null where none is known. */
export async function commandOf(
  sessions: readonly GateSession[],
  actionId: string,
): Promise<string | null> {
  const { session, stream } = await deciderOf(sessions, actionId)
  const act = await readAct(session.ledger, stream, actionId, new Map())
  return act?.proposal == null ? null : titleOf(act)
}

export async function withCommands(
  sessions: readonly GateSession[],
  finished: readonly FinishedYes[],
): Promise<readonly Shown<FinishedYes>[]> {
  const shown: Shown<FinishedYes>[] = []
  for (const one of finished) {
    const command = await commandOf(sessions, one.action_id)
    shown.push(command === null ? one : { ...one, command })
  }
  return shown
}

/** An act that a crash had interrupted: what became of it, and what to type next. */
export function finishedText(
  { action_id, approved, promoted, undone, paths = 0, command, code }: Shown<FinishedYes>,
  { paint }: Pick<Terminal, 'paint'>,
): string {
  const id = plain(action_id)
  const what = command === undefined ? '' : `${command}: `
  const before = approved ? 'approved before' : 'begun before'
  const count = counted(paths, 'path')
  if (undone === true) {
    return `${paint.good('restored')}  ${id}: ${what}its undo was interrupted and is complete now: ${count}\n`
  }
  if (code === 'request.unknown') {
    return `${paint.bad('unknown')}  ${id}: ${what}${before}, and interrupted while its request was sent: look where it goes whether it arrived, before you propose it again; \`writ show ${id}\` shows it\n`
  }
  if (promoted) {
    return `${paint.good('promoted')}  ${id}: ${what}${before}, interrupted, and carried out now: ${count}; \`writ rollback ${id}\` takes it back\n`
  }
  return `${paint.bad('not promoted')}  ${id}: ${what}${before} and interrupted; nothing was changed (${plain(code ?? '')}). Run or propose it again\n`
}

/** What a person's choice ended, and how much that changed. */
export function resolvedText(
  { id, kind, direction, paths, chosen, command }: Shown<ResolvedRecovery>,
  { paint }: Pick<Terminal, 'paint'>,
): string {
  const isBack = direction === 'revert'
  const word = isBack ? paint.accent('put back') : paint.good('completed')
  const name = kind === 'rollback' ? 'an interrupted undo: ' : ''
  const what = command === undefined ? name : `${command}: `
  const done = isBack ? 'put back as before' : 'put in place'
  const rest = chosen === 0 ? '' : `, ${counted(chosen, 'path')} as you chose`
  return `${word}  ${plain(id)}: ${what}${counted(paths, 'path')} ${done}${rest}; no other act was touched\n`
}
