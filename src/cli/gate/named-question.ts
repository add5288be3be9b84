/** The question that `approve` and `deny` name: by its own id, or by that of its action. */
import { fault, showName } from '../../base/index.ts'
import type { Question } from '../../host/index.ts'
import { type Call, Stop } from '../command.ts'
import type { GateSession } from './open.ts'

export function namedId(call: Call): string {
  const [id, ...others] = call.arguments
  if (id !== undefined && id !== '' && others.length === 0) return id
  const message = 'name one question'
  throw new Stop(fault('cli.usage', '', null, { message, hint: '`writ inbox` lists what waits' }))
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
  const message = `no question waits under ${showName(id)}`
  const hint = 'it was answered, or nobody answered in time; `writ inbox` lists what waits'
  throw new Stop(fault('history.unknown', '', null, { message, hint }))
}
