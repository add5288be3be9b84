/**
 * The command line: argv in, exit status out. Finds the command, parses its options, runs it, and
 * is the only place that turns a fault or a bug into words on standard error (or, with `--json`,
 * into `{error}` on standard output).
 */
import { isUtf8 } from 'node:buffer'
import { readFileSync, readlinkSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CODES, type Fault, FaultError, fault, nearest, showName, VERSION } from '../base/index.ts'
import {
  COMMON_OPTIONS,
  type Command,
  EXIT,
  type Exit,
  Options,
  type OwnStatus,
  parserOptions,
  RUNNER_FAULT,
  usageError,
} from './call/command.ts'
import { commandHelp, programHelp } from './call/help.ts'
import { nextStep } from './call/next-step.ts'
import {
  asciiText,
  jsonTerminal,
  knowsUtf8,
  processTerminal,
  type Terminal,
} from './call/terminal.ts'

type Commands = readonly Command[]

/** Shows a text of several lines as a terminal may print it; loaded if there is something to tell. */
type LoadLines = () => Promise<(text: string) => string>

/** Returns the main function of a program that has these commands. */
export function commandLine(commands: Commands, loadLines: LoadLines) {
  return (argv: readonly string[]): Promise<Exit | OwnStatus> => run(argv, commands, loadLines)
}

async function run(
  argv: readonly string[],
  commands: Commands,
  loadLines: LoadLines,
): Promise<Exit | OwnStatus> {
  const terminal = processTerminal()
  const isRunner = commands.some((row) => row.name === argv[0] && row.isRunner === true)
  let isHungUp = false
  const onError = (error: NodeJS.ErrnoException): void => {
    // A terminal that went away ends the command by a signal.
    if (error.code === 'EIO') isHungUp = true
    // What the command of a runner did goes on the record, even if no reader of the output is left.
    if (isRunner) return
    if (isHungUp) endAsHungUp()
    process.exit(error.code === 'EPIPE' ? EXIT.yes : EXIT.fault)
  }
  process.stdout.on('error', onError)
  process.stderr.on('error', onError)
  const status = await statusOf(argv, commands, terminal, async (known) => {
    await tell(known, terminal, asksForJson(argv), loadLines)
    if (!isRunner) return CODES[known.code].exit
    terminal.err(`writ: ${known.code}\n`)
    return RUNNER_FAULT
  })
  // A failure to write the last words is heard of a turn later.
  if (terminal.isErrorTty) await nextTurn()
  if (isHungUp) endAsHungUp()
  return status
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

async function statusOf(
  argv: readonly string[],
  commands: Commands,
  terminal: Terminal,
  onFault: (known: Fault) => Promise<Exit | OwnStatus>,
): Promise<Exit | OwnStatus> {
  try {
    return await dispatch(argv, commands, terminal)
  } catch (thrown) {
    return onFault(thrown instanceof FaultError ? thrown.fault : bug(thrown))
  }
}

/** Ends by the signal itself: Node's own way out restores the terminal, and aborts without one. */
function endAsHungUp(): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}

async function dispatch(
  argv: readonly string[],
  commands: Commands,
  terminal: Terminal,
): Promise<Exit | OwnStatus> {
  const [first] = argv
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    return showHelp(argv.slice(1), commands, terminal)
  }
  if (first === '--version' || first === '-V') {
    await terminal.out(`${VERSION}\n`)
    return EXIT.yes
  }
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  const isCommand = commands.some(({ name }) => name === first)
  if (group.length > 0 && !isCommand && (argv[1] === '--help' || argv[1] === '-h')) {
    await terminal.out(helpText(programHelp(group, VERSION, terminal.paint)))
    return EXIT.yes
  }
  refuseRawWords(argv)
  const { command, rest } = findCommand(argv, commands)
  const { values, positionals } = parseCommandLine(command, rest)
  if (values['help'] === true) {
    await terminal.out(helpText(commandHelp(command, terminal.paint)))
    return EXIT.yes
  }
  tellPlace(command, terminal)
  const work = await command.load()
  const options = new Options(values)
  const isJson = options.isOn('json') || options.isOn('jsonl')
  const answering = isJson ? jsonTerminal(terminal) : terminal
  return work.run({ command: command.name, arguments: positionals, options, terminal: answering })
}

/** Says that a command does not go to the service that `WRIT_URL` names. */
function tellPlace({ name, here }: Command, terminal: Terminal): void {
  if (here === undefined || (process.env['WRIT_URL'] ?? '') === '') return
  terminal.err(`writ ${name} stays on this machine, WRIT_URL is not used: it ${here}\n`)
}

async function showHelp(
  names: readonly string[],
  commands: Commands,
  terminal: Terminal,
): Promise<Exit> {
  const asked = names.filter((name) => !name.startsWith('-'))
  if (asked.length === 0) {
    await terminal.out(helpText(programHelp(commands, VERSION, terminal.paint)))
    return EXIT.yes
  }
  const group = commands.filter(({ name }) => name.startsWith(`${asked.join(' ')} `))
  const text =
    group.length > 0
      ? programHelp(group, VERSION, terminal.paint)
      : commandHelp(findCommand(asked, commands).command, terminal.paint)
  await terminal.out(helpText(text))
  return EXIT.yes
}

/** In ASCII where the locale knows no more. */
function helpText(text: string): string {
  return knowsUtf8(process.env) ? text : asciiText(text)
}

