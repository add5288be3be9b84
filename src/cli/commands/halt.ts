/**
 * `writ halt`: everything stops now. Running commands are killed, approved acts that were
 * interrupted are ended, and nothing is promoted until a human resumes. It needs no passphrase, so that a human can always stop.
 */
import { invariant } from '../../base/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { finishedText } from '../gate/interrupted.ts'
import { withGates } from '../gate/open.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withGates(call, async (sessions) => {
    const [own] = sessions
    invariant(own !== undefined, 'a caller has a stream')
    refuseOthers(own.session.caller, 'halting')
    const answer = await own.gate.halt(call.options.text('reason'))
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify(answer)}\n`
        : `${terminal.paint.bad('halted')}  nothing runs or is promoted until \`writ resume\`\n`,
    )
    for (const { gate } of sessions) {
      await gate.endUnfinished()
      for (const one of await gate.finished()) {
        terminal.err(finishedText(one, { paint: terminal.paintError }))
      }
    }
    return EXIT.yes
  })
}
