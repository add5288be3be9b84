/** `writ halt` and `writ resume`: everything stops at once, and goes on when a human says so. */
import { FaultError, faultCode, invariant } from '../../base/index.ts'
import { openHome } from '../../home/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { isHalted, liftHalt, raiseHalt } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit, reply } from '../call/command.ts'
import { refuseOthers, requireHuman, requireWholeHost, withHome } from '../call/home.ts'
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
  const isAlone = UNRECORDABLE.has(error.fault.code)
  const lifted = isAlone ? '`writ resume` lifts' : 'from then on `writ resume` lifts'
  return toldMore(
    error,
    'this machine is halted, but the fact could not be recorded',
    `other machines go on until it is recorded: type \`writ halt\` again when that is mended; ${lifted} the halt of this machine`,
  )
}

function toldMore(error: FaultError, what: string, next: string): FaultError {
  const { fault } = error
  const message = `${what}: ${fault.message}`
  const hint = fault.hint === undefined ? next : `${fault.hint}; ${next}`
  return new FaultError({ ...fault, message, hint }, { cause: error })
}

/** `writ resume`: a human of the whole host ends a halt, with a credential if there is one. */
export async function resume(call: CommandCall): Promise<Exit> {
  try {
    return await resumeAll(call)
  } catch (error) {
    if (!UNRECORDABLE.has(faultCode(error) ?? '')) throw stillHalted(call, error)
    return resumeHere(call, error)
  }
}

/** A halt may be on the record, so this machine goes on only once the ledger has said so. */
function stillHalted({ options }: CommandCall, error: unknown): unknown {
  if (!(error instanceof FaultError) || !error.fault.code.startsWith('ledger.')) return error
  if (!isHalted(openHome(surroundings(), options.text('home')).state)) return error
  return toldMore(
    error,
    'this machine stays halted',
    'type `writ resume` again when that is mended: it lifts the halt of this machine',
  )
}

async function resumeAll(call: CommandCall): Promise<Exit> {
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

/** A machine that was not let into the home, or was removed, halts and goes on by itself alone. */
const UNRECORDABLE: ReadonlySet<string> = new Set(['machine.unknown', 'machine.removed'])

async function resumeHere(call: CommandCall, refused: unknown): Promise<Exit> {
  return withHome(call, async (session) => {
    requireWholeHost(session.caller, 'resuming')
    await requireHuman(session, call, 'resuming')
    const { state } = session.home
    if (!isHalted(state)) throw refused
    liftHalt(state)
    const words = 'on this machine alone, which records nothing; a halt on the record holds'
    return reply(call, { ok: true, seq: null }, (paint) => `${paint.good('resumed')}  ${words}\n`)
  })
}
