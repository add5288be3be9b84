/**
 * The program for `writ dispatch` and `writ device run`, which `bin/writ.cjs` starts for these commands. It
 * holds the MQTT client, which no other command needs.
 */
import { commandLine } from './command-line.ts'
import { run as device } from './commands/device.ts'
import { check, run as dispatch } from './commands/dispatch.ts'
import { FIELD_COMMANDS } from './commands/field-table.ts'
import { plainLines } from './history/text.ts'

const RUNS: Readonly<Record<string, typeof device>> = {
  'dispatch run': dispatch,
  'dispatch check': check,
  'device run': device,
}

const commands = FIELD_COMMANDS.flatMap((one) => {
  const { [one.name]: run } = RUNS
  return run === undefined ? [] : [{ ...one, load: async () => ({ run }) }]
})

export const main = commandLine(commands, async () => plainLines)
