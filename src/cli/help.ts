/** Help texts, made from the table of commands. */
import { COMMON_OPTIONS, type Command, type OptionWords } from './command.ts'
import type { Paint } from './terminal.ts'

const EXIT_LINE = 'Exit status: 0 yes · 1 no · 2 usage · 3 waiting for a human · 4 fault'
const RUNNER_LINE =
  'Exit status: the command’s own · 125 blocked, denied or a fault · 75 waiting for a human'

export function programHelp(commands: readonly Command[], version: string, paint: Paint): string {
  const rows = commands.map(({ name, says }) => [name, says] as const)
  return [
    `${paint.strong('writ')} ${version}: no action without a writ`,
    '',
    `${paint.strong('Usage')}  writ COMMAND [OPTIONS] …`,
    '',
    ...columns(rows),
    '',
    'writ COMMAND --help shows a command’s options and examples.',
    EXIT_LINE,
    '',
  ].join('\n')
}

export function commandHelp(command: Command, paint: Paint): string {
  // The standard output of a runner belongs to the command, so its answer is never printed there.
  const common = COMMON_OPTIONS.filter(({ name }) => name !== 'json' || command.isRunner !== true)
  const options = [...command.options, ...common].map(
    (option) => [flag(option), option.says] as const,
  )
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
    command.isRunner === true ? RUNNER_LINE : EXIT_LINE,
    '',
  ].join('\n')
}

function flag({ name, short, value }: OptionWords): string {
  const long = `--${name}${value === null ? '' : ` ${value}`}`
  return short === undefined ? long : `-${short}, ${long}`
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
