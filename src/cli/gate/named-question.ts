/** The question that `approve` and `deny` name: by its own id, or by that of its action. */
import { fault, showName } from '../../base/index.ts'
import type { GateSurface, Question } from '../../host/index.ts'
import { type Call, Stop } from '../command.ts'

export function namedId(call: Call, what: string): string {
  const [id, ...others] = call.arguments
  if (id !== undefined && id !== '' && others.length === 0) return id
  const message = `name one ${what}`
  throw new Stop(fault('cli.usage', '', null, { message, hint: '`writ inbox` lists what waits' }))
}

export async function openQuestion(gate: GateSurface, id: string): Promise<Question> {
  const question = await gate.question(id)
  if (question !== null) return question
  const message = `no question waits under ${showName(id)}`
  const hint = 'it was answered, or nobody answered in time; `writ inbox` lists what waits'
  throw new Stop(fault('history.unknown', '', null, { message, hint }))
}
