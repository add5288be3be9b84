/** `writ ledger rotate`: a new key signs from now on; each stream gets a fact that says so. */

import { formatVerifierKey } from '../../ledger/index.ts'
import { publicKeyOf } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { actorOf, requireHuman, withHome } from '../call/home.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'rotating the key')
    const key = await session.ledger.rotateKey(actorOf(session))
    const streams = await session.ledger.store.streams()
    const public_key = formatVerifierKey(publicKeyOf(key, `writ/${session.home.id}`))
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ public_key, streams })}\n`
        : `${terminal.paint.good('rotated')}  ${streams.length} streams\n  ${public_key}\n`,
    )
    return EXIT.yes
  })
}
