/**
 * What a command is. The table of commands holds words only, so that `writ --help` loads nothing
 * else; a command's work is imported when it is called.
 */
import type { ParseArgsConfig } from 'node:util'
import { type FaultError, faultError } from '../../base/index.ts'
import type { Paint, Terminal } from './terminal.ts'

/** Yes, no, usage, waiting for a human, fault: what writ itself has to say. */
export const EXIT = { yes: 0, no: 1, usage: 2, waiting: 3, fault: 4 } as const

export type Exit = (typeof EXIT)[keyof typeof EXIT]

/** Marks the exit status of the command that `writ exec` ran; only a runner exits with one. */
declare const own: unique symbol

export type OwnStatus = number & { readonly [own]: true }

export function ownStatus(status: number): OwnStatus {
  // The mark exists for the type checker only.
  return (status & 0xff) as OwnStatus
}

/** How a runner leaves when writ itself is at fault: no ordinary program uses it. */
export const RUNNER_FAULT = ownStatus(125)

export interface OptionWords {
  readonly name: string
  readonly short?: string
  /** The value's name in help, or null for a switch. */
  readonly value: string | null
  readonly many?: true
  readonly says: string
}

export interface Command {
  /** `check`, or `rules check` for a command of a group. */
  readonly name: string
  readonly says: string
  readonly usage: string
  readonly options: readonly OptionWords[]
  readonly examples: readonly string[]
  /** Runs a command of the caller's: its status is the command's, 125 is ours. */
  readonly isRunner?: true
  /** Why it works on this machine although `WRIT_URL` names a service; it says so. */
  readonly here?: string
  readonly load: () => Promise<{ readonly run: CommandRun }>
}

export interface CommandCall {
  /** The name of the command. */
  readonly command: string
  readonly arguments: readonly string[]
  readonly options: Options
  readonly terminal: Terminal
}

/** Prints a yes: one JSON document with `--json`, else its text. */
export async function reply(
  { terminal, options }: CommandCall,
  document: unknown,
  text: (paint: Paint) => string,
): Promise<Exit> {
  await terminal.out(options.isOn('json') ? `${JSON.stringify(document)}\n` : text(terminal.paint))
  return EXIT.yes
}

export type CommandRun = (call: CommandCall) => Promise<Exit | OwnStatus>

/** Parsed options by name; the command's table says which can be there. */
export class Options {
  readonly #values: Readonly<Record<string, unknown>>

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values
  }

  isOn(name: string): boolean {
    return this.#values[name] === true
  }

  text(name: string): string | null {
    const value = this.#values[name]
    return typeof value === 'string' ? value : null
  }

  texts(name: string): readonly string[] {
    const value = this.#values[name]
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
  }
}

/** Options that every command has. */
export const COMMON_OPTIONS: readonly OptionWords[] = [
  { name: 'json', value: null, says: 'print one JSON document' },
  { name: 'help', short: 'h', value: null, says: 'show this help' },
]

/**
 * Returns the options that a command offers. The standard output of a runner belongs to the command
 * that it runs, so its answer is never printed there.
 */
export function offeredOptions({ options, isRunner }: Command): readonly OptionWords[] {
  return [...options, ...COMMON_OPTIONS.filter(({ name }) => name !== 'json' || isRunner !== true)]
}

export function parserOptions(
  options: readonly OptionWords[],
): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    options.map(({ name, short, value, many }) => [
      name,
      {
        type: value === null ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
        ...(many === undefined ? {} : { multiple: true }),
      },
    ]),
  )
}

// Options that several commands have, in the same words.

export const HOME: OptionWords = {
  name: 'home',
  value: 'DIR',
  says: 'the home to use; else WRIT_HOME, else the nearest `.writ` upwards',
}

export const STREAM: OptionWords = {
  name: 'stream',
  value: 'NAME',
  says: 'the stream of facts; `main` without it',
}

export const PASS_FD: OptionWords = {
  name: 'pass-fd',
  value: 'N',
  says: 'read the passphrase from this file descriptor',
}

export const ACCEPT_YES: OptionWords = {
  name: 'yes',
  short: 'y',
  value: null,
  says: 'show what the laws change and do not ask',
}

/**
 * How a command refuses a call that it does not understand. `hint` is a call that would be
 * understood.
 */
export function usageError(message: string, hint?: string): FaultError {
  return faultError('cli.usage', '', message, hint)
}
