/** Notes that a person looks at the question of a session, so that no newer one takes its place (S-3). */
import type { KnownHome } from '../../home/index.ts'
import { keptSessions } from '../../sessions/index.ts'
import type { GateSession } from '../gate/open.ts'

export function noteLook({ session }: GateSession, actionId: string): void {
  if (session.caller.principal.kind !== 'human') return
  // A gate is opened over a known home.
  for (const files of keptSessions(session.home as KnownHome)) {
    if (files.memory().question?.action_id === actionId) files.lookAt(actionId)
  }
}
