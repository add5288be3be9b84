/** Manual pages in roff, made from the table of commands. */
import { asciiText } from '../call/ascii.ts'
import { type Command, type OptionWords, offeredOptions } from '../call/command.ts'
import { commandGroups, exitLine } from '../call/help.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

/** Returns the page of one command: `writ-exec(1)`, `writ-rules-check(1)`. */
export function commandPage(command: Command, version: string): string {
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
export function programPage(commands: readonly Command[], version: string): string {
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

export function pageName({ name }: Command): string {
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
