/** The run that a command names: whole, by a part of its id that no other has, or the newest. */
import { findRun, type RunHead } from '../../runs/index.ts'
import type { CommandCall } from '../call/command.ts'
import { type ReadSession, streamToRead } from '../call/home.ts'

export async function namedRun(
  session: ReadSession,
  call: CommandCall,
): Promise<{ readonly head: RunHead; readonly stream: string }> {
  const stream = await streamToRead(session, call)
  const head = await findRun(session.ledger, stream, call.arguments[0] ?? null)
  return { head, stream }
}
