/** Released runs that were interrupted: what may have been sent, for `inbox` and `recover`. */
import type { InterruptedRun } from '../../gate/index.ts'
import type { FinishedYes } from '../../service/index.ts'
import type { Terminal } from '../call/terminal.ts'
import { plain } from '../history/text.ts'
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

/** An act that a crash had interrupted: what became of it, and what to type next. */
export function finishedText(
  { action_id, approved, promoted, code }: FinishedYes,
  { paint }: Pick<Terminal, 'paint'>,
): string {
  const id = plain(action_id)
  const before = approved ? 'approved before' : 'begun before'
  if (promoted) {
    return `${paint.good('promoted')}  ${id}: ${before}, interrupted, and carried out now; \`writ rollback ${id}\` takes it back\n`
  }
  return `${paint.bad('not promoted')}  ${id}: ${before} and interrupted; nothing was changed (${plain(code ?? '')}). Run or propose it again\n`
}
