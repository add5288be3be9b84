/** `writ halt` and `writ resume`: everything stops at once, and goes on when a human says so. */
import { FaultError, invariant } from '../../base/index.ts'
import { openHome } from '../../home/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { raiseHalt } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit, reply } from '../call/command.ts'
import { refuseOthers, requireHuman, requireWholeHost } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { finishedText } from '../gate/interrupted.ts'
import { withGate, withGates } from '../gate/open.ts'

/**
 * `writ halt`: everything stops now. Running commands are killed, approved acts that were
 * interrupted are ended, and nothing is promoted until a human resumes. It needs no passphrase, so that a human can always stop.
 */
export async function halt(call: CommandCall): Promise<Exit> {
  // Before the ledger is opened: its server may be away, or take its time.
  const isRaised = raiseHere(call)
  let isRecorded = false
  try {
    return await withGates(call, async (sessions) => {
      const [own] = sessions
      invariant(own !== undefined, 'a caller has a stream')
      refuseOthers(own.session.caller, 'halting')
      const answer = await own.gate.halt(call.options.text('reason'))
      isRecorded = true
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
  } catch (error) {
    throw isRaised && !isRecorded ? unrecorded(error) : error
  }
}

/** Halts this machine. The bearer of a token is known only to the ledger. */
function raiseHere({ options }: CommandCall): boolean {
  const around = surroundings()
  if (around.env['WRIT_TOKEN'] !== undefined) return false
  const { state } = openHome(around, options.text('home'))
  try {
    raiseHalt(state, occurredAtText(Date.now()))
    return true
  } catch {
    // A disk that is full, or a state directory that is gone: the ledger says so.
    return false
  }
}

function unrecorded(error: unknown): unknown {
  if (!(error instanceof FaultError)) return error
  const { fault } = error
  const message = `this machine is halted, but the fact could not be recorded: ${fault.message}`
  const again =
    'other machines go on until it is recorded: type `writ halt` again when that is mended'
  const hint = fault.hint === undefined ? again : `${fault.hint}; ${again}`
  return new FaultError({ ...fault, message, hint }, { cause: error })
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
