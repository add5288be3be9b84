/** What the service knows of messages to people (N-1): whether there are ways, and what did not arrive. */
import { HOST_STREAM, MAIN_STREAM } from '../ledger/index.ts'
import { undelivered } from '../notifications/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import { callerOf } from './who.ts'

async function localCaller(home: HostedHome, userName: string) {
  return callerOf(await home.register(), { authorization: undefined, isLocal: true }, userName)
}

/** Whether the settings name a way to tell people. */
export async function hasWays(home: HostedHome, userName: string): Promise<boolean> {
  const caller = await localCaller(home, userName)
  return home.withGate(caller, MAIN_STREAM, async (gate) => gate.notify.ways.length > 0)
}

/** How many open questions some way has not told people of. */
export async function undeliveredQuestions(home: HostedHome, userName: string): Promise<number> {
  const caller = await localCaller(home, userName)
  const { ledger } = home
  let count = 0
  for (const { stream } of await ledger.store.heads()) {
    if (stream === HOST_STREAM) continue
    count += await home.withGate(caller, stream, (gate) => undelivered({ gate, ledger, stream }))
  }
  return count
}
