/**
 * Setting a history aside: `writ init --new` begins another one in the directory of a home that is
 * registered. Passphrase, laws, blocks and undo of the old one no longer hold there, so that it needs the
 * same proof as `writ home remove`, and the old ledger says that it happened.
 */
import { FaultError } from '../../base/index.ts'
import { knownHomeOf, type ListedHome, readRegister } from '../../home/index.ts'
import { openHistory } from '../../store/index.ts'
import type { CommandCall } from '../call/command.ts'
import { callerOf, requireHuman, withLedger } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { withGatesOf } from './open.ts'

const WHAT = 'setting aside the history of this directory'
const REASON = 'set aside: `writ init --new` began another history in this directory'

/** Fails unless the caller proves to be a human of the home. Reads only, so that a lost key is no bar. */
export async function releaseHome(call: CommandCall, listed: ListedHome): Promise<void> {
  const home = knownHomeOf(listed)
  const ledger = await ifThere(() => openHistory({ directory: home.state }))
  // A history that is lost knows no people and keeps nothing that could be set aside.
  if (ledger === null) return
  try {
    const register = await readRegister({ ledger, state: home.state })
    const session = { home, ledger, register, caller: callerOf(surroundings(), register, null) }
    await requireHuman(session, call, WHAT)
  } finally {
    await ledger.close()
  }
}

/** Halts the old history: `writ trust` takes it up again, and `writ resume` lets it go on. */
export async function recordSetAside(call: CommandCall, listed: ListedHome): Promise<void> {
  const home = knownHomeOf(listed)
  await ifThere(() =>
    withLedger(home, async (ledger, register) => {
      const session = { home, ledger, register, caller: callerOf(surroundings(), register, null) }
      await withGatesOf(call, session, async ([own]) => own?.gate.halt(REASON))
    }),
  )
}

/** What makes a ledger one that cannot be read or added to any more. */
const LOST = new Set(['ledger.missing', 'ledger.corrupt', 'ledger.key_missing'])

async function ifThere<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FaultError && LOST.has(error.fault.code)) return null
    throw error
  }
}
