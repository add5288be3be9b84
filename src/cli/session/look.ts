/** Notes that a person looks at the question of a session, so that no newer one takes its place (S-3). */
import type { KnownHome } from '../../home/index.ts'
import { keptSessions } from '../../sessions/index.ts'

export function noteLook(home: KnownHome, actionId: string): void {
  for (const files of keptSessions(home)) {
    if (files.memory().question?.action_id === actionId) files.lookAt(actionId)
  }
}