/** Commands of a group have two words; the longer name is tried first. */
function findCommand(
  argv: readonly string[],
  commands: Commands,
): { command: Command; rest: readonly string[] } {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ')
    const command = commands.find((row) => row.name === name)
    if (command !== undefined) return { command, rest: argv.slice(words) }
  }
  throw new FaultError(unknownCommand(argv, commands))
}

function unknownCommand(argv: readonly string[], commands: Commands): Fault {
  const [group = '', second] = argv
  const inGroup = commands.filter(({ name }) => name.startsWith(`${group} `))
  const given = inGroup.length > 0 && second !== undefined ? `${group} ${second}` : group
  const near = nearest(
    given,
    commands.map(({ name }) => name),
  )
  const hint =
    near !== null
      ? `did you mean ${showName(near)}?`
      : inGroup.length > 0
        ? `one of: ${inGroup.map(({ name }) => name).join(', ')}`
        : 'writ --help lists the commands'
  const message = `there is no command ${showName(given)}`
  return fault('cli.unknown_command', '', { command: given, nearest: near }, { message, hint })
}

function parseCommandLine(command: Command, rest: readonly string[]) {
  const options = [...command.options, ...COMMON_OPTIONS]
  try {
    return parseArgs({
      args: [...rest],
      options: parserOptions(options),
      allowPositionals: true,
      strict: true,
    })
  } catch (thrown) {
    throw new FaultError(optionFault(command, rest, thrown))
  }
}

function optionFault(command: Command, rest: readonly string[], thrown: unknown): Fault {
  const legal = [...command.options, ...COMMON_OPTIONS].map(({ name }) => name)
  const unknown = ownWords(rest)
    .filter((word) => word.startsWith('--') && word.length > 2)
    .map((word) => word.slice(2).split('=')[0] ?? '')
    .find((name) => !legal.includes(name))
  if (unknown === undefined) {
    return fault('cli.usage', '', null, { message: parserWords(thrown), hint: command.usage })
  }
  const near = nearest(unknown, legal)
  const message = `${showName(`writ ${command.name}`)} has no option ${showName(`--${unknown}`)}`
  const hint =
    near === null || command.isRunner ? command.usage : `did you mean ${showName(`--${near}`)}?`
  return fault('cli.unknown_option', '', { option: unknown, nearest: near }, { message, hint })
}

/** What Node's parser found wrong, as a whole sentence. */
function parserWords(thrown: unknown): string {
  const [first = ''] = (thrown as Error).message.split('\n')
  const ambiguous = /^Option '(.+?)' argument is ambiguous\.$/.exec(first)?.[1]
  if (ambiguous !== undefined) {
    return `${showName(ambiguous)} needs a value, and the next word begins with a dash: write it as ${showName(`${ambiguous.split(' ').at(-1)}=VALUE`)}`
  }
  return lowerFirst(first)
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function asksForJson(argv: readonly string[]): boolean {
  return ownWords(argv).includes('--json')
}

/** Returns the words before `--`; those behind it belong to the command that writ runs. */
function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end === -1 ? argv : argv.slice(0, end)
}

function bug(thrown: unknown): Fault {
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  return fault('cli.bug', '', null, {
    message,
    hint: 'this is a defect of writ; nothing was let through',
  })
}

/** Every path that a failure is about, of which its message names the first ones. */
function pathsOf(details: Fault['details']): { readonly paths?: readonly string[] } {
  return details !== null && 'paths' in details ? { paths: details.paths } : {}
}

async function tell(
  { code, message, hint: own, details }: Fault,
  terminal: Terminal,
  wantsJson: boolean,
  loadLines: LoadLines,
): Promise<void> {
  const hint = own ?? nextStep(code) ?? undefined
  if (wantsJson) {
    const error = { code, message, ...(hint === undefined ? {} : { hint }), ...pathsOf(details) }
    await jsonTerminal(terminal).out(`${JSON.stringify({ error })}\n`)
    return
  }
  const paint = terminal.paintError
  const plainLines = await loadLines()
  const next = hint === undefined ? '' : `  ${paint.dim('hint:')} ${plainLines(hint)}\n`
  terminal.err(`${paint.bad(code)}: ${plainLines(message)}\n${next}`)
}

const REPLACEMENT = '\ufffd'

/**
 * What a call names in bytes that are no text. Node hands such words and directories over with
 * replacement characters, by which they name something else: a command would be run on the wrong file.
 * So they are refused.
 */
function refuseRawWords(argv: readonly string[]): void {
  if (argv.some((word) => isReplaced(word, () => readFileSync('/proc/self/cmdline')))) {
    throw refusal(
      'a word of the command line is not UTF-8 text',
      'put it into a script, and run that',
    )
  }
  if (isReplaced(currentDirectory(), () => readlinkSync('/proc/self/cwd', 'buffer'))) {
    throw refusal('the name of the current directory is not UTF-8 text', 'run it from above')
  }
}

/** Text may have the character of its own: then the bytes say so. */
function isReplaced(text: string, bytes: () => Buffer): boolean {
  if (!text.includes(REPLACEMENT)) return false
  try {
    return !isUtf8(bytes())
  } catch {
    // The bytes cannot be read, so the text counts as replaced.
    return true
  }
}

function currentDirectory(): string {
  try {
    return process.cwd()
  } catch {
    throw refusal('the current directory is not there any more', 'change to one that is')
  }
}

function refusal(message: string, hint: string): FaultError {
  return usageError(message, hint)
}
