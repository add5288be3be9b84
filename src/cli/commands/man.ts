/** `writ man`: prints a manual page, or writes all of them to a folder. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { showName } from '../../base/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { refuseActorsOut } from '../call/output-file.ts'
import { usageError } from '../call/usage.ts'
import { VERSION } from '../call/version.ts'
import { commandPage, pageName, programPage } from '../reference/man-page.ts'
import { COMMANDS } from './table.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const folder = call.options.text('out')
  if (folder !== null) {
    await refuseActorsOut(call, folder)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'writ.1'), programPage(COMMANDS, VERSION))
    for (const command of COMMANDS)
      writeFileSync(join(folder, `${pageName(command)}.1`), commandPage(command, VERSION))
    await answer(call, `${COMMANDS.length + 1} manual pages written to ${showName(folder)}\n`)
    return EXIT.yes
  }
  await answer(call, pageOf(call.arguments.join(' ')))
  return EXIT.yes
}

function pageOf(name: string): string {
  if (name === '') return programPage(COMMANDS, VERSION)
  const command = COMMANDS.find((one) => one.name === name)
  if (command !== undefined) return commandPage(command, VERSION)
  const parts = COMMANDS.filter((one) => one.name.startsWith(`${name} `))
  const pages = parts.map((one) => `writ man ${one.name}`).join(', ')
  if (pages !== '') throw usageError(`${showName(name)} is several commands`, pages)
  throw usageError(`there is no command ${showName(name)}`, 'writ --help lists the commands')
}

async function answer({ terminal, options }: CommandCall, text: string): Promise<void> {
  await terminal.out(options.isOn('json') ? `${JSON.stringify({ text })}\n` : text)
}
