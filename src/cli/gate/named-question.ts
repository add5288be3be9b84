/** The question that `approve` and `deny` name: by its own id, or by that of its action. */
import { FaultError, fault, showName } from '../../base/index.ts'
import type { InboxQuestion, Question } from '../../service/index.ts'
import type { CommandCall } from '../call/command.ts'
import { wholeIdOf } from './decider.ts'
import type { GateSession } from './open.ts'

export function namedId(call: CommandCall): string {
  const [id, ...others] = call.arguments
  if (id !== undefined && id !== '' && others.length === 0) return id
  const message = 'name one question'
  throw new FaultError(
    fault('cli.usage', '', null, { message, hint: '`writ inbox` lists what waits' }),
  )
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
  throw new FaultError(fault('history.unknown', '', null, { message, hint }))
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
