/** Where an action was decided: what a human says about it belongs to the same stream. */
import { invariant } from '../../base/index.ts'
import { wholeActionId } from '../history/short-id.ts'
import type { GateSession } from './open.ts'

/** The whole id of an action that is named by a beginning of it. */
export async function wholeIdOf(sessions: readonly GateSession[], text: string): Promise<string> {
  const [own] = sessions
  invariant(own !== undefined, 'a caller has a stream')
  const streams = sessions.map(({ stream }) => stream)
  return wholeActionId(own.session.ledger, streams, text)
}

/** The gate over the stream in which an action was decided; the caller's own for all else. */
export async function deciderOf(
  sessions: readonly GateSession[],
  action: string | null,
): Promise<GateSession> {
  const [own] = sessions
  invariant(own !== undefined, 'a caller has a stream')
  if (action === null) return own
  for (const session of sessions) {
    const { store } = session.session.ledger
    const { stream } = session
    const query = {
      stream,
      type: 'evaluation_v1',
      action,
      limit: 1,
      order: 'newest_first',
    } as const
    if ((await store.find(query)).facts.length > 0) return session
  }
  return own
}
