/**
 * The history of a home whose laws are being changed: whoever writes laws asks what they would do
 * before a human accepts them, so the home is read although its file is not the accepted one.
 */
import { openHistory, openKnownHome, readRegister } from '../../host/index.ts'
import type { Call } from '../command.ts'
import { callerOf, type ReadSession, surroundings } from '../home.ts'

export async function withKnownHistory<T>(
  call: Call,
  work: (session: ReadSession) => Promise<T>,
): Promise<T> {
  const around = surroundings()
  const home = openKnownHome(around, call.options.text('home'))
  const ledger = await openHistory({ directory: home.state })
  try {
    const register = await readRegister({ ledger, state: home.state })
    return await work({ home, ledger, register, caller: callerOf(around, register) })
  } finally {
    await ledger.close()
  }
}
