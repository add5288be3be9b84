/**
 * `writ ledger checkpoint`: a signed checkpoint of all streams of the home, as a note that other tools
 * read; with `--stream`, the newest one of that stream alone. Kept outside this machine it is an
 * anchor: later histories must extend it.
 */

import { join } from 'node:path'
import { FaultError } from '../../base/index.ts'
import { unknownStream } from '../../ledger/index.ts'
import { openKeys, signHome } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { type ReadSession, streamToRead, withHistory } from '../call/home.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const checkpoint = await checkpointOf(session, call)
    await call.terminal.out(
      call.options.isOn('json') ? `${JSON.stringify({ checkpoint })}\n` : checkpoint,
    )
    return EXIT.yes
  })
}

/** Callers of single streams get the checkpoint of their own: they must not learn of the others. */
async function checkpointOf(session: ReadSession, call: CommandCall): Promise<string> {
  const { ledger, caller, home } = session
  if (call.options.text('stream') === null && caller.streams === null) {
    return signHome(ledger.store, openKeys(join(home.state, 'keys')))
  }
  const stream = await streamToRead(session, call)
  const head = await ledger.store.head(stream)
  if (head === null) throw new FaultError(unknownStream(stream))
  return head.checkpoint
}
