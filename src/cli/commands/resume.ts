/** `writ resume`: a human of the whole host ends a halt, with a credential if there is one. */
import { type Call, EXIT, type Exit } from '../command.ts'
import { withGate } from '../gate/open.ts'
import { requireHuman } from '../home.ts'

export async function run(call: Call): Promise<Exit> {
  return withGate(call, async ({ gate, session }) => {
    await requireHuman(session, call, 'resuming')
    const answer = await gate.resume(call.options.text('reason'))
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json') ? `${JSON.stringify(answer)}\n` : `${terminal.paint.good('resumed')}\n`,
    )
    return EXIT.yes
  })
}
