/** `writ man`: prints a manual page, or writes all of them to a folder. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { showName, VERSION } from '../../base/index.ts'
import {
  type Command,
  type CommandCall,
  EXIT,
  type Exit,
  type OptionWords,
  offeredOptions,
  usageError,
} from '../call/command.ts'
import { commandGroups, exitLine } from '../call/help.ts'
import { refuseActorsOut } from '../call/output-file.ts'
import { asciiText } from '../call/terminal.ts'
import { SETTINGS, VARIABLES } from '../reference/settings.ts'
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

/** Returns the page of one command: `writ-exec(1)`, `writ-rules-check(1)`. */
function commandPage(command: Command, version: string): string {
  const name = pageName(command)
  return page(name, version, [
    section('NAME', [`${name} \\- ${text(command.says)}`]),
    section('SYNOPSIS', [text(command.usage)]),
    section('OPTIONS', offeredOptions(command).flatMap(optionLines)),
    section('EXAMPLES', ['.nf', ...command.examples.map(text), '.fi']),
    section('EXIT STATUS', [text(exitLine(command))]),
    section('SEE ALSO', ['.BR writ (1)']),
  ])
}

/** Returns the page of the program: all commands, settings and variables. */
function programPage(commands: readonly Command[], version: string): string {
  const groups = commandGroups(commands).flatMap(({ title, rows }) => [
    '.SS',
    text(title),
    ...rows.flatMap((command) => tagged(command.name, command.says)),
  ])
  return page('writ', version, [
    section('NAME', ['writ \\- no action without a writ']),
    section('SYNOPSIS', ['writ COMMAND [OPTIONS] ...']),
    section('COMMANDS', groups),
    section(
      'ENVIRONMENT',
      VARIABLES.flatMap(({ name, says }) => tagged(name, says)),
    ),
    section(
      'SETTINGS',
      SETTINGS.flatMap(({ name, says }) => tagged(name, says)),
    ),
    section('SEE ALSO', [commands.map((command) => `.BR ${pageName(command)} (1)`).join('\n')]),
  ])
}

function pageName({ name }: Command): string {
  return `writ-${name.replace(' ', '-')}`
}

function page(name: string, version: string, sections: readonly string[]): string {
  return `.TH ${name.toUpperCase()} 1 "" "writ ${version}" "writ"\n${sections.join('')}`
}

function section(title: string, lines: readonly string[]): string {
  return `.SH ${title}\n${lines.join('\n')}\n`
}

function optionLines({ name, short, value, says }: OptionWords): readonly string[] {
  const long = `--${name}${value === null ? '' : ` ${value}`}`
  return tagged(short === undefined ? long : `-${short}, ${long}`, says)
}

function tagged(tag: string, says: string): readonly string[] {
  return ['.TP', `.B ${text(tag)}`, text(says)]
}

/** In ASCII, which every formatter reads. A backslash and a hyphen mean something to roff, as does a dot or quote that begins a line. */
function text(plain: string): string {
  return asciiText(plain)
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
}
