/** Help texts, made from the table of commands. */
import { type Command, type OptionWords, offeredOptions } from './command.ts'
import type { Paint } from './terminal.ts'

const EXIT_LINE = 'Exit status: 0 yes · 1 no · 2 usage · 3 waiting for a human · 4 fault'
const RUNNER_LINE =
  'Exit status: the command’s own · 125 blocked, denied or a fault · 75 waiting for a human'

/** What people do, and the first words of the commands for it. The last group takes the rest. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Run commands and answer questions', ['exec', 'propose', 'inbox', 'approve', 'deny']],
  ['Take back and stop', ['undo', 'rollback', 'halt', 'resume', 'recover', 'override']],
  ['Look at what happened', ['log', 'show', 'replay', 'ledger', 'witness', 'export', 'du', 'gc']],
  ['Work on several machines', ['machine', 'worker']],
  ['Set up a home and its laws', ['init', 'doctor', 'laws', 'config', 'trust', 'home', 'upgrade']],
  ['Say who may do what', ['principal', 'passkey', 'token', 'grant']],
  ['Run coding agents', ['run', 'session', 'secret', 'hook']],
  ['Let agents work together', ['flow', 'schedule']],
  ['Judge by rules', ['rules']],
  ['Order work in the field', ['task', 'receipt', 'dispatch', 'device']],
  ['Serve a home, or use a served one', ['serve', 'mcp', 'notify', 'remote']],
  ['More', []],
]

interface CommandGroup {
  readonly title: string
  readonly rows: readonly Command[]
}

/** Returns the commands by what people do with them; every command is in one group. */
export function commandGroups(commands: readonly Command[]): readonly CommandGroup[] {
  const named = new Set(GROUPS.flatMap(([, words]) => words))
  const firstOf = ({ name }: Command) => name.split(' ')[0] ?? ''
  return GROUPS.map(([title, words]) => ({
    title,
    rows:
      words.length === 0
        ? commands.filter((command) => !named.has(firstOf(command)))
        : words.flatMap((word) => commands.filter((command) => firstOf(command) === word)),
  })).filter(({ rows }) => rows.length > 0)
}

export function exitLine({ isRunner }: Command): string {
  return isRunner === true ? RUNNER_LINE : EXIT_LINE
}

export function programHelp(commands: readonly Command[], version: string, paint: Paint): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const groups = commandGroups(commands).flatMap(({ title, rows }) => [
    paint.strong(title),
    ...columns(
      rows.map(({ name, says }) => [name, says] as const),
      width,
    ),
    '',
  ])
  return [
    `${paint.strong('writ')} ${version}: no action without a writ`,
    '',
    `${paint.strong('Usage')}  writ COMMAND [OPTIONS] …`,
    '',
    ...groups,
    'writ COMMAND --help shows a command’s options and examples.',
    EXIT_LINE,
    '',
  ].join('\n')
}

export function commandHelp(command: Command, paint: Paint): string {
  const options = offeredOptions(command).map((option) => [flag(option), option.says] as const)
  return [
    `${paint.strong(`writ ${command.name}`)}: ${command.says}`,
    '',
    `${paint.strong('Usage')}  ${command.usage}`,
    '',
    ...columns(options),
    '',
    paint.strong(command.examples.length === 1 ? 'Example' : 'Examples'),
    ...command.examples.map((example) => `  ${example}`),
    '',
    exitLine(command),
    '',
  ].join('\n')
}

function flag({ name, short, value }: OptionWords): string {
  const long = `--${name}${value === null ? '' : ` ${value}`}`
  return short === undefined ? long : `-${short}, ${long}`
}

function columns(
  rows: readonly (readonly [string, string])[],
  width = Math.max(...rows.map(([left]) => left.length)),
): readonly string[] {
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
