/**
 * `writ ledger checkpoint`: the newest signed checkpoint of a stream, as a note that other tools read.
 * Kept outside this machine it is an anchor: later histories must extend it.
 */

import { unknownStream } from '../../ledger/index.ts'
import { type Call, EXIT, type Exit, Stop } from '../command.ts'
import { streamToRead, withHistory } from '../home.ts'

export async function run(call: Call): Promise<Exit> {
  return withHistory(call, async (session) => {
    const stream = await streamToRead(session, call)
    const head = await session.ledger.store.head(stream)
    if (head === null) throw new Stop(unknownStream(stream))
    await call.terminal.out(
      call.options.isOn('json')
        ? `${JSON.stringify({ checkpoint: head.checkpoint })}\n`
        : head.checkpoint,
    )
    return EXIT.yes
  })
}
