/** What keeps schedules from running, as `schedule list`, `inbox` and `doctor` show it. */
import { SYSTEM_CLOCK } from '../../machine/index.ts'
import { readSchedules, type ScheduleTrouble, troublesOf } from '../../schedules/index.ts'
import type { Paint } from '../call/terminal.ts'
import type { GateSession } from '../gate/open.ts'
import { plain } from '../history/text.ts'

export async function troublesIn(
  sessions: readonly GateSession[],
): Promise<readonly ScheduleTrouble[]> {
  const found: ScheduleTrouble[] = []
  for (const { session, stream } of sessions) {
    const { home, ledger } = session
    const place = { home, ledger, stream, clock: SYSTEM_CLOCK }
    for (const one of await readSchedules(place)) found.push(...(await troublesOf(place, one)))
  }
  return found
}

export function troublesText(troubles: readonly ScheduleTrouble[], paint: Paint): string {
  return troubles
    .map(({ name, says, code, next }) => {
      const after = code === undefined ? '' : ` ${paint.dim(code)}`
      const head = `${paint.bad('schedule')}  ${paint.strong(name)}: ${plain(says)}${after}\n`
      return `${head}${next.map((command) => `  ${plain(command)}\n`).join('')}`
    })
    .join('')
}
