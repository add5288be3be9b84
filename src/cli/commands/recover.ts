/**
 * `writ recover`: ends what was interrupted. Without an id it ends all that can be ended and lists
 * what waits for a human; with one the human chooses for each path that is neither old nor new.
 */
import { resolve } from 'node:path'
import { fault } from '../../base/index.ts'
import type { RecoveryChoice } from '../../host/index.ts'
import { type Call, EXIT, type Exit, Stop } from '../command.ts'
import { visibleName } from '../effects/visible.ts'
import { interruptionsOf, interruptionText } from '../gate/interrupted.ts'
import { withGate } from '../gate/open.ts'
import { refuseOthers, requireHuman } from '../home.ts'

export async function run(call: Call): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (others.length > 0) throw usage('name one interrupted action')
  return withGate(call, async ({ gate, session }) => {
    refuseOthers(session.caller, 'recovering')
    if (id !== undefined) {
      await requireHuman(session, call, 'choosing')
      await gate.resolve({ id, direction: directionOf(call), choices: choicesOf(call) })
    }
    const waiting = await gate.recoveries()
    const interrupted = await interruptionsOf([{ gate }])
    const { terminal, options } = call
    const more = interrupted.length === 0 ? {} : { interrupted }
    if (options.isOn('json')) await terminal.out(`${JSON.stringify({ waiting, ...more })}\n`)
    else if (waiting.length === 0) await terminal.out(`${terminal.paint.good('nothing waits')}\n`)
    for (const each of options.isOn('json') ? [] : waiting) {
      const paths = each.paths.map((path) => `  ${visibleName(path)}`)
      await terminal.out(`${[terminal.paint.bad(each.id), ...paths].join('\n')}\n`)
    }
    for (const one of options.isOn('json') ? [] : interrupted) {
      await terminal.out(interruptionText(one, terminal))
    }
    return waiting.length === 0 ? EXIT.yes : EXIT.waiting
  })
}

function directionOf({ options }: Call): 'finish' | 'revert' {
  const [finish, revert] = [options.isOn('finish'), options.isOn('revert')]
  if (finish === revert) throw usage('say `--finish` or `--revert`')
  return finish ? 'finish' : 'revert'
}

function choicesOf({ options }: Call): ReadonlyMap<string, RecoveryChoice> {
  const choices = new Map<string, RecoveryChoice>()
  for (const choice of ['keep', 'old', 'new'] as const) {
    for (const path of options.texts(choice)) choices.set(resolve(path), choice)
  }
  return choices
}

function usage(message: string): Stop {
  return new Stop(fault('cli.usage', '', null, { message, hint: '`writ recover --help`' }))
}
