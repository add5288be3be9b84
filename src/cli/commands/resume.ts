/** `writ resume`: a human of the whole host ends a halt, with a credential if there is one. */
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { requireHuman, requireWholeHost } from '../call/home.ts'
import { withGate } from '../gate/open.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withGate(call, async ({ gate, session }) => {
    const { terminal, options } = call
    requireWholeHost(session.caller, 'resuming')
    await requireHuman(session, call, 'resuming')
    if (!(await gate.isHalted())) {
      const message = 'nothing is halted'
      await terminal.out(
        options.isOn('json') ? `${JSON.stringify({ ok: true, halted: false })}\n` : `${message}\n`,
      )
      return EXIT.yes
    }
    const answer = await gate.resume(call.options.text('reason'))
    await terminal.out(
      options.isOn('json') ? `${JSON.stringify(answer)}\n` : `${terminal.paint.good('resumed')}\n`,
    )
    return EXIT.yes
  })
}
