/** `writ halt` and `writ resume`: everything stops at once, and goes on when a human says so. */
import { invariant } from '../../base/index.ts'
import { type CommandCall, EXIT, type Exit, reply } from '../call/command.ts'
import { refuseOthers, requireHuman, requireWholeHost } from '../call/home.ts'
import { finishedText } from '../gate/interrupted.ts'
import { withGate, withGates } from '../gate/open.ts'

/**
 * `writ halt`: everything stops now. Running commands are killed, approved acts that were
 * interrupted are ended, and nothing is promoted until a human resumes. It needs no passphrase, so that a human can always stop.
 */
export async function halt(call: CommandCall): Promise<Exit> {
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

/** `writ resume`: a human of the whole host ends a halt, with a credential if there is one. */
export async function resume(call: CommandCall): Promise<Exit> {
  return withGate(call, async ({ gate, session }) => {
    requireWholeHost(session.caller, 'resuming')
    await requireHuman(session, call, 'resuming')
    if (!(await gate.isHalted())) {
      const message = 'nothing is halted'
      return reply(call, { ok: true, halted: false }, () => `${message}\n`)
    }
    const answer = await gate.resume(call.options.text('reason'))
    return reply(call, answer, (paint) => `${paint.good('resumed')}\n`)
  })
}
