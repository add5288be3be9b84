/**
 * `writ recover`: ends what was interrupted. Without an id it ends all that can be ended and lists
 * what waits for a human; with one the human chooses for each path that is neither old nor new.
 */
import { resolve } from 'node:path'
import { type FaultError, invariant } from '../../base/index.ts'
import { recoveryCommands } from '../../promotion/index.ts'
import type { FinishedYes, OpenRecovery, RecoveryChoice } from '../../service/index.ts'
import { visible, visibleName } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseOthers, requireHuman } from '../call/home.ts'
import type { Terminal } from '../call/terminal.ts'
import {
  commandOf,
  finishedText,
  interruptionsOf,
  interruptionText,
  resolvedText,
  unfinishedText,
  withCommands,
} from '../gate/interrupted.ts'
import { type GateSession, withGates } from '../gate/open.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (others.length > 0) throw usage('name one interrupted action')
  return withGates(call, async (sessions) => {
    const [own] = sessions
    invariant(own !== undefined, 'a caller has a stream')
    const { gate, session } = own
    refuseOthers(session.caller, 'recovering')
    if (id !== undefined) return resolveOne(call, sessions, own, id)
    const waiting = await gate.recoveries()
    const interrupted = await interruptionsOf(sessions)
    const finished = await withCommands(sessions, await finishedIn(sessions))
    const { terminal, options } = call
    const unfinished = await unfinishedText(sessions, terminal)
    const more = {
      ...(interrupted.length === 0 ? {} : { interrupted }),
      ...(finished.length === 0 ? {} : { finished }),
    }
    if (options.isOn('json')) await terminal.out(`${JSON.stringify({ waiting, ...more })}\n`)
    else if (unfinished !== '') await terminal.out(unfinished)
    else if (waiting.length + finished.length + interrupted.length === 0)
      await terminal.out(
        `${terminal.paint.good('nothing to recover: no promotion was interrupted')}\n`,
      )
    for (const each of options.isOn('json') ? [] : waiting) {
      await terminal.out(waitingText(each, terminal))
    }
    for (const one of options.isOn('json') ? [] : finished) {
      await terminal.out(finishedText(one, terminal))
    }
    for (const one of options.isOn('json') ? [] : interrupted) {
      await terminal.out(interruptionText(one, terminal))
    }
    return waiting.length === 0 ? EXIT.yes : EXIT.waiting
  })
}

/** Ends one as the human chose, and says how much that changed. Nothing else is ended here. */
async function resolveOne(
  call: CommandCall,
  sessions: readonly GateSession[],
  { gate, session }: GateSession,
  id: string,
): Promise<Exit> {
  await requireHuman(session, call, 'choosing')
  const order = { id, direction: directionOf(call), choices: choicesOf(call) }
  const resolved = await gate.resolve(order)
  const command = await commandOf(sessions, resolved.id)
  const { terminal, options } = call
  const shown = { ...resolved, ...(command === null ? {} : { command }) }
  const text = options.isOn('json')
    ? `${JSON.stringify({ resolved: shown })}\n`
    : resolvedText(shown, terminal)
  await terminal.out(text)
  return EXIT.yes
}

/** The paths that recovery stopped at, and the commands that end it. */
function waitingText({ id, paths }: OpenRecovery, { paint }: Terminal): string {
  const lines = [
    `${paint.bad(id)}  another program changed these paths meanwhile:`,
    ...paths.map((path) => `  ${visibleName(path)}`),
    'choose what becomes of them; nothing else is promoted here until then:',
    ...recoveryCommands(id, paths).map((command) => `  ${visible(command)}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Approved acts of every stream that were interrupted, once they are ended. */
async function finishedIn(sessions: readonly GateSession[]): Promise<readonly FinishedYes[]> {
  const finished: FinishedYes[] = []
  for (const { gate } of sessions) {
    await gate.recoveries()
    finished.push(...(await gate.finished()))
  }
  return finished
}

function directionOf({ options }: CommandCall): 'finish' | 'revert' {
  const [finish, revert] = [options.isOn('finish'), options.isOn('revert')]
  if (finish === revert) throw usage('say `--finish` or `--revert`')
  return finish ? 'finish' : 'revert'
}

function choicesOf({ options }: CommandCall): ReadonlyMap<string, RecoveryChoice> {
  const choices = new Map<string, RecoveryChoice>()
  for (const choice of ['keep', 'old', 'new'] as const) {
    for (const path of options.texts(choice)) choices.set(resolve(path), choice)
  }
  return choices
}

function usage(message: string): FaultError {
  return usageError(message, '`writ recover --help`')
}
