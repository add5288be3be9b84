/**
 * The question that `approve` and `deny` name: by its own id, or by that of its action.
 *
 * Where an action was decided: what a human says about it belongs to the same stream.
 */

import { FaultError, fault, faultError, invariant, showName } from '../../base/index.ts'
import { wholeActionId } from '../../history/index.ts'
import type { InboxQuestion, Question } from '../../service/index.ts'
import { type CommandCall, usageError } from '../call/command.ts'
import type { GateSession } from './open.ts'

export function namedId(call: CommandCall): string {
  const [id, ...others] = call.arguments
  if (id !== undefined && id !== '' && others.length === 0) return id
  throw usageError('name one question', '`writ inbox` lists what waits')
}

export interface FoundQuestion {
  /** With the gate over the stream in which it waits. */
  readonly session: GateSession
  readonly question: Question
}

export async function findQuestion(
  sessions: readonly GateSession[],
  id: string,
): Promise<FoundQuestion> {
  for (const session of sessions) {
    const question = await session.gate.question(id)
    if (question !== null) return { session, question }
  }
  const lost = await findLost(sessions, id)
  if (lost !== null) {
    const { code, message } = lost.problem
    throw new FaultError(fault(code, id, null, { message, hint: `writ deny ${lost.id}` }))
  }
  await refuseEnded(sessions, id)
  const message = `no question has the id ${showName(id)}`
  const hint = '`writ inbox` lists what waits, `writ log` what was done'
  throw faultError('history.unknown', '', message, hint)
}

/** Fails with what became of a question that was answered, expired or superseded. */
async function refuseEnded(sessions: readonly GateSession[], id: string): Promise<void> {
  const actionId = await wholeIdOf(sessions, id)
  for (const { gate } of sessions) {
    const ended = await gate.ended(actionId)
    if (ended !== null) throw new FaultError(ended)
  }
}

export interface LostQuestion {
  readonly session: GateSession
  readonly id: string
  readonly problem: NonNullable<InboxQuestion['problem']>
}

/** A question that waits and can only be denied; null when none does under this name. */
export async function findLost(
  sessions: readonly GateSession[],
  id: string,
): Promise<LostQuestion | null> {
  const wanted = id.toLowerCase()
  for (const session of sessions) {
    for (const { id: own, action_id, problem } of await session.gate.pending()) {
      const isNamed = own.startsWith(wanted) || action_id.toLowerCase() === wanted
      if (isNamed && problem !== undefined) return { session, id: own, problem }
    }
  }
  return null
}

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
