/**
 * `writ halt`: everything stops now. Running commands are killed and nothing is promoted until a
 * human resumes. It needs no passphrase, so that a human can always stop.
 */
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { withGate } from '../gate/open.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withGate(call, async ({ gate, session }) => {
    refuseOthers(session.caller, 'halting')
    const answer = await gate.halt(call.options.text('reason'))
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify(answer)}\n`
        : `${terminal.paint.bad('halted')}  nothing runs or is promoted until \`writ resume\`\n`,
    )
    return EXIT.yes
  })
}
