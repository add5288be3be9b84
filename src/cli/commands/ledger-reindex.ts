/** `writ ledger reindex`: makes the query index again from the facts. */
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { requireWholeHost, withHome } from '../call/home.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHome(call, async ({ ledger, caller }) => {
    requireWholeHost(caller, 'making the index again')
    await ledger.store.reindex()
    const streams = await ledger.store.streams()
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ streams })}\n`
        : `${terminal.paint.good('indexed')}  ${streams.join(', ')}\n`,
    )
    return EXIT.yes
  })
}
